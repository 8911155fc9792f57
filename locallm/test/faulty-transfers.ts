import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Store } from "../src/library/store.ts";
import { writeWeightsModel } from "../src/library/weights.ts";
import { Pulls } from "../src/sources/pulls.ts";
import { requireModelName } from "../src/wire/model-name.ts";
import { type Fault, faultyProxy } from "./docker-registry.ts";
import { ggufBytes, tinyModel } from "./tiny-gguf.ts";

export interface FaultyResult {
  rounds: number;
  faults: number;
  /** Bytes that went through for each byte of the models, pushed and pulled. */
  ratio: number;
  problems: string[];
}

const quick = { parts: 4, partMinBytes: 1024 * 1024, stallMs: 400, retryDelayMs: 5, tries: 8, waitMs: 20 };

/** Pushes a model through a faulty line to a registry and pulls it back into another store, again and again. */
export async function pushAndPull(
  registryHost: string,
  rounds: number,
  random: () => number,
  modelBytes = 12_000_000,
): Promise<FaultyResult> {
  const result: FaultyResult = { rounds, faults: 0, ratio: 0, problems: [] };
  let passedBytes = 0;
  let neededBytes = 0;
  for (let round = 0; round < rounds; round++) {
    const folder = await mkdtemp(join(tmpdir(), "locallm-faulty-"));
    const spoil = (): Fault => {
      const kinds: Fault["kind"][] = ["none", "none", "cut", "stall", "error", "slow"];
      const kind = kinds[Math.floor(random() * kinds.length)] ?? "none";
      return { kind, afterBytes: Math.floor(random() * (modelBytes / 4)) };
    };
    const proxy = await faultyProxy(registryHost, spoil, { redirect: round % 2 === 1 });
    const name = requireModelName(`${proxy.host}/ns/m${round}:v`);
    const source = new Store(join(folder, "a"));
    const target = new Store(join(folder, "b"));
    const signal = new AbortController().signal;
    const options = { insecure: false, credentials: null };
    const settings = {
      network: { connectTimeoutMs: 1000 },
      registries: null,
      credentials: null,
      limits: quick,
    };
    const pulls = [new Pulls(source, settings), new Pulls(target, settings)] as const;
    try {
      const blob = await source.blobs.writeBytes(noiseModel(modelBytes));
      await writeWeightsModel(source, name, [blob]);
      await pulls[0].preparePush(name, options)(() => {}, signal);
      await pulls[1].prepare(`${proxy.host}/ns/m${round}:v`, options)(() => {}, signal);
      const [pushed, pulled] = await Promise.all([source.require(name), target.require(name)]);
      if (pushed.digest !== pulled.digest)
        result.problems.push(`round ${round}: the manifests' digests differ`);
      if (!(await target.blobs.verify(blob.digest)))
        result.problems.push(`round ${round}: the blob is damaged`);
    } catch (error) {
      result.problems.push(`round ${round}: ${error instanceof Error ? error.message : error}`);
    } finally {
      for (const one of pulls) one.close();
      await proxy.close();
      await rm(folder, { recursive: true, force: true });
    }
    result.faults += proxy.stats.faults;
    passedBytes += proxy.stats.blobBytes;
    neededBytes += 2 * modelBytes;
  }
  result.ratio = passedBytes / neededBytes;
  return result;
}

function noiseModel(bytes: number): Buffer {
  const rows = Math.floor(bytes / 128);
  return ggufBytes({
    ...tinyModel(),
    tensors: [{ name: "token_embd.weight", shape: [32, rows], data: randomBytes(rows * 128) }],
  });
}
