import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { ManualClock, settled } from "../../test/manual-clock.ts";
import { onProcessor } from "../gpu/placement.ts";
import type { Runner, RunnerExit, StartRunner } from "../runner/handle.ts";
import { LocallmError } from "../wire/errors.ts";
import type { Decision, Lease, LeaseRequest, RunnableModel, Scheduler } from "./lease.ts";
import type { SchedulerParts, SchedulerSettings } from "./parts.ts";
import { createScheduler } from "./scheduler.ts";

interface World {
  clock: ManualClock;
  scheduler: Scheduler;
  /** Model names in the order their loads started. */
  loads: string[];
  running: Set<string>;
  kill(model: string): void;
  /** Runners stopped by `kill`. */
  killed: string[];
  failNext: { error: Error | null };
  /** Decisions passed to the log. */
  logged: Decision[];
  sizes: Map<string, number>;
  /** What of a loaded model goes when it is loaded anew with another window. */
  contexts: Map<string, number>;
  hold: { loads: boolean; release: (() => void)[]; progress: () => void };
  /** How much memory kept conversations were to make free. */
  roomMade: number[];
  /** By model, how many bytes its runner spares. */
  spare: Map<string, number>;
  /** A runner asks for spare bytes. Returns how many it gets. */
  grow(model: string, bytes: number): number;
}

function world(
  settings: Partial<SchedulerSettings> = {},
  availableBytes = 1e12,
  conversationBytes = 0,
): World {
  const clock = new ManualClock();
  const loads: string[] = [];
  const running = new Set<string>();
  const killed: string[] = [];
  const exits = new Map<string, (exit: RunnerExit) => void>();
  const failNext: World["failNext"] = { error: null };
  const logged: Decision[] = [];
  const sizes: World["sizes"] = new Map();
  const roomMade: number[] = [];
  const spare: World["spare"] = new Map();
  const growths = new Map<string, (bytes: number) => number>();
  const contexts: World["contexts"] = new Map();
  const hold: World["hold"] = { loads: false, release: [], progress: () => {} };
  const complete: SchedulerSettings = {
    slots: 1,
    maxLoadedModels: 1,
    maxQueue: 512,
    loadTimeoutMs: 60_000,
    flashAttention: "auto",
    kvCacheType: "f16",
    sharedCache: "auto",
    drafts: "auto",
    environment: {},
    ...settings,
  };
  const startRunner: StartRunner = async (load, start) => {
    loads.push(load.modelPath);
    if (hold.loads)
      await new Promise<void>((resolve, reject) => {
        hold.release.push(resolve);
        hold.progress = () => start?.onProgress?.(0.5);
        start?.signal?.addEventListener("abort", () => reject(start.signal?.reason));
      });
    if (failNext.error !== null) throw failNext.error;
    running.add(load.modelPath);
    if (start?.onGrow !== undefined) growths.set(load.modelPath, start.onGrow);
    const exited = Promise.withResolvers<RunnerExit>();
    const end = (asked: boolean) => {
      running.delete(load.modelPath);
      const exit = { code: 0, signal: null, asked, stalled: false, log: [] };
      exited.resolve(exit);
      return Promise.resolve(exit);
    };
    exits.set(load.modelPath, () => void end(false));
    return {
      pid: 1,
      slots: load.slots,
      info: {
        contextLength: load.numCtx,
        sizeBytes: {
          weights: sizes.get(load.modelPath) ?? 1,
          context: contexts.get(load.modelPath) ?? 0,
          compute: 0,
          checkpoints: 0,
        },
        devices: [],
      },
      unusedBytes: 10,
      get spareBytes() {
        return spare.get(load.modelPath) ?? 0;
      },
      exited: exited.promise,
      close: () => end(true),
      kill: () => {
        killed.push(load.modelPath);
        return end(true);
      },
    } as unknown as Runner;
  };
  const parts: SchedulerParts = {
    clock,
    startRunner,
    needs: async (model) => {
      const total = sizes.get(model.name) ?? 1;
      return { layers: [], hasExperts: false, output: 0, compute: 0, lookup: 0, total };
    },
    place: async (needs) => onProcessor(needs, "no GPU found"),
    availableBytes: () =>
      availableBytes -
      [...running].reduce((sum, name) => sum + (sizes.get(name) ?? 1) - (spare.get(name) ?? 0), 0),
    conversations: { memoryBytes: conversationBytes, makeRoom: (bytes) => roomMade.push(bytes) },
    onDecision: (decision) => logged.push(decision),
  };
  return {
    clock,
    scheduler: createScheduler(complete, parts),
    loads,
    running,
    killed,
    kill: (model) =>
      exits.get(model)?.({ code: null, signal: "SIGKILL", asked: false, stalled: false, log: [] }),
    failNext,
    logged,
    sizes,
    contexts,
    hold,
    roomMade,
    spare,
    grow: (name, bytes) => {
      const granted = growths.get(name)!(bytes);
      spare.set(name, (spare.get(name) ?? 0) - granted);
      return granted;
    },
  };
}

function model(name: string, trainContext: number | null = null): RunnableModel {
  return { name, digest: name, modelPath: name, weights: name, adapters: [], trainContext };
}

interface Ask {
  numCtx?: number;
  keepAliveMs?: number;
  uses?: LeaseRequest["uses"];
  signal?: AbortSignal;
  trainContext?: number;
}

function request(name: string, ask: Ask = {}): LeaseRequest {
  return {
    model: model(name, ask.trainContext ?? null),
    load: {
      numCtx: ask.numCtx ?? 2048,
      numBatch: null,
      numThread: null,
      numGpu: null,
      mainGpu: null,
      useMmap: null,
    },
    keepAliveMs: ask.keepAliveMs ?? 300_000,
    uses: ask.uses ?? "slot",
    signal: ask.signal ?? new AbortController().signal,
  };
}

const leases: Lease[] = [];
afterEach(() => {
  leases.length = 0;
});

describe("loaded models", () => {
  it("loads a model once and grants its slots in order of arrival", async () => {
    const { scheduler, loads } = world({ slots: 2 });
    const order: number[] = [];
    const asked = [0, 1, 2, 3].map((index) =>
      scheduler.lease(request("a")).then((lease) => {
        order.push(index);
        return lease;
      }),
    );
    await settled();
    expect(order).toEqual([0, 1]);
    (await asked[1]!).release();
    await settled();
    expect(order).toEqual([0, 1, 2]);
    expect(loads).toEqual(["a"]);
  });

  it("takes a place back once: a lease that is given back twice frees no place that another request has", async () => {
    const { scheduler } = world({ slots: 1 });
    const first = await scheduler.lease(request("a"));
    first.release();
    const second = await scheduler.lease(request("a"));
    first.release();
    let granted = false;
    const third = scheduler.lease(request("a")).then((lease) => {
      granted = true;
      return lease;
    });
    await settled();
    expect(granted).toBe(false);
    second.release();
    (await third).release();
  });

  it("shares a runner between names with the same weights, but not between different load options", async () => {
    const { scheduler, loads } = world({ maxLoadedModels: 3 });
    const plain = request("a");
    const alias = { ...plain, model: { ...plain.model, name: "alias", digest: "other" } };
    for (const each of [plain, alias, { ...plain, load: { ...plain.load, numThread: 2 } }])
      (await scheduler.lease(each)).release();
    expect(loads).toEqual(["a", "a"]);
  });

  it("does not place a model in memory that a loaded model has allocated and not used yet", async () => {
    // A model that is loaded has 10 bytes that the system still counts as available.
    const { scheduler, sizes, running } = world({ maxLoadedModels: 3 }, 25, 3);
    sizes.set("a", 2).set("b", 16).set("c", 17);
    const free = () => [scheduler.freeBytes(), scheduler.loadableBytes()];
    expect(free()).toEqual([25, 28]);
    (await scheduler.lease(request("a"))).release();
    expect(free()).toEqual([13, 16]);
    (await scheduler.lease(request("b"))).release();
    expect([...running]).toEqual(["a", "b"]);
    expect(free()).toEqual([0, 3]);
    await scheduler.unload(({ name }) => name === "b", "test");
    (await scheduler.lease(request("c"))).release();
    expect([...running]).toEqual(["c"]);
  });

  it("loads one model at a time, so that each sees how much memory the previous one left", async () => {
    const { scheduler, loads, hold } = world({ maxLoadedModels: 2 });
    hold.loads = true;
    const [a, b] = ["a", "b"].map((name) => scheduler.lease(request(name)));
    await settled();
    expect(loads).toEqual(["a"]);
    hold.release.shift()?.();
    await a;
    await settled();
    expect(loads).toEqual(["a", "b"]);
    hold.release.shift()?.();
    await b;
  });

  it("evicts the least recently used idle model, pinned models last", async () => {
    const { scheduler, running, clock } = world({ maxLoadedModels: 3 });
    for (const [name, keepAliveMs] of [
      ["pinned", Infinity],
      ["old", 1e6],
      ["new", 1e6],
    ] as const)
      (await scheduler.lease(request(name, { keepAliveMs }))).release();
    const use = async (name: string) => {
      (await scheduler.lease(request(name))).release();
      await clock.pass(1);
    };
    await use("new");
    await use("old");
    await use("x");
    expect([...running].sort()).toEqual(["old", "pinned", "x"]);
    await use("y");
    await use("z");
    expect([...running].sort()).toEqual(["pinned", "y", "z"]);
  });

  it("evicts a pinned model if no other model can be unloaded", async () => {
    const { scheduler, running } = world();
    (await scheduler.lease(request("pinned", { keepAliveMs: Infinity }))).release();
    await scheduler.lease(request("a"));
    expect([...running]).toEqual(["a"]);
    expect(scheduler.view().decisions.find((d) => d.what === "evict")?.why).toContain("pinned");
  });

  it("does not evict a busy model before its last request has finished", async () => {
    const { scheduler, running, clock } = world();
    await clock.pass(1_000);
    const busy = await scheduler.lease(request("a"));
    const waiting = scheduler.lease(request("b"));
    await clock.pass(60_000);
    expect([...running]).toEqual(["a"]);
    busy.release();
    expect([busy.waitedMs, (await waiting).waitedMs]).toEqual([0, 60_000]);
    expect([...running]).toEqual(["b"]);
  });

  it("grants a free slot although requests for another model fill the queue", async () => {
    const { scheduler } = world({ slots: 2, maxQueue: 1 });
    const first = await scheduler.lease(request("a"));
    const other = scheduler.lease(request("b"));
    (await scheduler.lease(request("a"))).release();
    first.release();
    (await other).release();
  });

  it("grants a visit while all slots are busy, but not a second generation", async () => {
    const { scheduler } = world();
    await scheduler.lease(request("a"));
    (await scheduler.lease(request("a", { uses: "visit" }))).release();
    let granted = false;
    void scheduler.lease(request("a")).then(() => {
      granted = true;
    });
    await settled();
    expect(granted).toBe(false);
  });
});

describe("competing models", () => {
  /** Serves the granted requests one after the other, `ms` each. */
  async function serve(clock: ManualClock, requests: Promise<Lease>[], ms: number): Promise<void> {
    let open = requests.length;
    const held: Lease[] = [];
    for (const each of requests)
      void each.then((lease) => {
        held.push(lease);
        open--;
      });
    while (open > 0 || held.length > 0) {
      await clock.pass(ms);
      held.shift()?.release();
      await settled();
    }
  }

  it("swaps models every 16 requests: 200 requests for two models take 14 loads and are answered in order", async () => {
    const { scheduler, loads, clock } = world();
    const order: Record<string, number[]> = { a: [], b: [] };
    const asked = Array.from({ length: 200 }, (_, index) => {
      const name = index % 2 === 0 ? "a" : "b";
      return scheduler.lease(request(name)).then((lease) => {
        order[name]!.push(index);
        return lease;
      });
    });
    await serve(clock, asked, 10);
    expect(loads).toHaveLength(2 * Math.ceil(100 / 16));
    expect(order["a"]).toEqual(Array.from({ length: 100 }, (_, index) => 2 * index));
    expect(order["b"]).toEqual(Array.from({ length: 100 }, (_, index) => 2 * index + 1));
  });

  it("swaps models after 2 s if requests are long", async () => {
    const { scheduler, loads, clock } = world();
    const asked = Array.from({ length: 12 }, (_, index) => scheduler.lease(request(index < 6 ? "a" : "b")));
    await serve(clock, asked, 700);
    // Requests start at 0, 700 and 1400 ms: three within the 2 s after the other model began to wait.
    expect(loads).toEqual(["a", "b", "a", "b"]);
  });

  it("keeps a model without competition loaded for any number of requests", async () => {
    const { scheduler, loads, clock } = world();
    await serve(
      clock,
      Array.from({ length: 100 }, () => scheduler.lease(request("a"))),
      100,
    );
    expect(loads).toEqual(["a"]);
  });

  it("loads the model that has waited longest, so that none starves", async () => {
    const { scheduler, loads, clock } = world();
    const asked = [..."abcab"].map((name) => scheduler.lease(request(name)));
    await serve(clock, asked, 10);
    expect(loads).toEqual(["a", "b", "c"]);
  });

  it("counts a model's time from when it is loaded, and tells how long others wait and how long the load took", async () => {
    const { scheduler, clock, hold, loads, logged } = world();
    await clock.pass(1_000);
    hold.loads = true;
    const asked = scheduler.lease(request("a"));
    const waiting = [scheduler.lease(request("b"))];
    await clock.pass(500);
    waiting.push(scheduler.lease(request("b")));
    await clock.pass(3_000);
    expect(scheduler.view().waiting).toEqual([
      { model: "a", count: 1, oldestMs: 3_500 },
      { model: "b", count: 2, oldestMs: 3_500 },
    ]);
    hold.loads = false;
    hold.release[0]!();
    (await asked).release();
    expect(logged.find(({ what }) => what === "ready")!.tookMs).toBe(3_500);
    (await waiting[0]!).release();
    (await waiting[1]!).release();
    expect(loads).toEqual(["a", "b"]);
  });

  it("keeps serving the loaded model if the competing request is cancelled", async () => {
    const { scheduler, loads, clock } = world();
    const holding = await scheduler.lease(request("a"));
    const gone = new AbortController();
    const lost = scheduler.lease(request("b", { signal: gone.signal }));
    await clock.pass(3_000);
    gone.abort(new Error("gone"));
    await expect(lost).rejects.toThrow("gone");
    const next = scheduler.lease(request("a"));
    holding.release();
    await next;
    expect(loads).toEqual(["a"]);
  });
});

describe("context lengths", () => {
  it("serves a smaller context with a larger one, and limits each request to its own", async () => {
    const { scheduler, loads } = world({ slots: 2 });
    const large = await scheduler.lease(request("a", { numCtx: 8192 }));
    const small = await scheduler.lease(request("a", { numCtx: 512 }));
    expect([large.numCtx, small.numCtx, loads.length]).toEqual([8192, 512, 1]);
  });

  it("does not reload for a visit with a larger context, but does for a load request", async () => {
    const { scheduler, loads } = world();
    (await scheduler.lease(request("a", { numCtx: 512 }))).release();
    (await scheduler.lease(request("a", { numCtx: 4096, uses: "visit" }))).release();
    expect(loads).toHaveLength(1);
    const lease = await scheduler.lease(request("a", { numCtx: 4096, uses: "load" }));
    expect([loads.length, lease.numCtx]).toEqual([2, 4096]);
  });

  it("reloads for a larger context after the running requests have finished", async () => {
    const { scheduler, loads } = world({ maxLoadedModels: 2 });
    const small = await scheduler.lease(request("a", { numCtx: 512 }));
    const large = scheduler.lease(request("a", { numCtx: 4096 }));
    await settled();
    expect(loads).toEqual(["a"]);
    small.release();
    expect((await large).numCtx).toBe(4096);
    expect(loads).toEqual(["a", "a"]);
  });

  it("reloads for an earlier request although another model is waiting", async () => {
    const { scheduler, loads } = world();
    const first = await scheduler.lease(request("a", { numCtx: 512 }));
    const larger = scheduler.lease(request("a", { numCtx: 4096 }));
    const other = scheduler.lease(request("b"));
    await settled();
    first.release();
    (await larger).release();
    (await other).release();
    expect(loads).toEqual(["a", "a", "b"]);
  });

  it("reloads for an earlier request although another model began to wait during its load", async () => {
    const { scheduler, loads, hold } = world();
    hold.loads = true;
    const first = scheduler.lease(request("a", { numCtx: 512 }));
    await settled();
    const larger = scheduler.lease(request("a", { numCtx: 4096 }));
    const other = scheduler.lease(request("b"));
    hold.loads = false;
    hold.release[0]!();
    (await first).release();
    (await larger).release();
    (await other).release();
    expect(loads).toEqual(["a", "a", "b"]);
  });

  it("caps the context at the model's training context and does not reload for more", async () => {
    const { scheduler, loads } = world();
    const lease = await scheduler.lease(request("a", { numCtx: 4096, trainContext: 1024 }));
    lease.release();
    (await scheduler.lease(request("a", { numCtx: 1e6, trainContext: 1024 }))).release();
    expect([lease.numCtx, loads.length]).toEqual([1024, 1]);
  });

  it("tells how large a window may be, in what is free, its own memory, and that of idle models", async () => {
    const { scheduler, sizes, contexts } = world({ maxLoadedModels: 3 }, 1_000);
    for (const [name, size, context] of [
      ["own", 300, 200],
      ["idle", 300, 100],
      ["busy", 100, 90],
    ] as const) {
      sizes.set(name, size);
      contexts.set(name, context);
      const lease = await scheduler.lease(request(name));
      if (name === "idle") lease.release();
    }
    // 1,000 less the three models, and less 10 that each has not used yet.
    const most = 270 + 200 + 100;
    for (const [bytes, tokens] of [
      [most, 8192],
      [most + 1, 2048],
    ] as const) {
      sizes.set("wide", bytes);
      const wide = { ...request("own", { trainContext: 8192 }).model, name: "wide" };
      expect(await scheduler.windowLimit(wide, request("own").load)).toMatchObject({ tokens });
    }
  });

  it("tells the window of a loaded model as its limit, if memory has no room for a larger one", async () => {
    const { scheduler, sizes } = world({}, 100);
    const { model: own, load } = request("a", { trainContext: 8192 });
    await scheduler.lease(request("a", { numCtx: 4096, trainContext: 8192 }));
    sizes.set("a", 1_000);
    expect(await scheduler.windowLimit(own, load)).toMatchObject({ tokens: 4096 });
  });

  it("loads with the largest context of the waiting requests", async () => {
    const { scheduler, loads } = world({ slots: 2 });
    const both = [scheduler.lease(request("x")), scheduler.lease(request("a"))];
    const larger = scheduler.lease(request("a", { numCtx: 4096 }));
    (await both[0]!).release();
    await Promise.all([both[1], larger]);
    expect(loads).toEqual(["x", "a"]);
  });
});

describe("keep-alive", () => {
  it("unloads when the latest request's keep-alive has passed since the end of the last request", async () => {
    const { scheduler, running, clock } = world();
    const first = await scheduler.lease(request("a", { keepAliveMs: 1_000 }));
    await clock.pass(5_000);
    first.release();
    (await scheduler.lease(request("a", { keepAliveMs: 3_000 }))).release();
    await clock.pass(2_999);
    expect([...running]).toEqual(["a"]);
    await clock.pass(1);
    expect([...running]).toEqual([]);
  });

  it("keeps a model forever or unloads it immediately", async () => {
    const { scheduler, running, clock } = world();
    (await scheduler.lease(request("a", { keepAliveMs: Infinity }))).release();
    expect(scheduler.view().residents[0]?.expiresAtMs).toBeNull();
    await clock.pass(1e9);
    expect([...running]).toEqual(["a"]);
    (await scheduler.lease(request("a", { keepAliveMs: 0 }))).release();
    await clock.pass(0);
    expect([...running]).toEqual([]);
  });

  it("expire unloads an idle model and loads nothing", async () => {
    const { scheduler, loads, running, clock } = world();
    scheduler.expire(model("a"));
    const lease = await scheduler.lease(request("a"));
    scheduler.expire(model("a"));
    await clock.pass(10);
    expect([...running]).toEqual(["a"]);
    lease.release();
    await clock.pass(0);
    expect([[...running], loads]).toEqual([[], ["a"]]);
  });

  it("expire leaves other models loaded", async () => {
    const { scheduler, running, clock } = world({ maxLoadedModels: 2 });
    for (const name of ["a", "b"]) (await scheduler.lease(request(name))).release();
    scheduler.expire(model("a"));
    await clock.pass(0);
    expect([...running]).toEqual(["b"]);
  });

  it("expire unloads after the waiting requests, even while the model is loading", async () => {
    const { scheduler, running, hold, clock } = world();
    hold.loads = true;
    const waiting = [1, 2].map(() => scheduler.lease(request("a", { keepAliveMs: Infinity })));
    await settled();
    scheduler.expire(model("a"));
    hold.release.forEach((go) => {
      go();
    });
    for (const lease of waiting) (await lease).release();
    await clock.pass(0);
    expect([...running]).toEqual([]);
  });

  it("unloads a deleted model after its last request has finished", async () => {
    const { scheduler, running } = world();
    const lease = await scheduler.lease(request("a"));
    let gone = false;
    const unloading = scheduler
      .unload((loaded) => loaded.name === "a", "deleted")
      .then(() => {
        gone = true;
      });
    await settled();
    expect(gone).toBe(false);
    lease.release();
    await unloading;
    expect([...running]).toEqual([]);
  });

  it("serves the requests waiting for a deleted model, loaded or not, before it unloads it", async () => {
    const { scheduler, running, loads } = world();
    const first = await scheduler.lease(request("a"));
    const waiting = ["a", "b", "a"].map((name) => scheduler.lease(request(name)));
    const unloading = Promise.all(
      ["a", "b"].map((name) => scheduler.unload((loaded) => loaded.name === name, "deleted")),
    );
    first.release();
    for (const name of [0, 2, 1]) (await waiting[name]!).release();
    await unloading;
    expect([[...running], loads]).toEqual([[], ["a", "b"]]);
  });

  it("ends a pending delete when the server shuts down", async () => {
    const { scheduler, clock } = world();
    await scheduler.lease(request("a"));
    const waiting = scheduler.lease(request("a"));
    waiting.catch(() => {});
    const unloading = scheduler.unload(() => true, "deleted");
    const closed = scheduler.close(0);
    await clock.pass(0);
    await Promise.all([closed, unloading]);
    await expect(waiting).rejects.toThrow("shutting down");
  });
});

describe("decisions", () => {
  it("are reported with their reasons in the view and the log", async () => {
    const { scheduler, logged, failNext, kill, clock } = world({ maxQueue: 1 });
    const a = await scheduler.lease(request("a"));
    const asked = request("b", { numCtx: 512 });
    const b = scheduler.lease({ ...asked, load: { ...asked.load, whyCtx: "num_ctx of the request" } });
    await expect(scheduler.lease(request("c"))).rejects.toThrow("maximum pending");
    await clock.pass(2_000);
    a.release();
    (await b).release();
    (await scheduler.lease(request("b", { numCtx: 4096 }))).release();
    kill("b");
    await settled();
    failNext.error = new LocallmError("model_load_failed", { reason: "bad tensor" });
    await expect(scheduler.lease(request("c"))).rejects.toThrow("bad tensor");
    failNext.error = null;
    (await scheduler.lease(request("d", { keepAliveMs: 1_000 }))).release();
    await clock.pass(1_000);
    expect(logged.map(({ model: name, what }) => `${what} ${name}`)).toEqual([
      ...["load a", "ready a", "refuse c", "drain a", "evict a"],
      ...["load b", "ready b", "unload b", "load b", "ready b", "died b"],
      ...["load c", "fail c", "load d", "ready d", "unload d"],
    ]);
    const why = (at: number) => logged[at]!.why;
    expect([why(0), why(5)]).toEqual([
      "1 waiting, context length 2048, no GPU found",
      "1 waiting, context length 512 (num_ctx of the request), no GPU found",
    ]);
    expect([why(2), why(3), why(7), why(12), why(15)]).toEqual([
      "the queue is full (1 waiting)",
      "to make room for b: served 2 s",
      "a request needs context length 4096, loaded with 512",
      "model failed to load: bad tensor",
      "keep-alive expired",
    ]);
    expect(logged.filter((decision) => decision.why === "")).toEqual([]);
    expect(scheduler.view().decisions).toEqual(logged);
  });
});

describe("failures", () => {
  it("rejects requests for any model while the queue is full", async () => {
    const { scheduler } = world({ maxQueue: 3 });
    expect(scheduler.accepts()).toBe(true);
    const waiting = [..."abca"].map((name) => scheduler.lease(request(name)));
    const refused = waiting.pop()!;
    expect(scheduler.accepts()).toBe(false);
    expect(scheduler.retryAfterSeconds()).toBeGreaterThanOrEqual(1);
    await expect(refused).rejects.toThrow("maximum pending requests exceeded");
  });

  it("does not begin for a client that has left already", async () => {
    const { scheduler, loads } = world();
    const reason = new Error("gone");
    const asked = scheduler.lease({ ...request("a"), signal: AbortSignal.abort(reason) });
    await expect(asked).rejects.toBe(reason);
    expect([loads, scheduler.view().waiting]).toEqual([[], []]);
  });

  it("tells refused clients to come back when the queue is through, after a minute at most", async () => {
    const seconds = (waiting: number, slots: number) => {
      const { scheduler } = world({ slots });
      // They are never settled, because the first model is still loading.
      for (let at = 0; at < waiting; at++) void scheduler.lease(request("a")).catch(() => {});
      return scheduler.retryAfterSeconds();
    };
    // A request takes a second until one has ended.
    expect([0, 3, 58, 59, 400].map((waiting) => seconds(waiting, 1))).toEqual([1, 4, 59, 60, 60]);
    expect([0, 3, 4, 9].map((waiting) => seconds(waiting, 4))).toEqual([1, 1, 2, 3]);
    const { scheduler, clock } = world();
    await clock.pass(5_000);
    const lease = await scheduler.lease(request("a"));
    await clock.pass(33_000);
    lease.release();
    // Each one that ends counts for a sixteenth.
    expect(scheduler.retryAfterSeconds()).toBe(3);
  });

  it("lets another key's first request in and serves it second, although one key fills the queue", async () => {
    const { scheduler } = world({ maxQueue: 500 });
    const order: string[] = [];
    const refused: string[] = [];
    const ask = (key: string) =>
      scheduler.lease({ ...request("a"), key }).then(
        (lease) => {
          order.push(key);
          setImmediate(() => lease.release());
        },
        (error: LocallmError) => refused.push(`${key}: ${error.code}`),
      );
    const all = Array.from({ length: 500 }, () => ask("busy"));
    all.push(ask("other"));
    await Promise.all(all);
    expect(order.indexOf("other")).toBe(1);
    expect(refused).toEqual(["busy: queue_full"]);
  });

  it("rejects all requests waiting for a failed load, pauses, then tries again", async () => {
    const { scheduler, loads, failNext, clock } = world();
    failNext.error = new LocallmError("model_load_failed", { reason: "bad tensor" });
    const asked = [1, 2, 3].map(() => scheduler.lease(request("a")));
    for (const each of asked) await expect(each).rejects.toThrow("model failed to load: bad tensor");
    await expect(scheduler.lease(request("a"))).rejects.toThrow("bad tensor");
    expect(loads).toHaveLength(1);
    failNext.error = null;
    await clock.pass(1_000);
    await scheduler.lease(request("a"));
    expect(loads).toHaveLength(2);
  });

  it("reports a process that exits during the load as a failed load", async () => {
    const { scheduler, failNext } = world();
    failNext.error = new LocallmError("runner_died", { reason: "SIGSEGV" });
    await expect(scheduler.lease(request("a"))).rejects.toThrow(
      "model failed to load: its process exited (SIGSEGV)",
    );
  });

  it("does not reveal the path of an unreadable file", async () => {
    const { scheduler, failNext } = world();
    failNext.error = Object.assign(new Error("ENOENT: no such file, open '/secret/path'"), {
      code: "ENOENT",
    });
    await expect(scheduler.lease(request("a"))).rejects.toThrow(
      "model failed to load: its files cannot be read (ENOENT)",
    );
  });

  it("aborts a stalled load", async () => {
    const { scheduler, hold, clock } = world({ loadTimeoutMs: 5_000 });
    hold.loads = true;
    const asked = scheduler.lease(request("a"));
    asked.catch(() => {});
    await clock.pass(5_000);
    await expect(asked).rejects.toThrow("model failed to load: no progress for 5 s");
  });

  it("lets a load take any time while it makes progress", async () => {
    const { scheduler, hold, clock } = world({ loadTimeoutMs: 5_000 });
    hold.loads = true;
    const asked = scheduler.lease(request("a"));
    for (let step = 0; step < 5; step++) {
      await clock.pass(4_000);
      hold.progress();
    }
    hold.release[0]?.();
    (await asked).release();
  });

  it("aborts a load when its last waiting request is cancelled", async () => {
    const { scheduler, hold, loads } = world();
    hold.loads = true;
    const gone = new AbortController();
    const asked = scheduler.lease(request("a", { signal: gone.signal }));
    asked.catch(() => {});
    await settled();
    gone.abort(new Error("gone"));
    await expect(asked).rejects.toThrow("gone");
    await settled();
    expect(scheduler.view().residents).toEqual([]);
    hold.loads = false;
    await scheduler.lease(request("a"));
    expect(loads).toHaveLength(2);
  });

  it("goes on with a load for the requests that still wait for it", async () => {
    const { scheduler, hold, loads } = world();
    hold.loads = true;
    const gone = new AbortController();
    const left = scheduler.lease(request("a", { signal: gone.signal }));
    const stays = scheduler.lease(request("a"));
    await settled();
    gone.abort(new Error("gone"));
    await expect(left).rejects.toThrow("gone");
    hold.release[0]!();
    (await stays).release();
    expect(loads).toEqual(["a"]);
  });

  it("goes on with a load although a client of another model leaves", async () => {
    const { scheduler, hold, loads } = world();
    hold.loads = true;
    const stays = scheduler.lease(request("a"));
    await settled();
    const gone = new AbortController();
    const left = scheduler.lease(request("b", { signal: gone.signal }));
    gone.abort(new Error("gone"));
    await expect(left).rejects.toThrow("gone");
    hold.release[0]!();
    (await stays).release();
    expect(loads).toEqual(["a"]);
  });

  it("looks again if the other model dies while devices are chosen: nobody is left to make room", async () => {
    const { scheduler, sizes, kill } = world({ maxLoadedModels: 2 }, 100);
    sizes.set("a", 60).set("b", 150);
    (await scheduler.lease(request("a"))).release();
    const asked = scheduler.lease(request("b"));
    kill("a");
    await expect(asked).rejects.toMatchObject({ code: "model_too_large" });
  });

  it("rejects a model that is too large for the machine", async () => {
    const { scheduler, sizes } = world({}, 4 * 2 ** 30);
    sizes.set("huge", 5 * 2 ** 30);
    await expect(scheduler.lease(request("huge"))).rejects.toThrow(
      "model requires more memory (5.0 GiB) than is available (4.0 GiB)",
    );
  });

  it("evicts nothing for a model that would not fit even alone", async () => {
    const { scheduler, sizes, running } = world({ maxLoadedModels: 4 }, 10);
    sizes.set("a", 6).set("huge", 20);
    (await scheduler.lease(request("a"))).release();
    await expect(scheduler.lease(request("huge"))).rejects.toThrow("model requires more memory");
    expect([...running]).toEqual(["a"]);
  });

  it("evicts for a model that needs a quarter more than what is freed, and nothing for a larger one", async () => {
    // A process frees more than its model's size, so that this is worth a try.
    for (const [size, left] of [
      [7.5, []],
      [7.6, ["a"]],
    ] as const) {
      const { scheduler, sizes, running } = world({ maxLoadedModels: 4 }, 6);
      sizes.set("a", 6).set("b", size);
      (await scheduler.lease(request("a"))).release();
      await expect(scheduler.lease(request("b"))).rejects.toMatchObject({ code: "model_too_large" });
      expect([...running]).toEqual(left);
    }
  });

  it("makes room in memory below the limit of loaded models, after busy models have finished", async () => {
    const { scheduler, sizes, running, clock } = world({ maxLoadedModels: 4 }, 10);
    for (const name of "abc") sizes.set(name, 6);
    const a = await scheduler.lease(request("a"));
    const b = scheduler.lease(request("b"));
    await clock.pass(2_000);
    const late = scheduler.lease(request("a"));
    await settled();
    expect([...running]).toEqual(["a"]);
    a.release();
    (await b).release();
    await late;
    expect([...running]).toEqual(["a"]);
  });

  it("loads the model again after its runner died", async () => {
    const { scheduler, loads, kill } = world();
    const lease = await scheduler.lease(request("a"));
    kill("a");
    await settled();
    expect(scheduler.view().residents).toEqual([]);
    await scheduler.lease(request("a"));
    lease.release();
    expect(loads).toEqual(["a", "a"]);
  });

  it("shuts down during a load", async () => {
    const { scheduler, hold, running } = world();
    hold.loads = true;
    const asked = scheduler.lease(request("a"));
    asked.catch(() => {});
    await settled();
    await scheduler.close(10_000);
    await expect(asked).rejects.toThrow("shutting down");
    expect([...running]).toEqual([]);
  });

  it("shuts down during a load that can no longer be aborted", async () => {
    const { scheduler, hold, running } = world();
    hold.loads = true;
    const asked = scheduler.lease(request("a"));
    asked.catch(() => {});
    await settled();
    hold.release[0]!();
    await scheduler.close(10_000);
    await expect(asked).rejects.toThrow("shutting down");
    expect([...running]).toEqual([]);
  });

  it("shuts down as soon as the last request has finished, before the deadline", async () => {
    const { scheduler, running } = world();
    const lease = await scheduler.lease(request("a"));
    const closed = scheduler.close(10_000);
    await settled();
    expect([[...running], scheduler.accepts()]).toEqual([["a"], false]);
    lease.release();
    await closed;
    expect([...running]).toEqual([]);
  });

  it("shuts down: rejects new requests, lets running ones continue until the deadline, leaves no process", async () => {
    const { scheduler, running, killed, clock } = world({ maxLoadedModels: 2 });
    (await scheduler.lease(request("idle"))).release();
    await scheduler.lease(request("a"));
    const waiting = scheduler.lease(request("a"));
    waiting.catch(() => {});
    const closed = scheduler.close(10_000);
    expect(killed).toEqual([]);
    await expect(waiting).rejects.toThrow("shutting down");
    await expect(scheduler.lease(request("a"))).rejects.toThrow("shutting down");
    expect([...running]).toEqual(["idle", "a"]);
    await clock.pass(10_000);
    await closed;
    expect([...running]).toEqual([]);
    // A busy runner is killed, because it would not read a request to stop in time.
    expect(killed).toEqual(["a"]);
  });
});

describe("under any order of events", () => {
  it("settles every request, never exceeds the slots, and keeps each model's order", async () => {
    const step = fc.oneof(
      fc.record({
        kind: fc.constant("ask" as const),
        name: fc.constantFrom("a", "b", "c"),
        numCtx: fc.constantFrom(512, 2048),
      }),
      fc.record({ kind: fc.constant("release" as const), index: fc.nat(20) }),
      fc.record({ kind: fc.constant("leave" as const), index: fc.nat(20) }),
      fc.record({ kind: fc.constant("die" as const), name: fc.constantFrom("a", "b", "c") }),
      fc.record({ kind: fc.constant("pass" as const), ms: fc.nat(3000) }),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 40 }),
        fc.integer({ min: 1, max: 2 }),
        async (steps, places) => {
          const { scheduler, clock, kill, running } = world({ slots: 2, maxLoadedModels: places });
          const held: { name: string; lease: Lease }[] = [];
          const waiting: { ticket: number; name: string; gone: AbortController }[] = [];
          const granted: Record<string, number[]> = { a: [], b: [], c: [] };
          let ticket = 0;
          const outcomes: Promise<unknown>[] = [];
          const check = () => {
            expect(running.size).toBeLessThanOrEqual(places);
            for (const view of scheduler.view().residents) expect(view.activeSlots).toBeLessThanOrEqual(2);
          };
          for (const each of steps) {
            if (each.kind === "ask") {
              const mine = { ticket: ticket++, name: each.name, gone: new AbortController() };
              waiting.push(mine);
              const asked = scheduler.lease(
                request(each.name, { numCtx: each.numCtx, signal: mine.gone.signal }),
              );
              outcomes.push(
                asked.then(
                  (lease) => {
                    waiting.splice(waiting.indexOf(mine), 1);
                    granted[each.name]!.push(mine.ticket);
                    held.push({ name: each.name, lease });
                  },
                  () => waiting.splice(waiting.indexOf(mine), 1),
                ),
              );
            } else if (each.kind === "release")
              held.splice(each.index % Math.max(1, held.length), 1)[0]?.lease.release();
            else if (each.kind === "leave")
              waiting[each.index % Math.max(1, waiting.length)]?.gone.abort(new Error("gone"));
            else if (each.kind === "die") kill(each.name);
            else await clock.pass(each.ms);
            await settled();
            check();
          }
          for (let rounds = 0; waiting.length + held.length > 0 && rounds < 200; rounds++) {
            held.shift()?.lease.release();
            await clock.pass(100);
            check();
          }
          await Promise.all(outcomes);
          for (const order of Object.values(granted)) expect(order).toEqual(order.toSorted((x, y) => x - y));
        },
      ),
      { seed: 4, numRuns: 60 },
    );
  });
});

describe("memory that a model spares", () => {
  /** A model of 60 bytes that uses 20 of them for now, on a machine with 130. Each runner has 10 unused bytes. */
  async function sparing(conversationBytes = 0) {
    const here = world({ maxLoadedModels: 2 }, 130, conversationBytes);
    here.sizes.set("sparing", 60).set("other", 50);
    here.spare.set("sparing", 40);
    const lease = await here.scheduler.lease(request("sparing"));
    return { ...here, lease };
  }

  it("is granted as far as it is free, with what kept conversations take", async () => {
    const { grow, spare, sizes, roomMade } = await sparing(7);
    expect([grow("sparing", 15), grow("sparing", 25)]).toEqual([15, 25]);
    sizes.set("sparing", 160);
    spare.set("sparing", 100);
    expect(grow("sparing", 100)).toBe(130 - 60 - 10 + 7);
    expect(roomMade.slice(1)).toEqual([15, 25, 67]);
  });

  it("goes to a model that loads meanwhile, which keeps it", async () => {
    const { scheduler, grow, hold, loads, roomMade } = await sparing();
    hold.loads = true;
    const other = scheduler.lease(request("other"));
    await settled();
    expect(loads).toEqual(["sparing", "other"]);
    // 130 - 20 - 10 are free, and 50 of them are the other's.
    expect(grow("sparing", 55)).toBe(50);
    expect(scheduler.view().residents[0]!.refusedGrowth).toMatchObject({ bytes: 5, why: "other loads" });
    expect(roomMade.at(-1)).toBe(100);
    const made = roomMade.length;
    expect(grow("sparing", 5)).toBe(0);
    // No conversation is given up for nothing.
    expect(roomMade).toHaveLength(made);
    hold.release[0]!();
    await other;
    expect(scheduler.freeBytes()).toBe(0);
    expect(grow("sparing", 5)).toBe(0);
  });

  it("is told as refused until all that is asked for is granted again", async () => {
    const { scheduler, clock, grow, spare, sizes, logged } = await sparing();
    sizes.set("sparing", 160);
    spare.set("sparing", 140);
    const refused = () => scheduler.view().residents[0]!.refusedGrowth;
    const told = () => logged.filter(({ what }) => what === "refuse").map(({ why }) => why);
    grow("sparing", 60);
    expect(refused()).toBeNull();
    grow("sparing", 50);
    const atMs = clock.now();
    expect(refused()).toEqual({ bytes: 10, why: "memory is short", atMs });
    await clock.pass(1_000);
    grow("sparing", 25);
    expect(refused()).toEqual({ bytes: 25, why: "memory is short", atMs: atMs + 1_000 });
    expect(told()).toEqual(["its cache could not grow by 10 bytes: memory is short"]);
    sizes.set("sparing", 100);
    spare.set("sparing", 60);
    grow("sparing", 5);
    expect(refused()).toBeNull();
  });

  it("is not granted while another model waits for memory", async () => {
    const { scheduler, sizes, grow, lease } = await sparing();
    sizes.set("other", 125);
    const other = scheduler.lease(request("other"));
    await settled();
    expect(grow("sparing", 40)).toBe(0);
    const [sparingModel] = scheduler.view().residents;
    expect(sparingModel!.refusedGrowth).toMatchObject({ bytes: 40, why: "other waits for memory" });
    lease.release();
    expect((await other).runner).toBeDefined();
  });
});
