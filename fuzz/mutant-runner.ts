import { setImmediate } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { configureGlobal } from "fast-check";
import { type RunnerTestCase, type RunnerTestFile, TestRunner, type TestRunnerConfig } from "vitest";
import { readPlan, writeNote } from "./mutant-plan.ts";
import { placesPassed, reached, turnOn } from "./mutant-switch.ts";

/** What is on while a test runs once, and what it may take. */
interface Turn {
  readonly mutant: number;
  readonly places?: number;
  readonly ms?: number;
}

const none: Turn = { mutant: 0 };
const aloneMs = 60_000;

/**
 * Runs each test of a file twice without a mutant, and then once with each mutant that it reached, in the same process.
 * A test that fails with a mutant runs once more without one: if it fails again, the mutant has left something behind,
 * or one before it has.
 */
export default class MutantRunner extends TestRunner {
  readonly #plan = readPlan();
  readonly #alive = new Set(this.#plan.wanted);
  #course: Iterator<Turn, void, string | null> | null = null;
  #turn: Turn = none;
  #late: string | null = null;
  #hasBegun = false;

  constructor(config: TestRunnerConfig) {
    super(config);
    // That a property fails is enough; looking for a smaller input takes longer than all else.
    configureGlobal({ endOnFailure: true });
    new Worker(new URL("./mutant-watch.ts", import.meta.url)).unref();
    for (const event of ["unhandledRejection", "uncaughtException"])
      process.on(event, (error: unknown) => {
        this.#late ??= told(error);
      });
    const { alone } = this.#plan;
    if (alone !== null) turnOn(alone, undefined, aloneMs);
  }

  override async onBeforeRunTask(test: RunnerTestCase): Promise<void> {
    await super.onBeforeRunTask(test);
    if (this.#plan.alone !== null || test.mode === "skip" || test.mode === "todo") return;
    writeNote({ kind: "reached", test: null, mutants: this.#takeReached() });
    this.#hasBegun = true;
    if (this.#plan.done.includes(test.id)) test.mode = "skip";
    else {
      test.repeats = Number.MAX_SAFE_INTEGER;
      this.#course = this.#trials(test);
      this.#turn = this.#course.next().value ?? none;
    }
  }

  override onBeforeTryTask(test: RunnerTestCase, options: { retry: number; repeats: number }): void {
    super.onBeforeTryTask(test, options);
    const { alone } = this.#plan;
    const { mutant, places, ms } = alone === null ? this.#turn : { mutant: alone, ms: aloneMs };
    reached.fill(0);
    if (alone === null) this.#late = null;
    turnOn(mutant, places, ms);
  }

  async runTask(test: RunnerTestCase): Promise<void> {
    const run = Promise.resolve(TestRunner.getTestFn(test)());
    const { ms } = this.#turn;
    if (ms === undefined) return run;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error("it waits for ever")), ms);
    });
    await Promise.race([run, late]).finally(() => clearTimeout(timer));
  }

  override async onAfterRetryTask(
    test: RunnerTestCase,
    options: { retry: number; repeats: number },
  ): Promise<void> {
    await super.onAfterRetryTask(test, options);
    if (this.#course === null || test.result === undefined) return;
    // A rejection that nobody handles is told after the promises have run.
    await setImmediate();
    const { state, errors } = test.result;
    const hasSkipped = state === "skip";
    const failed = state === "fail" ? (errors?.[0]?.message ?? "it fails") : this.#late;
    const next = hasSkipped ? { done: true as const } : this.#course.next(failed);
    Object.assign(test.result, { errors: undefined, attempts: [] });
    if (next.done === true) {
      this.#course = null;
      turnOn(0);
      reached.fill(0);
      // Vitest repeats no test that has skipped itself.
      Object.assign(test.result, { state: "skip", pending: true });
      if (hasSkipped) writeNote({ kind: "done", test: test.id });
    } else this.#turn = next.value;
  }

  override onAfterRunTask(test: RunnerTestCase): void {
    super.onAfterRunTask(test);
    if (this.#plan.alone === null || test.result?.state !== "fail") return;
    this.#die(this.#plan.alone, `${test.fullName}: ${test.result.errors?.[0]?.message}`);
  }

  override onAfterRunFiles(files: RunnerTestFile[]): void {
    super.onAfterRunFiles(files);
    const { alone } = this.#plan;
    const failed = files.find(({ result }) => result?.state === "fail");
    const why = failed?.result?.errors?.[0]?.message ?? this.#late;
    if (alone === null && failed !== undefined && !this.#hasBegun) throw new Error(why ?? "it fails");
    if (alone !== null && (failed !== undefined || this.#late !== null)) this.#die(alone, `the file: ${why}`);
    writeNote({ kind: "end" });
  }

  *#trials(test: RunnerTestCase): Generator<Turn, void, string | null> {
    const began = performance.now();
    const before = yield none;
    const ms = performance.now() - began;
    const limits = { places: 100_000 + 20 * placesPassed(), ms: 3_000 + 10 * ms };
    const mutants = this.#takeReached();
    writeNote({ kind: "reached", test: test.id, mutants });
    const cannot = (why: string) => {
      writeNote({ kind: "cannot be repeated", test: test.fullName, why, mutants });
      writeNote({ kind: "done", test: test.id });
    };
    if (before !== null) return cannot(before);
    if (ms > this.#plan.mostMs) return writeNote({ kind: "later", test: test.id });
    const { first } = this.#plan;
    const begun = new Set(this.#plan.begun[test.id]);
    const queue = mutants.filter((mutant) => this.#alive.has(mutant) && !begun.has(mutant));
    if (first !== null && begun.has(first)) queue.unshift(first);
    const again = queue.length === 0 ? null : yield none;
    if (again !== null) return cannot(again);
    let isClean = true;
    for (const mutant of queue) {
      writeNote({ kind: "begins", mutant, test: test.id });
      const failed = yield { mutant, ...limits };
      if (failed === null) {
        if (reached[mutant] === 0) writeNote({ kind: "hidden", mutant });
        isClean = false;
        continue;
      }
      const after = yield none;
      if (after !== null && !isClean) return this.#renew(mutant);
      writeNote({ kind: "killed", mutant, by: `${test.fullName} (${failed.split("\n")[0]})` });
      if (after !== null) return this.#renew(null);
      this.#alive.delete(mutant);
      isClean = true;
    }
    writeNote({ kind: "done", test: test.id });
  }

  #takeReached(): number[] {
    const mutants = [...reached.keys()].filter((mutant) => reached[mutant] === 1);
    reached.fill(0);
    return mutants;
  }

  #renew(first: number | null): void {
    writeNote({ kind: "renew", first });
    process.kill(process.pid, "SIGKILL");
  }

  #die(mutant: number, by: string): void {
    writeNote({ kind: "killed", mutant, by });
    process.kill(process.pid, "SIGKILL");
  }
}

function told(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
