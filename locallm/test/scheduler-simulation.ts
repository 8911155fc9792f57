import { Random } from "../../fuzz/random.ts";
import { onProcessor } from "../src/gpu/placement.ts";
import type { Runner, RunnerExit, StartRunner } from "../src/runner/handle.ts";
import type { Lease, LeaseRequest, RunnableModel } from "../src/scheduler/lease.ts";
import { createScheduler } from "../src/scheduler/scheduler.ts";
import { LocallmError } from "../src/wire/errors.ts";
import { ManualClock, settled } from "./manual-clock.ts";

/** What happened in a simulation, counted; and what must not happen, if it did. */
export interface Simulated {
  readonly counts: Readonly<Record<string, number>>;
  readonly breach: string | undefined;
}

/** A day is longer than every keep-alive, load and answer of a simulation together. */
const dayMs = 86_400_000;
const loadTimeoutMs = 60_000;

/** A runner without a process. Its path is the mark by which an answer shows which model computed it. */
interface SimulatedRunner {
  readonly path: string;
  readonly slots: number;
  readonly numCtx: number;
  /** Answers that it computes. */
  answers: number;
  isGone: boolean;
  /** Memory that it does not use before it is granted. */
  spare: number;
  die(): void;
  grow(): void;
}

/**
 * A scheduler with a clock that jumps, on which requests arrive, leave, read slowly and give back their place twice, loads
 * are placed and loaded slowly, fail, hang and are killed, memory shrinks and grows, models spare memory and ask for it
 * later, are unloaded and expire, and at the end it closes.
 * Everything follows from the seed.
 */
export async function simulateScheduler(seed: number): Promise<Simulated> {
  const random = new Random(seed);
  const clock = new ManualClock();
  const counts: Record<string, number> = {};
  const breaches: string[] = [];
  const count = (what: string) => {
    counts[what] = (counts[what] ?? 0) + 1;
  };
  const breach = (what: string) => breaches.push(`at ${clock.now()} ms: ${what}`);

  const slots = 1 + random.below(3);
  const maxLoadedModels = 1 + random.below(2);
  const maxQueue = random.below(30);
  const models = Array.from({ length: 1 + random.below(4) }, (_, n) => model(`model${n}`));
  const sizes = new Map(models.map(({ modelPath }) => [modelPath, 10 + random.below(60)]));
  // Numbers of its own, so that the seeds of simulations without it repeat what they always did.
  const sparing = new Random(seed + 1e6);
  const spares = sparing.below(2) === 0;
  const isConstant = sparing.below(2) === 0;
  const placing = new Random(seed + 4e6);
  /** Reading a model's file and asking devices takes time, in which others may go. */
  const isSlow = placing.below(2) === 0;
  let memory = 100;
  let failing = 0;
  const runners = new Set<SimulatedRunner>();
  let loading = 0;
  let loadingPath: string | null = null;
  const freeBytes = () =>
    memory - [...runners].reduce((sum, { path, spare }) => sum + sizes.get(path)! - spare, 0);
  let isClosing = false;
  /** How often a model's needs were asked for at one time. */
  let asked = { atMs: 0, times: 0 };

  const startRunner: StartRunner = async (load, start) => {
    // As the real one does.
    start?.signal?.throwIfAborted();
    const path = load.modelPath;
    loading++;
    loadingPath = path;
    if (loading > 1) breach("two models load at once");
    if (runners.size >= maxLoadedModels) breach(`a load begins beside ${runners.size} loaded models`);
    const hangs = random.below(25) === 0;
    let abort = () => {};
    try {
      await new Promise<void>((resolve, reject) => {
        const stop = hangs ? () => {} : clock.after(random.below(5_000), resolve);
        abort = () => {
          stop();
          reject(start?.signal?.reason);
        };
        start?.signal?.addEventListener("abort", abort);
      });
      if (failing > 0 && failing-- > 0) throw new LocallmError("runner_died", { reason: "out of memory" });
    } finally {
      loading--;
      loadingPath = null;
      // Node keeps a signal that follows others, with all that its listeners hold, until it is aborted.
      start?.signal?.removeEventListener("abort", abort);
    }
    count("loads");
    const exited = Promise.withResolvers<RunnerExit>();
    const end = (asked: boolean) => {
      const exit: RunnerExit = { code: 0, signal: null, asked, stalled: false, log: [] };
      if (!runner.isGone) {
        runner.isGone = true;
        runners.delete(runner);
        exited.resolve(exit);
      }
      return exit;
    };
    const runner: SimulatedRunner = {
      path,
      slots: load.slots,
      numCtx: load.numCtx,
      answers: 0,
      isGone: false,
      spare: spares ? sparing.below(sizes.get(path)!) : 0,
      die: () => void end(false),
      grow: () => {
        const asked = sparing.below(runner.spare + 1);
        if (asked === 0) return;
        const free = freeBytes();
        const granted = start!.onGrow!(asked);
        count(granted < asked ? "memory refused" : "memory granted");
        if (granted < 0 || granted > asked) breach(`${path} asks for ${asked} and gets ${granted}`);
        const promised = Math.max(0, free - (loadingPath === null ? 0 : sizes.get(loadingPath)!));
        if (granted > promised) breach(`${path} gets ${granted} of ${promised} free bytes`);
        runner.spare -= granted;
      },
    };
    runners.add(runner);
    const close = (isKill: boolean) =>
      new Promise<RunnerExit>((resolve) => {
        // A server that stops asks first, and kills what computes longer than its deadline.
        if (!isKill && !isClosing && runner.answers > 0)
          breach(`${path} is closed while it computes ${runner.answers} answers`);
        if (isKill) resolve(end(true));
        else clock.after(random.below(300), () => resolve(end(true)));
      });
    return {
      pid: 1,
      slots: load.slots,
      simulated: runner,
      info: {
        contextLength: load.numCtx,
        sizeBytes: { weights: sizes.get(path)!, context: 0, compute: 0, checkpoints: 0 },
        devices: [],
      },
      unusedBytes: 0,
      get spareBytes() {
        return runner.spare;
      },
      exited: exited.promise,
      close: () => close(false),
      kill: () => close(true),
    } as unknown as Runner;
  };

  const scheduler = createScheduler(
    {
      ...{ slots, maxLoadedModels, maxQueue, loadTimeoutMs },
      flashAttention: "auto",
      kvCacheType: "f16",
      sharedCache: "auto",
      drafts: "auto",
      environment: {},
    },
    {
      clock,
      startRunner,
      needs: async ({ modelPath }) => {
        asked =
          asked.atMs === clock.now() ? { ...asked, times: asked.times + 1 } : { atMs: clock.now(), times: 1 };
        if (asked.times > 1_000) {
          breach("models are placed again and again while nothing changes");
          throw new Error("the simulation ends here");
        }
        if (isSlow) await new Promise<void>((resolve) => clock.after(placing.below(60), resolve));
        const total = sizes.get(modelPath)!;
        return { layers: [], hasExperts: false, output: 0, compute: 0, lookup: 0, total };
      },
      place: async (needs) => onProcessor(needs, "no GPU found"),
      availableBytes: freeBytes,
    },
  );

  let open = 0;
  /** Requests that wait in the order of their arrival, by what they wait for. */
  const waiting = new Map<string, number[]>();
  let requests = 0;
  const arrive = () => {
    const wanted = random.pick(models);
    const uses = random.pick(["slot", "slot", "slot", "slot", "load", "visit"] as const);
    const numCtx = random.pick([1_024, 1_024, 1_024, 4_096]);
    const key = random.pick([null, null, "a", "b"]);
    const gone = new AbortController();
    const request: LeaseRequest = {
      model: wanted,
      load: { numCtx, numBatch: null, numThread: null, numGpu: null, mainGpu: null, useMmap: null },
      keepAliveMs: random.pick([0, 1_000, 60_000, 300_000]),
      ...{ uses, key, signal: gone.signal },
    };
    const number = requests++;
    const line = `${wanted.name} ${key} ${uses} ${numCtx}`;
    waiting.set(line, [...(waiting.get(line) ?? []), number]);
    const served = () =>
      waiting.set(
        line,
        waiting.get(line)!.filter((other) => other !== number),
      );
    open++;
    if (random.below(5) === 0)
      clock.after(random.below(8_000), () => gone.abort(new Error("the client left")));
    scheduler.lease(request).then(
      (lease) => {
        count(`granted: ${uses}`);
        // What needs no slot does not wait behind those that do.
        if (uses === "slot" && waiting.get(line)![0] !== number)
          breach(`request ${number} overtakes ${waiting.get(line)![0]}`);
        served();
        answer(request, lease);
      },
      (error: unknown) => {
        open--;
        served();
        const code = error instanceof LocallmError ? error.code : (error as Error).message;
        count(`refused: ${code}`);
        if (!expected.has(code)) breach(`an unexpected refusal: ${code}`);
      },
    );
  };
  const answer = ({ model: asked, uses, load }: LeaseRequest, lease: Lease) => {
    const { simulated } = lease.runner as unknown as { simulated: SimulatedRunner };
    if (simulated.path !== asked.modelPath) breach(`${simulated.path} answers for ${asked.modelPath}`);
    if (simulated.isGone) breach(`a place in a runner that is gone`);
    if (uses !== "visit" && lease.numCtx < load.numCtx)
      breach(`a window of ${lease.numCtx} for ${load.numCtx}`);
    if (uses === "slot") simulated.answers++;
    if (simulated.answers > simulated.slots)
      breach(`${simulated.answers} answers in ${simulated.slots} slots`);
    const end = () => {
      if (uses === "slot") simulated.answers--;
      open--;
      lease.release();
      // A late close of a connection gives the place back a second time.
      if (random.below(3) === 0) lease.release();
    };
    // A slow reader keeps its place for long.
    clock.after(random.below(12) === 0 ? 30_000 : random.below(1_500), end);
  };
  const events: (() => void)[] = [
    ...Array.from({ length: 14 }, () => arrive),
    () => {
      for (let burst = random.below(8); burst > 0; burst--) arrive();
    },
    () => {
      const runner = [...runners][random.below(runners.size + 1)];
      if (runner !== undefined) count("died");
      runner?.die();
    },
    () => {
      failing = random.below(3);
    },
    () => {
      const next = random.pick([20, 60, 100, 200]);
      if (!isConstant) memory = next;
    },
    () => scheduler.expire(random.pick(models)),
    () => {
      const { name } = random.pick(models);
      let isDone = false;
      void scheduler
        .unload((one) => one.name === name, "a new version")
        .then(() => {
          isDone = true;
        });
      clock.after(dayMs, () => isDone || breach(`unloading ${name} never ends`));
    },
  ];
  const check = () => {
    const { residents, waiting: lines } = scheduler.view();
    if (residents.length > maxLoadedModels) breach(`${residents.length} models in ${maxLoadedModels} places`);
    if (isConstant && freeBytes() < 0) breach(`models use ${-freeBytes()} more bytes than there are`);
    const queued = lines.reduce((sum, line) => sum + line.count, 0);
    if (queued > maxQueue) breach(`${queued} wait in a queue of ${maxQueue}`);
    for (const { model: own, activeSlots, state } of residents) {
      if (activeSlots < 0 || activeSlots > slots)
        breach(`${own.name} has ${activeSlots} of ${slots} slots taken`);
      if (state === "ready" && ![...runners].some(({ path }) => path === own.modelPath))
        breach(`${own.name} is called ready and has no runner`);
    }
  };

  for (let step = 30 + random.below(60); step > 0 && breaches.length === 0; step--) {
    random.pick(events)();
    if (sparing.below(3) === 0) [...runners][sparing.below(runners.size + 1)]?.grow();
    await clock.pass(random.pick([0, 0, 1, 50, 500, 3_000]));
    check();
  }
  const closes = random.below(2) === 0;
  let isClosed = false;
  isClosing = closes;
  if (closes)
    void scheduler.close(random.pick([0, 5_000])).then(() => {
      isClosed = true;
    });
  await clock.pass(2 * dayMs);
  await settled();
  check();
  if (open > 0) breach(`${open} requests never end`);
  if (closes && !isClosed) breach("closing never ends");
  if (runners.size > 0) breach(`${[...runners].map(({ path }) => path)} never unload`);
  if (scheduler.view().residents.length > 0) breach("a place stays taken");
  if (clock.timers > 0) breach(`${clock.timers} timers are left`);
  count(closes ? "closed" : "left alone");
  return { counts, breach: breaches[0] };
}

const expected = new Set([
  "queue_full",
  "shutting_down",
  "model_load_failed",
  "model_too_large",
  "the client left",
]);

function model(name: string): RunnableModel {
  return { name, digest: name, modelPath: name, weights: name, adapters: [], trainContext: null };
}
