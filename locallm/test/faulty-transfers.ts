import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Store } from "../src/library/store.ts";
import { writeWeightsModel } from "../src/library/weights.ts";
import { Pulls } from "../src/sources/pulls.ts";
import type { TransferLimits } from "../src/sources/transfer-request.ts";
import { requireModelName } from "../src/wire/model-name.ts";
import { type Fault, faultyProxy } from "./docker-registry.ts";
import { ggufBytes, tinyModel } from "./tiny-gguf.ts";

export interface FaultyResult {
  rounds: number;
  faults: number;
  /** Bytes transferred for each byte of the models. */
  pushed: number;
  pulled: number;
  problems: string[];
}

const quick: Partial<TransferLimits> = { stallMs: 500, retryDelayMs: 5, tries: 12, waitMs: 20 };
const kinds: readonly Fault["kind"][] = ["none", "none", "cut", "stall", "error", "slow"];

/** Pushes a model to a registry over a faulty connection and pulls it into another store, repeatedly. */
export async function pushAndPull(
  registryHost: string,
  rounds: number,
  random: () => number,
  {
    redirect,
    weights,
    partMinBytes = 8_000_000,
  }: { redirect: boolean; weights: Buffer; partMinBytes?: number },
): Promise<FaultyResult> {
  const result: FaultyResult = { rounds, faults: 0, pushed: 0, pulled: 0, problems: [] };
  for (let round = 0; round < rounds; round++) {
    const folder = await mkdtemp(join(tmpdir(), "locallm-faulty-"));
    const spoil = (): Fault => ({ kind: kinds[Math.floor(random() * kinds.length)] ?? "none", at: random() });
    const proxy = await faultyProxy(registryHost, spoil, { redirect });
    const reference = `${proxy.host}/ns/m${redirect ? "r" : "d"}${round}:v`;
    const name = requireModelName(reference);
    const source = new Store(join(folder, "a"));
    const target = new Store(join(folder, "b"));
    const { signal } = new AbortController();
    const options = { insecure: false, credentials: null };
    const settings = {
      network: { connectTimeoutMs: 2000 },
      registries: null,
      credentials: null,
      limits: { ...quick, partMinBytes },
    };
    const pulls = [new Pulls(source, settings), new Pulls(target, settings)] as const;
    try {
      const blob = await source.blobs.writeBytes(weights);
      await writeWeightsModel(source, name, [blob]);
      await pulls[0].preparePush(name, options)(() => {}, signal);
      await pulls[1].prepare(reference, options)(() => {}, signal);
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
    result.pushed += proxy.stats.pushedBytes / weights.length / rounds;
    result.pulled += proxy.stats.pulledBytes / weights.length / rounds;
  }
  return result;
}

/** Incompressible weights of that size. */
export function noiseModel(bytes: number): Buffer {
  const rows = Math.floor(bytes / 128);
  return ggufBytes({
    ...tinyModel(),
    tensors: [{ name: "token_embd.weight", shape: [32, rows], data: randomBytes(rows * 128) }],
  });
}
