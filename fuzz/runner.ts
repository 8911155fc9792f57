import { closeSync, ftruncateSync, openSync, writeSync } from "node:fs";
import { inputOf, lineOf } from "./corpus.ts";
import { type Instrumented, instrument } from "./instrument.ts";
import type { Order, Progress, Report } from "./messages.ts";
import { mutate } from "./mutate.ts";
import { Random } from "./random.ts";
import { loadTarget, type Target } from "./target.ts";
import { type Fault, trial } from "./trial.ts";

// Searches one target in a process of its own, because an input may end it.
process.once("message", (order: Order) => {
  void new Search(order).run().then(() => process.disconnect());
});

class Search {
  readonly #order: Order;
  readonly #random: Random;
  readonly #current: number;
  readonly #code: Instrumented = instrument();
  /** The inputs that reached something new. */
  readonly #inputs: Buffer[] = [];
  /** For each counter: bits of the magnitudes that were seen. */
  readonly #seen = new Uint32Array(this.#code.hits.length);
  readonly #faults = new Set<string>();
  #runs = 0;

  constructor(order: Order) {
    this.#order = order;
    this.#random = new Random(order.seed);
    this.#current = openSync(order.current, "w");
  }

  async run(): Promise<void> {
    const target = await loadTarget(this.#order.file);
    const until = performance.now() + this.#order.minutes * 60_000;
    const given = [...target.seeds.map((seed) => Buffer.from(seed)), ...this.#order.corpus.map(inputOf)];
    for (const input of given) await this.#try(target, input);
    if (this.#inputs.length === 0) this.#inputs.push(Buffer.from("0"));
    const words = [...new Set([...(target.words ?? []), ...this.#code.texts, "\n", '"'])];
    const longest = target.longest ?? 4096;
    const material = { words, longest, other: () => this.#random.pick(this.#inputs) };
    let told = performance.now();
    while (performance.now() < until) {
      // Newer inputs more often: they reached what the others did not.
      const count = this.#inputs.length;
      const at = Math.max(this.#random.below(count), this.#random.below(count));
      await this.#try(target, mutate(this.#inputs[at]!, material, this.#random));
      if (performance.now() - told < 1_000) continue;
      told = performance.now();
      tell({ kind: "progress", progress: this.#progress(target) });
      // A target that never waits would keep messages from being sent.
      await new Promise((resolve) => setImmediate(resolve));
    }
    const corpus = await this.#smallest(target);
    closeSync(this.#current);
    const end: Report = { kind: "end", progress: this.#progress(target), corpus: corpus.map(lineOf) };
    await new Promise((resolve) => process.send!(end, resolve));
  }

  async #try(target: Target, input: Buffer): Promise<void> {
    const fault = await this.#trial(target, input);
    if (fault !== undefined) {
      if (this.#faults.has(fault.key)) return;
      this.#faults.add(fault.key);
      const smaller = await this.#shortened(target, input, fault);
      tell({ kind: "finding", finding: { ...fault, line: lineOf(smaller) } });
    } else if (this.#isNew()) this.#inputs.push(input);
  }

  async #trial(target: Target, input: Buffer): Promise<Fault | undefined> {
    this.#runs += 1;
    this.#code.hits.fill(0);
    ftruncateSync(this.#current);
    writeSync(this.#current, input, 0, input.length, 0);
    return trial(target, input);
  }

  /** Whether a branch ran that never ran, or ran many times more or fewer. */
  #isNew(): boolean {
    const { hits } = this.#code;
    const end = this.#points();
    let isNew = false;
    for (let at = 0; at < end; at += 1) {
      const count = hits[at]!;
      if (count === 0) continue;
      const bit = 1 << magnitude(count);
      if ((this.#seen[at]! & bit) !== 0) continue;
      this.#seen[at]! |= bit;
      isNew = true;
    }
    return isNew;
  }

  #points(): number {
    return Math.max(0, ...[...this.#code.files.values()].map(({ to }) => to));
  }

  /** Removes what the fault does not need, in pieces that get smaller. */
  async #shortened(target: Target, input: Buffer, { key }: Fault): Promise<Buffer> {
    let best = input;
    const until = performance.now() + 20_000;
    for (let size = best.length >> 1; size > 0; size >>= 1)
      for (let at = 0; at < best.length && performance.now() < until; ) {
        const tried = Buffer.concat([best.subarray(0, at), best.subarray(at + size)]);
        const fault = await this.#trial(target, tried);
        if (fault?.key === key) best = tried;
        else at += size;
      }
    return best;
  }

  /**
   * Counts the branches of the target's own sources, not how often they ran, so that what the repository keeps is small.
   * What the seeds reach needs no input.
   */
  async #smallest(target: Target): Promise<Buffer[]> {
    const own = this.#own(target);
    const reach = async (input: Buffer) => {
      await this.#trial(target, input);
      return own.filter((at) => this.#code.hits[at]! > 0);
    };
    const times = new Map<number, number>();
    const count = (points: readonly number[], by: number) => {
      for (const at of points) times.set(at, (times.get(at) ?? 0) + by);
    };
    for (const seed of target.seeds) count(await reach(Buffer.from(seed)), 1);
    const kept: { input: Buffer; points: number[] }[] = [];
    for (const input of this.#inputs.toSorted((a, b) => a.length - b.length)) {
      const points = await reach(input);
      if (points.every((at) => (times.get(at) ?? 0) > 0)) continue;
      count(points, 1);
      kept.push({ input, points });
    }
    // Longer inputs often reach what a shorter one was kept for.
    return kept
      .filter(({ points }) => {
        if (!points.every((at) => times.get(at)! > 1)) return true;
        count(points, -1);
        return false;
      })
      .map(({ input }) => input);
  }

  #own({ covers }: Target): number[] {
    return [...this.#code.files]
      .filter(([path]) => covers.some((each) => path === each || path.startsWith(`${each}/`)))
      .flatMap(([, { from, to }]) => Array.from({ length: to - from }, (_, at) => from + at));
  }

  #progress(target: Target): Progress {
    const own = this.#own(target);
    const covered = own.filter((at) => this.#seen[at] !== 0).length;
    return { runs: this.#runs, inputs: this.#inputs.length, covered, branches: own.length };
  }
}

/** 1, 2, 3, 4–7, 8–15, … */
function magnitude(count: number): number {
  return count < 4 ? count : 34 - Math.clz32(count);
}

function tell(report: Report): void {
  process.send!(report);
}
