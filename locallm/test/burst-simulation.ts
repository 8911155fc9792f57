import type { Context } from "../src/engine/context.ts";
import { Slots } from "../src/engine/slots.ts";
import { fixedThreads } from "../src/engine/threads.ts";
import { defaultSampling, type GenerateJob } from "../src/wire/inference/generate.ts";
import { EchoContext, echoMakers } from "./echo-model.ts";

export interface Burst {
  /** What a step takes, in milliseconds, beside its rows. */
  readonly stepMs: number;
  readonly rowMs: number;
  /** Streams that have begun before the others arrive. */
  readonly running: number;
  readonly arriving: number;
  /** The prompts' tokens. The first `common` ones are the same for all. */
  readonly promptTokens: number;
  readonly common: number;
  /** Time between two arrivals, in milliseconds. */
  readonly apartMs: number;
}

export interface BurstTimes {
  /** From the first arrival to the first text of the stream that waited longest, in milliseconds. */
  readonly lastFirstMs: number;
  /** From the first arrival until all that arrived have their text. */
  readonly totalMs: number;
  /** The longest wait between two texts of any stream, also of those that ran before. */
  readonly largestGapMs: number;
}

const answerTokens = 32;
const window = 512;

/** Slots with a model whose steps take as long as told, by a clock that nothing else moves. */
export async function simulateBurst(burst: Burst): Promise<BurstTimes> {
  const { stepMs, rowMs, running, arriving, promptTokens, common, apartMs } = burst;
  let nowMs = 0;
  const count = running + arriving;
  const context = new EchoContext({
    sequences: count,
    contextPerSequence: window,
    sharedCells: null,
    capacity: 512,
    hasState: false,
    outcome: (rows) => {
      nowMs += stepMs + rows * rowMs;
      return "done";
    },
  });
  const makers = echoMakers(context, () => nowMs * 1e6);
  // All answers have the same length.
  const vocabulary = Object.assign(makers.vocabulary, { isEnd: () => false });
  const seen = new Seen();
  let ended: () => void;
  const end = new Promise<void>((resolve) => {
    ended = resolve;
  });
  let arrived = 0;
  let begunMs = Number.POSITIVE_INFINITY;
  const arrive = () => {
    for (; arrived < arriving && nowMs >= begunMs + arrived * apartMs; arrived++) {
      const id = running + arrived;
      seen.arrive(id, begunMs + arrived * apartMs);
      slots.submit(id, jobOf(id, promptTokens, common));
    }
  };
  const slots = new Slots({
    makers: { ...makers, vocabulary },
    context: context as unknown as Context,
    slots: count,
    checkpoints: 0,
    threads: fixedThreads(1),
    adapters: { use: () => {} },
    kept: null,
    onStep: (events) => {
      for (const { id, text, done, error } of events) {
        if (error !== null) throw error;
        if (text !== "") seen.text(id, nowMs);
        if (done !== null) seen.ended.add(id);
      }
      if (begunMs > nowMs && seen.begun >= running) begunMs = nowMs;
      if (seen.ended.size === count) ended();
    },
    onWant: () => {
      throw new Error("no prompt has a picture");
    },
    breathe: async () => {
      arrive();
      await new Promise((resolve) => setImmediate(resolve));
    },
  });
  for (let id = 0; id < running; id++) slots.submit(id, jobOf(id, 8, 0));
  if (running === 0) begunMs = 0;
  arrive();
  await end;
  return seen.times(begunMs, nowMs);
}

/**
 * The same streams by the rule of llama-server: a step has a token of each answer and prompts in the order of the
 * slots, up to `n_batch` rows. It copies no beginnings.
 */
export function simulateRowBudget(burst: Burst): BurstTimes {
  const { stepMs, rowMs, running, arriving, promptTokens, apartMs } = burst;
  const budget = 2048;
  let nowMs = 0;
  const seen = new Seen();
  const streams = Array.from({ length: running + arriving }, (_, id) => ({
    id,
    atMs: id < running ? 0 : (id - running) * apartMs,
    rows: id < running ? 1 : promptTokens,
    left: answerTokens,
  }));
  for (const { id, atMs } of streams) {
    if (id < running) seen.text(id, 0);
    else seen.arrive(id, atMs);
  }
  while (seen.ended.size < streams.length) {
    const here = streams.filter(({ atMs, left }) => atMs <= nowMs && left > 0);
    let rows = here.filter(({ left }) => left < answerTokens).length;
    const taken = here.filter((stream) => {
      if (stream.left < answerTokens) return true;
      const part = Math.min(stream.rows, budget - rows);
      rows += part;
      stream.rows -= part;
      return stream.rows === 0;
    });
    // Its engine computes 512 rows at once.
    if (rows > 0) nowMs += stepMs * Math.ceil(rows / 512) + rows * rowMs;
    else nowMs = Math.min(...streams.filter(({ left }) => left > 0).map(({ atMs }) => atMs));
    for (const stream of taken) {
      seen.text(stream.id, nowMs);
      if (--stream.left === 0) seen.ended.add(stream.id);
    }
  }
  return seen.times(0, nowMs);
}

/** When the texts of streams came. */
class Seen {
  readonly ended = new Set<number>();
  readonly #arrived = new Map<number, number>();
  readonly #last = new Map<number, number>();
  #lastFirstMs = 0;
  #largestGapMs = 0;

  /** How many streams have begun. */
  get begun(): number {
    return this.#last.size;
  }

  arrive(id: number, atMs: number): void {
    this.#arrived.set(id, atMs);
  }

  text(id: number, nowMs: number): void {
    const before = this.#last.get(id);
    this.#last.set(id, nowMs);
    if (before !== undefined) this.#largestGapMs = Math.max(this.#largestGapMs, nowMs - before);
    else if (this.#arrived.has(id)) this.#lastFirstMs = Math.max(this.#lastFirstMs, nowMs);
  }

  times(begunMs: number, endedMs: number): BurstTimes {
    return {
      lastFirstMs: this.#lastFirstMs - begunMs,
      totalMs: endedMs - begunMs,
      largestGapMs: this.#largestGapMs,
    };
  }
}

function jobOf(id: number, promptTokens: number, common: number): GenerateJob {
  const prompt = Array.from(
    { length: promptTokens },
    (_, at) => 1 + ((at < common ? at : at * 7 + id * 13 + (id >> 2) * at) % 60),
  );
  return {
    prompt: [prompt],
    numPredict: answerTokens,
    numKeep: 0,
    stop: [],
    sampling: { ...defaultSampling, temperature: 0 },
    grammar: null,
    numCtx: window,
    truncate: true,
    shift: true,
    wantContext: false,
    deterministic: false,
  } as unknown as GenerateJob;
}
