import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkStore } from "../src/library/check.ts";
import { Store } from "../src/library/store.ts";
import { displayModelName } from "../src/wire/model-name.ts";
import { type FakeRegistry, fakeRegistry } from "./fake-registry.ts";
import { type ServerProcess, startServer } from "./server-process.ts";
import { ggufBytes, tinyModel } from "./tiny-gguf.ts";

export interface KillResult {
  rounds: number;
  /** Rounds in which the work was done before the kill came. */
  finished: number;
  /** What should not be: a lost model, a store that does not verify, a pull that does not go on. */
  problems: string[];
  /** Bytes that all pulls fetched, for each byte of the models. */
  fetchedRatio: number;
}

type Random = () => number;

/**
 * Kills the server (SIGKILL) at a random moment of some work, again and again on one store. After each kill the
 * store must list, verify, and hold everything that stood before.
 */
export async function killAmidChanges(rounds: number, random: Random): Promise<KillResult> {
  const root = await mkdtemp(join(tmpdir(), "locallm-kill-"));
  const result: KillResult = { rounds, finished: 0, problems: [], fetchedRatio: 0 };
  const before = await prepared(root);
  const wholeMs = await timed(root, (server) => change(server, 0));
  for (let round = 0; round < rounds; round++) {
    const server = await startServer({ models: root });
    const work = change(server, round).then(
      () => true,
      () => false,
    );
    await new Promise((resolve) => setTimeout(resolve, random() * wholeMs * 1.2));
    server.signal("SIGKILL");
    await server.exited;
    if (await work) result.finished += 1;
    result.problems.push(...(await faults(root, before, round)));
  }
  await rm(root, { recursive: true, force: true });
  return result;
}

/** As above, in the midst of pulls; the next pull must go on and end well. */
export async function killAmidPulls(rounds: number, random: Random): Promise<KillResult> {
  const root = await mkdtemp(join(tmpdir(), "locallm-kill-"));
  const registry = await fakeRegistry();
  const result: KillResult = { rounds, finished: 0, problems: [], fetchedRatio: 0 };
  const before = await prepared(root);
  registry.publish("ns/first:v", largeModel());
  const first = `${registry.host}/ns/first:v`;
  const wholeMs = await timed(root, (server) => server.ask("/api/pull", { model: first, stream: false }));
  registry.sentBytes = 0;
  let modelBytes = 0;
  for (let round = 0; round < rounds; round++) {
    const weights = largeModel();
    modelBytes += weights.length;
    registry.publish("ns/m:v", weights);
    const model = `${registry.host}/ns/m:v`;
    const victim = await startServer({ models: root });
    const work = victim.ask("/api/pull", { model, stream: false }).then(
      () => true,
      () => false,
    );
    await new Promise((resolve) => setTimeout(resolve, random() * wholeMs * 1.2));
    victim.signal("SIGKILL");
    await victim.exited;
    if (await work) result.finished += 1;
    result.problems.push(...(await faults(root, before, round)));
    await finish(root, model, round, result);
    result.problems.push(...(await faults(root, before, round)));
    registry.blobs.clear();
  }
  result.fetchedRatio = registry.sentBytes / modelBytes;
  await leftovers(root, result);
  await closeAll(registry, root);
  return result;
}

/** How long the work takes when nobody ends it: so that kills come early, late and after it. */
async function timed(root: string, work: (server: ServerProcess) => Promise<unknown>): Promise<number> {
  const server = await startServer({ models: root });
  const begin = performance.now();
  await work(server);
  const ms = performance.now() - begin;
  await server.stop();
  return ms;
}

async function finish(root: string, model: string, round: number, result: KillResult): Promise<void> {
  const second = await startServer({ models: root });
  const pulled = await second.post("/api/pull", { model, stream: false });
  if (pulled.status !== 200)
    result.problems.push(`round ${round}: the next pull says ${await pulled.text()}`);
  await second.post("/api/delete", { model }, { method: "DELETE" });
  second.signal("SIGKILL");
  await second.exited;
}

async function leftovers(root: string, result: KillResult): Promise<void> {
  const partial = (await readdir(join(root, "partial"))).filter((name) => /^[0-9a-f]{64}\./.test(name));
  if (partial.length > 0) result.problems.push(`${partial.length} downloads are left over`);
}

async function closeAll(registry: FakeRegistry, root: string): Promise<void> {
  await registry.close();
  await rm(root, { recursive: true, force: true });
}

/** Two models that nothing touches, and one that changes are made from. */
async function prepared(root: string): Promise<Map<string, string>> {
  const server = await startServer({ models: root });
  const bytes = ggufBytes(tinyModel());
  const digest = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
  await server.post(`/api/blobs/${digest}`, undefined, { body: new Uint8Array(bytes) });
  for (const model of ["base", "kept/one", "kept/two"]) {
    await server.ask("/api/create", { model, files: { a: digest }, system: model, stream: false });
  }
  await server.stop();
  const { models } = await new Store(root).list();
  return new Map(models.map(({ name, digest: manifest }) => [displayModelName(name), manifest]));
}

async function change(server: ServerProcess, round: number): Promise<void> {
  const kinds = [
    () =>
      server.ask("/api/create", {
        model: `new${round}`,
        from: "base",
        system: `text ${round}`,
        stream: false,
      }),
    () => server.post("/api/copy", { source: "base", destination: `copy${round}` }),
    () => server.post("/api/delete", { model: `new${round - 2}` }, { method: "DELETE" }),
    // The same name again and again: what it meant before, or what it means now, never nothing.
    () =>
      server.ask("/api/create", { model: "again", from: "base", system: `again ${round}`, stream: false }),
  ];
  const kind = kinds[round % kinds.length];
  for (let repeat = 0; repeat < 3; repeat++) await kind?.();
}

async function faults(root: string, before: ReadonlyMap<string, string>, round: number): Promise<string[]> {
  const store = new Store(root);
  const { models, broken } = await store.list();
  const now = new Map(models.map(({ name, digest }) => [displayModelName(name), digest]));
  const lost = [...before]
    .filter(([name, digest]) => now.get(name) !== digest)
    .map(([name]) => `lost ${name}`);
  const { problems } = await checkStore(store, { readBlobs: true, repair: false });
  const found = [
    ...lost,
    ...broken.map(({ name }) => `broken ${displayModelName(name)}`),
    ...problems.map(({ what }) => what),
  ];
  return found.map((what) => `round ${round}: ${what}`);
}

/** 8 MB of noise behind a good header, other in each round. */
function largeModel(): Buffer {
  const rows = 65_536;
  const data = randomBytes(32 * rows * 4);
  return ggufBytes({ ...tinyModel(), tensors: [{ name: "token_embd.weight", shape: [32, rows], data }] });
}
