import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import {
  BudgetSpent,
  SchemaError,
  type SchemaWish,
  type WrittenSchemas,
  writeSchemas,
} from "./written-schemas.ts";

/** docs/locallm/limits.md names these numbers. */
export const schemaBudget = {
  /** What is read on the spot: some milliseconds. Everything larger goes to a thread. */
  quickSteps: 15_000,
  steps: 1_500_000,
  /** By the clock; then the thread is ended. */
  taskMs: 8000,
  /** A thread without work is ended. */
  idleMs: 10_000,
  memoryMb: 256,
  /** Tasks that wait; a further one is refused. */
  waiting: 64,
  /** Characters of schemas whose grammars are kept. */
  keptChars: 2 << 20,
} as const;

export type SchemaTask =
  | { readonly kind: "write"; readonly wishes: readonly SchemaWish[] }
  | { readonly kind: "check"; readonly schema: unknown; readonly text: string };

export type SchemaReport =
  | { readonly kind: "written"; readonly written: WrittenSchemas }
  | { readonly kind: "checked"; readonly faults: readonly string[] }
  | { readonly kind: "spent" }
  | { readonly kind: "refused"; readonly problem: string };

/** Reads schemas: small ones on the spot, others one at a time in a thread that is ended when it takes too long. */
export class SchemaThreads {
  /** By the text of the schemas. Oldest first. */
  readonly #known = new Map<string, WrittenSchemas>();
  #knownChars = 0;
  #worker: Worker | null = null;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #idleTimer: NodeJS.Timeout | undefined;

  /** Null where it takes too long. Throws SchemaError. */
  async write(wishes: readonly SchemaWish[]): Promise<WrittenSchemas | null> {
    const key = textOf(wishes);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const written = await this.#write(wishes);
    if (written !== null) this.#keep(key, written);
    return written;
  }

  /** What a finished answer lacks; null where that takes too long to find out. */
  async check(schema: unknown, text: string): Promise<readonly string[] | null> {
    const report = await this.#inThread({ kind: "check", schema, text });
    return report.kind === "checked" ? report.faults : null;
  }

  close(): void {
    clearTimeout(this.#idleTimer);
    void this.#worker?.terminate();
    this.#worker = null;
  }

  async #write(wishes: readonly SchemaWish[]): Promise<WrittenSchemas | null> {
    try {
      return writeSchemas(wishes, schemaBudget.quickSteps);
    } catch (error) {
      if (!(error instanceof BudgetSpent)) throw error;
    }
    const report = await this.#inThread({ kind: "write", wishes });
    if (report.kind === "written") return report.written;
    if (report.kind === "refused") throw new SchemaError("", report.problem, true);
    return null;
  }

  #keep(key: string, written: WrittenSchemas): void {
    this.#known.set(key, written);
    this.#knownChars += key.length;
    for (const oldest of this.#known.keys()) {
      if (this.#knownChars <= schemaBudget.keptChars) break;
      this.#known.delete(oldest);
      this.#knownChars -= oldest.length;
    }
  }

  async #inThread(task: SchemaTask): Promise<SchemaReport> {
    if (this.#waiting >= schemaBudget.waiting) return { kind: "spent" };
    this.#waiting += 1;
    const turn = this.#last.then(() => this.#run(task));
    this.#last = turn.catch(() => {});
    try {
      return await turn;
    } finally {
      this.#waiting -= 1;
    }
  }

  async #run(task: SchemaTask): Promise<SchemaReport> {
    clearTimeout(this.#idleTimer);
    this.#worker ??= newWorker();
    const worker = this.#worker;
    const { promise, resolve } = Promise.withResolvers<SchemaReport | null>();
    const answered = (report: SchemaReport) => resolve(report);
    const lost = () => resolve(null);
    const timer = setTimeout(lost, schemaBudget.taskMs);
    worker.on("message", answered).on("error", lost).on("exit", lost).ref();
    worker.postMessage(task);
    const report = await promise;
    clearTimeout(timer);
    worker.off("message", answered).off("error", lost).off("exit", lost).unref();
    if (report === null) {
      worker.on("error", () => {});
      this.close();
      return { kind: "spent" };
    }
    this.#idleTimer = setTimeout(() => this.close(), schemaBudget.idleMs).unref();
    return report;
  }
}

function newWorker(): Worker {
  // As source it runs as it is; published, both are JavaScript.
  const file = import.meta.url.endsWith(".ts") ? "./schema-thread.ts" : "./schema-thread.js";
  return new Worker(fileURLToPath(new URL(file, import.meta.url)), {
    name: "locallm schemas",
    resourceLimits: { maxOldGenerationSizeMb: schemaBudget.memoryMb, maxYoungGenerationSizeMb: 32 },
  });
}

function textOf(wishes: readonly SchemaWish[]): string {
  try {
    return JSON.stringify(wishes);
  } catch {
    // The stack is too small for it.
    throw new SchemaError("", "is nested too deep");
  }
}
