import type { ChildProcess, Serializable } from "node:child_process";
import { anonymousBytes } from "../engine/anonymous-bytes.ts";
import { forkShort, NoAnswer, type ShortChild } from "./ask-child.ts";

/** What one job of a child may take. A child that takes more is ended. */
export interface JobBudget {
  readonly patienceMs: number;
  /** Memory of the process that belongs to no file. It is checked where the system tells it. */
  readonly bytes: number;
}

const memoryCheckMs = 100;

/** A process that does one job after the other, until one of them ends it. */
export class JobChild<Job extends Serializable, Answer> {
  readonly #child: ChildProcess;
  #hasEnded = false;

  constructor(name: ShortChild) {
    this.#child = forkShort(name);
    // Later listeners are told of the end, too: this one only remembers it.
    this.#child.once("exit", () => {
      this.#hasEnded = true;
    });
    this.#child.on("error", () => {
      this.#hasEnded = true;
    });
    this.rest();
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Call it again only when the last job is done. Rejects with `NoAnswer` if the process ended or had to be ended. */
  async do(job: Job, { patienceMs, bytes }: JobBudget): Promise<Answer> {
    if (this.#hasEnded) throw new NoAnswer("its process has ended");
    const child = this.#child;
    child.ref();
    child.channel?.ref();
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const give = (answer: Serializable) => resolve(answer as Answer);
    const ended = (code: number | null, signal: string | null) =>
      reject(new NoAnswer(signal ?? `exit code ${code}`));
    const failed = (error: Error) => reject(new NoAnswer(error.message, { cause: error }));
    const stop = (reason: string) => {
      reject(new NoAnswer(reason));
      this.end();
    };
    const timer = setTimeout(
      () => stop(`it takes longer than ${Math.round(patienceMs / 1000)} s`),
      patienceMs,
    );
    const memory = setInterval(() => {
      if (child.pid !== undefined && (anonymousBytes(child.pid) ?? 0) > bytes)
        stop("it takes too much memory");
    }, memoryCheckMs);
    child.on("message", give).on("exit", ended).on("error", failed);
    child.send(job, (error) => {
      if (error !== null) failed(error);
    });
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      clearInterval(memory);
      child.off("message", give).off("exit", ended).off("error", failed);
      this.rest();
    }
  }

  /** An idle child does not keep the server's process alive. */
  rest(): void {
    this.#child.unref();
    this.#child.channel?.unref();
  }

  end(): void {
    this.#hasEnded = true;
    this.#child.kill("SIGKILL");
  }
}
