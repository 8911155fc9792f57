import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Store } from "../src/library/store.ts";
import { checkStore } from "../src/library/store-check.ts";
import { displayModelName } from "../src/wire/model-name.ts";
import { type FakeRegistry, fakeRegistry } from "./fake-registry.ts";
import { startServer, startServerHere, type TestServer } from "./server-process.ts";
import { ggufBytes, tinyModel } from "./tiny-gguf.ts";

export interface KillResult {
  rounds: number;
  /** Kills during a request. The other kills came between two requests or after the last one. */
  hits: number;
  /** Kills during a request, by kind of request. */
  hitsByKind: Record<string, number>;
  /** Faults found: a lost model, a store that fails verification, or a pull that does not resume. */
  problems: string[];
  /** Bytes that all pulls downloaded, per byte of the models. */
  fetchedRatio: number;
}

type Random = () => number;

/**
 * Repeatedly kills the server (SIGKILL) while it creates, copies and deletes models without a pause in the
 * same store. After each kill the store must list its models, pass verification, contain everything that was
 * not being changed, and have under every name the result of the last finished request. An interrupted
 * request may or may not have taken effect.
 */
export async function killAmidChanges(wantedHits: number, random: Random): Promise<KillResult> {
  const root = await mkdtemp(join(tmpdir(), "locallm-kill-"));
  const result: KillResult = { rounds: 0, hits: 0, hitsByKind: {}, problems: [], fetchedRatio: 0 };
  const untouched = await prepared(root);
  const expected = new Expectations();
  for (; result.hits < wantedHits; result.rounds++) {
    const server = await startServer({ models: root });
    const work = changeWithoutEnd(server, expected, result.rounds);
    await new Promise((resolve) => setTimeout(resolve, random() * longestMs));
    const cutOff = expected.underWay;
    server.signal("SIGKILL");
    await server.exited;
    await work;
    if (cutOff !== null) {
      result.hits += 1;
      result.hitsByKind[cutOff] = (result.hitsByKind[cutOff] ?? 0) + 1;
    }
    const found = [...(await faults(root, untouched)), ...(await expected.settle(root))];
    result.problems.push(...found.map((what) => `round ${result.rounds}: ${what}`));
  }
  await rm(root, { recursive: true, force: true });
  return result;
}

/** The time that a few dozen changes take on an idle machine. */
const longestMs = 250;

/** Kills the server during pulls from a slow registry. The next pull must resume and succeed. */
export async function killAmidPulls(rounds: number, random: Random): Promise<KillResult> {
  const root = await mkdtemp(join(tmpdir(), "locallm-kill-"));
  const registry = await fakeRegistry();
  registry.paceMs = 4;
  const result: KillResult = { rounds, hits: 0, hitsByKind: {}, problems: [], fetchedRatio: 0 };
  const untouched = await prepared(root);
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
    let isOver = false;
    const work = victim.ask("/api/pull", { model, stream: false }).then(
      () => {
        isOver = true;
      },
      () => {},
    );
    await new Promise((resolve) => setTimeout(resolve, random() * wholeMs));
    if (!isOver) result.hits += 1;
    victim.signal("SIGKILL");
    await victim.exited;
    await work;
    const found = await faults(root, untouched);
    await finish(root, model, round, result);
    found.push(...(await faults(root, untouched)));
    result.problems.push(...found.map((what) => `round ${round}: ${what}`));
    registry.blobs.clear();
  }
  result.fetchedRatio = registry.sentBytes / modelBytes;
  await leftovers(root, result);
  await closeAll(registry, root);
  return result;
}

/** Measures how long the work takes without a kill, so that kills can come early, late and after the end. */
async function timed(root: string, work: (server: TestServer) => Promise<unknown>): Promise<number> {
  const server = await startServerHere({ models: root });
  const begin = performance.now();
  await work(server);
  const ms = performance.now() - begin;
  await server.stop();
  return ms;
}

async function finish(root: string, model: string, round: number, result: KillResult): Promise<void> {
  const second = await startServerHere({ models: root });
  const pulled = await second.post("/api/pull", { model, stream: false });
  if (pulled.status !== 200)
    result.problems.push(`round ${round}: the next pull says ${await pulled.text()}`);
  await second.post("/api/delete", { model }, { method: "DELETE" });
  await second.stop();
}

async function leftovers(root: string, result: KillResult): Promise<void> {
  const partial = (await readdir(join(root, "partial"))).filter((name) => /^[0-9a-f]{64}\./.test(name));
  if (partial.length > 0) result.problems.push(`${partial.length} downloads are left over`);
}

async function closeAll(registry: FakeRegistry, root: string): Promise<void> {
  await registry.close();
  await rm(root, { recursive: true, force: true });
}

/** Creates two models that stay unchanged, and one model that the changes start from. */
async function prepared(root: string): Promise<Map<string, string>> {
  const server = await startServerHere({ models: root });
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

/** Changes models until the server ends. */
async function changeWithoutEnd(server: TestServer, expected: Expectations, round: number): Promise<void> {
  const kinds = ["create", "copy", "create over", "delete", "delete"] as const;
  try {
    for (let number = 0; ; number++) {
      const turn = number % kinds.length;
      const own = `n${round}-${(number - turn) / kinds.length}`;
      const system = `text ${round} ${number}`;
      const kind = kinds[turn]!;
      if (kind === "create" || kind === "create over") {
        // `again` already exists. After the kill it must have its old or its new content, and must never be
        // missing.
        const model = kind === "create" ? own : "again";
        await expected.change(kind, model, system, () =>
          server.ask("/api/create", { model, from: "base", system, stream: false }),
        );
      } else if (kind === "copy") {
        await expected.change(kind, `c-${own}`, "base", () =>
          answered(server.post("/api/copy", { source: "base", destination: `c-${own}` })),
        );
      } else {
        const model = turn === 3 ? own : `c-${own}`;
        await expected.change(kind, model, null, () =>
          answered(server.post("/api/delete", { model }, { method: "DELETE" })),
        );
      }
    }
  } catch {}
}

async function answered(response: Promise<Response>): Promise<void> {
  const { status } = await response;
  if (status !== 200) throw new Error(`answered ${status}`);
}

/**
 * The content of each name according to the server's answers: a system text, or null if there is no model.
 */
class Expectations {
  underWay: string | null = null;
  readonly #meanings = new Map<string, string | null>();
  #cutOff: { name: string; meaning: string | null } | null = null;

  /** If the request fails, its outcome is unknown. */
  async change(
    kind: string,
    name: string,
    meaning: string | null,
    work: () => Promise<unknown>,
  ): Promise<void> {
    this.underWay = kind;
    this.#cutOff = { name, meaning };
    await work();
    this.underWay = null;
    this.#cutOff = null;
    this.#meanings.set(name, meaning);
  }

  /**
   * Compares the store with the confirmed changes after a kill and returns the differences. It then takes the
   * store's state as the result of an interrupted change.
   */
  async settle(root: string): Promise<string[]> {
    const found = new Map<string, string | null>();
    for (const model of (await new Store(root).list()).models) found.set(model.name.model, model.system);
    const problems: string[] = [];
    const open = this.#cutOff;
    if (open !== null) {
      const now = found.get(open.name) ?? null;
      const before = this.#meanings.get(open.name) ?? null;
      if (now !== before && now !== open.meaning)
        problems.push(`${open.name} means neither before nor after`);
      this.#meanings.set(open.name, now);
    }
    for (const [name, meaning] of this.#meanings) {
      const now = found.get(name) ?? null;
      if (now !== meaning) problems.push(`${name} means ${now}, and not ${meaning}`);
    }
    this.underWay = null;
    this.#cutOff = null;
    return problems;
  }
}

async function faults(root: string, untouched: ReadonlyMap<string, string>): Promise<string[]> {
  const store = new Store(root);
  const { models, broken } = await store.list();
  const now = new Map(models.map(({ name, digest }) => [displayModelName(name), digest]));
  const lost = [...untouched].filter(([name, digest]) => now.get(name) !== digest);
  const { problems } = await checkStore(store, { readBlobs: true, repair: false });
  return [
    ...lost.map(([name]) => `lost ${name}`),
    ...broken.map(({ name }) => `broken ${displayModelName(name)}`),
    ...problems.map(({ what }) => what),
  ];
}

/**
 * Returns 24 MB of random bytes (three parts of a download) after a valid header. Each round gets different
 * bytes.
 */
function largeModel(): Buffer {
  const rows = 196_608;
  const data = randomBytes(32 * rows * 4);
  return ggufBytes({ ...tinyModel(), tensors: [{ name: "token_embd.weight", shape: [32, rows], data }] });
}
