import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { residentMibIfAlive } from "./process-memory.ts";
import type { ServerProcess } from "./server-process.ts";
import { type Entry, type GgufSpec, ggufBytes, loadableModel, u32, withEntry } from "./tiny-gguf.ts";

export interface HostileFile {
  what: string;
  bytes: Buffer;
}

/**
 * An endless, seeded sequence of damaged files: prefixes, flipped and overwritten header bytes, absurd
 * counts.
 */
export function* hostileFiles(seed: number): Generator<HostileFile> {
  const base = ggufBytes(loadableModel());
  const headerBytes = base.length - tensorBytes(loadableModel());
  const random = generator(seed);
  const below = (limit: number) => Math.floor(random() * limit);
  yield* absurdFiles();
  for (;;) {
    const kind = below(6);
    if (kind === 0) {
      yield { what: "prefix", bytes: base.subarray(0, below(headerBytes)) };
      continue;
    }
    const bytes = Buffer.from(base);
    if (kind === 1) {
      for (let flips = 1 + below(8); flips > 0; flips--) {
        const at = below(headerBytes);
        bytes[at] = (bytes[at] ?? 0) ^ (1 << below(8));
      }
      yield { what: "bits flipped", bytes };
    } else if (kind === 2) {
      const at = below(headerBytes - 8);
      bytes.writeBigUInt64LE(absurdNumbers[below(absurdNumbers.length)] ?? 0n, at);
      yield { what: "number overwritten", bytes };
    } else if (kind === 3) {
      bytes.writeUInt32LE(below(2) === 0 ? below(64) : below(2 ** 32), below(headerBytes - 4));
      yield { what: "word overwritten", bytes };
    } else if (kind === 4) {
      const from = below(headerBytes);
      const to = below(headerBytes);
      bytes.copyWithin(to, from, Math.min(from + 1 + below(64), headerBytes));
      yield { what: "piece moved", bytes };
    } else {
      const spec = loadableModel();
      const [key] = spec.metadata[below(spec.metadata.length)] ?? ["general.architecture"];
      yield { what: "value replaced", bytes: ggufBytes(withEntry(spec, key, oddEntry(below))) };
    }
  }
}

const absurdNumbers = [
  0n,
  1n,
  2n ** 16n,
  2n ** 31n,
  2n ** 32n - 1n,
  2n ** 40n,
  2n ** 62n,
  2n ** 63n,
  2n ** 64n - 1n,
];

/** Files with each known absurd count, once each. */
function* absurdFiles(): Generator<HostileFile> {
  const model = loadableModel();
  for (const number of absurdNumbers.slice(2)) {
    yield { what: "tensor count", bytes: ggufBytes({ ...model, tensorCount: number }) };
    yield { what: "entry count", bytes: ggufBytes({ ...model, entryCount: number }) };
    const array: Entry = { kind: "array", of: "string", items: [], announced: number };
    yield { what: "array length", bytes: ggufBytes(withEntry(model, "tokenizer.ggml.tokens", array)) };
    const [first, ...others] = model.tensors;
    const tensors = [{ ...first, name: "token_embd.weight", shape: [32, number] }, ...others];
    yield { what: "dimension", bytes: ggufBytes({ ...model, tensors }) };
    const moved = [
      { ...first, name: "token_embd.weight", shape: first?.shape ?? [], offset: number },
      ...others,
    ];
    yield { what: "offset", bytes: ggufBytes({ ...model, tensors: moved }) };
  }
  for (const key of model.metadata.map(([name]) => name).filter((name) => name.startsWith("llama."))) {
    for (const value of [0, 1, 3, 2 ** 31, 2 ** 32 - 1]) {
      yield { what: `${key} = ${value}`, bytes: ggufBytes(withEntry(model, key, u32(value))) };
    }
  }
  for (const alignment of [0, 1, 3, 2 ** 31, 2 ** 32 - 1]) {
    yield { what: "alignment", bytes: ggufBytes(withEntry(model, "general.alignment", u32(alignment))) };
  }
  yield { what: "no tensors", bytes: ggufBytes({ ...model, tensors: [] }) };
  yield { what: "no metadata", bytes: ggufBytes({ ...model, metadata: [] }) };
}

function oddEntry(below: (limit: number) => number): Entry {
  const odd: Entry[] = [
    u32(below(2 ** 32)),
    { kind: "u64", value: absurdNumbers[below(absurdNumbers.length)] ?? 0n },
    { kind: "i32", value: -1 },
    { kind: "f32", value: below(2) === 0 ? Number.NaN : -1e30 },
    { kind: "bool", value: true },
    { kind: "string", value: "x".repeat(below(200)) },
    { kind: "string", value: "\0{{[" },
    { kind: "array", of: "u32", items: [1, 2, 3] },
    { kind: "array", of: "string", items: Array.from({ length: below(400) }, (_, index) => `t${index}`) },
  ];
  return odd[below(odd.length)] ?? u32(0);
}

function tensorBytes(spec: GgufSpec): number {
  return spec.tensors.reduce((sum, { data }) => sum + Math.ceil((data?.length ?? 0) / 32) * 32, 0);
}

/** The mulberry32 generator: it is small and gives the same numbers on every platform. */
function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export interface CampaignResult {
  files: number;
  refused: number;
  /** Files that passed the header checks. The engine got `loaded` of them. */
  passed: number;
  loaded: number;
  answered: number;
  /** Files that the engine rejected with a message. */
  notLoaded: number;
  /** Files that ended the runner's process. */
  crashes: string[];
  /** Unclear error messages. */
  unclear: string[];
  memoryGrowthMiB: number;
}

/** Uploads each file, creates a model from it, and runs the first `loads` files that pass. */
export async function runCampaign(
  server: ServerProcess,
  { count, loads, seed }: { count: number; loads: number; seed: number },
  onProgress: (done: number) => void = () => {},
): Promise<CampaignResult> {
  const result: CampaignResult = {
    files: 0,
    refused: 0,
    passed: 0,
    loaded: 0,
    answered: 0,
    notLoaded: 0,
    crashes: [],
    unclear: [],
    memoryGrowthMiB: 0,
  };
  let baseMiB = 0;
  for (const file of hostileFiles(seed)) {
    if (result.files === count) break;
    result.files += 1;
    await tryFile(server, file, result, loads);
    // The first files warm the server up: they make it compile code and grow its memory pools.
    if (result.files === Math.min(200, Math.floor(count / 2))) baseMiB = residentMibIfAlive(server.pid) ?? 0;
    if (baseMiB > 0)
      result.memoryGrowthMiB = Math.max(
        result.memoryGrowthMiB,
        (residentMibIfAlive(server.pid) ?? 0) - baseMiB,
      );
    onProgress(result.files);
  }
  return result;
}

async function tryFile(
  server: ServerProcess,
  file: HostileFile,
  result: CampaignResult,
  loads: number,
): Promise<void> {
  const digest = `sha256:${createHash("sha256").update(file.bytes).digest("hex")}`;
  const upload = await server.post(`/api/blobs/${digest}`, undefined, { body: new Uint8Array(file.bytes) });
  await upload.arrayBuffer();
  const created = await server.post("/api/create", {
    model: "hostile",
    files: { "x.gguf": digest },
    stream: false,
  });
  const text = await created.text();
  if (created.status === 400 && /^\{"error":"(invalid GGUF: |files holds|neither 'from')/.test(text)) {
    result.refused += 1;
  } else if (created.status !== 200) {
    result.unclear.push(`create, ${file.what}: ${created.status} ${text.slice(0, 200)}`);
  } else {
    result.passed += 1;
    if (result.loaded < loads) {
      result.loaded += 1;
      await load(server, file, result);
    }
    await server.post("/api/delete", { model: "hostile" }, { method: "DELETE" });
  }
}

async function load(server: ServerProcess, file: HostileFile, result: CampaignResult): Promise<void> {
  const options = { num_predict: 2, num_ctx: 64, seed: 1 };
  const body = { model: "hostile", prompt: "ab", options, keep_alive: 0, stream: false };
  const watchdog = new Watchdog();
  const response = await server
    .post("/api/generate", body, { signal: watchdog.signal })
    .catch(() => null)
    .finally(() => watchdog.stop());
  if (response === null) {
    const where = await recordHang(server, file);
    result.unclear.push(
      `generate, ${file.what}: no answer in ${patienceTicks} s; what was going on: ${where}`,
    );
    return;
  }
  const text = await response.text();
  const { error } = JSON.parse(text) as { error?: string };
  if (response.status === 200 && error === undefined) result.answered += 1;
  else if (error === undefined)
    result.unclear.push(`generate, ${file.what}: ${response.status} ${text.slice(0, 200)}`);
  else if (/process ended|signal|SIG/.test(error)) result.crashes.push(`${file.what}: ${error}`);
  else result.notLoaded += 1;
}

/** Such a small model answers in well under a second. An endless loop never ends. */
const patienceTicks = 60;

/**
 * Gives up after this many seconds in which this process ran. Time in which the process was stopped does not
 * count.
 */
class Watchdog {
  readonly #gaveUp = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #ticks = 0;

  constructor() {
    this.#timer = setInterval(() => {
      this.#ticks += 1;
      if (this.#ticks === patienceTicks) this.#gaveUp.abort();
    }, 1_000);
  }

  get signal(): AbortSignal {
    return this.#gaveUp.signal;
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

/** Saves the file, the server's own status, and the state of each thread of its processes. */
async function recordHang(server: ServerProcess, file: HostileFile): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "locallm-hang-"));
  writeFileSync(join(folder, "model.gguf"), file.bytes);
  const explained = await server
    .ask("/api/ps?explain=true", undefined)
    .catch((error: unknown) => ({ error: String(error) }));
  const state = {
    what: file.what,
    ps: explained,
    log: server.log.slice(-20),
    threads: [server.pid, ...childrenOf(server.pid)].map((pid) => ({ pid, threads: threadsOf(pid) })),
  };
  writeFileSync(join(folder, "state.json"), JSON.stringify(state, null, 2));
  return folder;
}

function childrenOf(pid: number): number[] {
  const tasks = readdirOrNone(`/proc/${pid}/task`);
  const children = tasks.flatMap((task) =>
    readOrNone(`/proc/${pid}/task/${task}/children`).trim().split(" "),
  );
  return children
    .filter((text) => text !== "")
    .flatMap((text) => [Number(text), ...childrenOf(Number(text))]);
}

function threadsOf(pid: number) {
  return readdirOrNone(`/proc/${pid}/task`).map((task) => {
    const read = (name: string) => readOrNone(`/proc/${pid}/task/${task}/${name}`).trim();
    return { task, name: read("comm"), state: read("stat"), waitsIn: read("wchan"), stack: read("stack") };
  });
}

function readdirOrNone(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

function readOrNone(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
