/** All threads, or only as many as have a core of their own beside other programs. */
export type ThreadNumber = "all" | "fewer";

/** Each number of threads is measured for this long, without its slowest step. */
const measuredMs = 300;
/** Very slow steps are measured no longer than this. */
const longestMeasuredMs = 2_000;
/** If requests are so short that the threads never settle, their steps are measured after this time. */
const longestSettlingMs = 1_000;
/** A number that is this many times slower than the other one is measured no longer than necessary. */
const muchSlower = 4;
const firstRestMs = 1_000;
const longestRestMs = 60_000;
/** A comparison costs the time that the slower number lost. That is at most this part of the computing time. */
const lostShare = 1 / 25;
/**
 * A thread is given up only if fewer threads are faster by this factor. A smaller difference may be chance, and each
 * change of the number costs time until the system has spread the threads over the cores.
 */
const worthGivingUp = 1.05;

interface Steps {
  rows: number;
  ms: number;
}

interface Sample {
  readonly number: ThreadNumber;
  readonly all: Steps;
  readonly measured: Steps;
  /** The slowest measured step. It does not count, because any step may be interrupted. */
  slowest: Readonly<Steps>;
}

/**
 * Finds out which number of threads computes more rows per second beside other programs. Threads wait for
 * each other in a busy loop hundreds of times per token. How much that costs depends on how the system shares
 * the cores, so it is measured: some steps with each number, and then the faster one until the next
 * comparison. The pause between two comparisons doubles while they agree. Times are computing times of this kind of
 * step, so that a runner that computes only now and then does not spend most of that time on comparisons.
 */
export class ThreadComparison {
  /** All threads until a comparison ends, because steps that end before one are quick enough. */
  #faster: ThreadNumber = "all";
  /** The sample that is being taken, and the one before it in the same comparison. */
  #sample: Sample | null = null;
  #before: Sample | null = null;
  #restMs = firstRestMs;
  #computedMs = 0;
  #nextMs = 0;
  #soonestMs = 0;

  /** Whether the next step is part of a comparison. */
  get isMeasuring(): boolean {
    return this.#sample !== null || this.#computedMs >= this.#nextMs;
  }

  /** Returns the number for the next step. */
  begin(): ThreadNumber {
    if (this.isMeasuring) this.#sample ??= newSample(this.#faster);
    return this.#sample?.number ?? this.#faster;
  }

  /**
   * Records a step with the number that `begin` returned. Steps right after a pause or a change are not
   * settled.
   */
  end(rows: number, ms: number, isSettled: boolean): void {
    this.#computedMs += ms;
    const sample = this.#sample;
    if (sample === null) return;
    const isMeasured = isSettled || sample.all.ms >= longestSettlingMs;
    add(sample.all, rows, ms);
    if (isMeasured) {
      add(sample.measured, rows, ms);
      if (ms / rows > sample.slowest.ms / sample.slowest.rows) sample.slowest = { rows, ms };
    }
    const { measured, slowest } = sample;
    const isEnough = measured.ms - slowest.ms >= measuredMs || measured.ms >= longestMeasuredMs;
    if (!isEnough && !this.#isHopeless(sample)) return;
    this.#sample = null;
    if (this.#before === null) {
      this.#before = sample;
      this.#sample = newSample(sample.number === "all" ? "fewer" : "all");
    } else {
      this.#decide(this.#before, sample);
      this.#before = null;
    }
  }

  /** Records a step while nothing is compared, because no other program needs the cores. */
  passed(ms: number): void {
    this.#computedMs += ms;
  }

  /**
   * Compares again as soon as the cost allows, because other programs do more or less than before. A comparison
   * that has begun goes on, because otherwise a load that often changes would only ever begin new ones.
   */
  loadChanged(): void {
    this.#restMs = firstRestMs;
    this.#nextMs = this.#soonestMs;
  }

  #isHopeless({ all, measured }: Sample): boolean {
    if (this.#before === null || measured.rows === 0 || measured.ms < measuredMs) return false;
    return (all.rows / all.ms) * muchSlower < speed(this.#before);
  }

  #decide(current: Sample, other: Sample): void {
    const [all, fewer] = current.number === "all" ? [current, other] : [other, current];
    const [fast, slow] = speed(fewer) > speed(all) * worthGivingUp ? [fewer, all] : [all, fewer];
    this.#restMs = fast === current ? Math.min(longestRestMs, this.#restMs * 2) : firstRestMs;
    this.#faster = fast.number;
    const lostMs = slow.all.ms - slow.all.rows / speed(fast);
    this.#soonestMs = this.#computedMs + Math.max(firstRestMs, lostMs / lostShare);
    this.#nextMs = Math.max(this.#soonestMs, this.#computedMs + this.#restMs);
  }
}

/** Rows per millisecond. */
function speed({ measured, slowest }: Sample): number {
  if (measured.rows === slowest.rows) return measured.rows / measured.ms;
  return (measured.rows - slowest.rows) / (measured.ms - slowest.ms);
}

function add(steps: Steps, rows: number, ms: number): void {
  steps.rows += rows;
  steps.ms += ms;
}

function newSample(number: ThreadNumber): Sample {
  return { number, all: { rows: 0, ms: 0 }, measured: { rows: 0, ms: 0 }, slowest: { rows: 1, ms: 0 } };
}
