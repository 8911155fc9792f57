import { BudgetedThreads, type ThreadBudget } from "../budgeted-threads.ts";
import {
  BudgetSpent,
  SchemaError,
  type SchemaWish,
  type WrittenSchemas,
  writeSchemas,
} from "./written-schemas.ts";

/** These numbers and those of `schemaThreadBudget` are documented in docs/locallm/limits.md. */
export const schemaBudget = {
  /** A schema that needs no more steps (some milliseconds) is read without a thread. */
  quickSteps: 15_000,
  steps: 1_500_000,
  /** The maximum number of waiting and running tasks. Further tasks fail. */
  tasks: 64,
  /** The total number of characters of the schemas whose grammars are cached. */
  keptChars: 2 << 20,
} as const;

export const schemaThreadBudget: ThreadBudget = {
  quickThreads: 1,
  slowThreads: 2,
  quickMs: 200,
  processorMs: 4000,
  memoryMb: 256,
  idleMs: 10_000,
};

export type SchemaTask =
  | { readonly kind: "write"; readonly wishes: readonly SchemaWish[] }
  | { readonly kind: "check"; readonly schema: unknown; readonly text: string };

export type SchemaFault = { readonly kind: "spent" } | { readonly kind: "refused"; readonly problem: string };

/** Reads schemas: small ones at once, others in threads that are ended when they take too long. */
export class SchemaThreads {
  readonly #threads: BudgetedThreads<SchemaTask, WrittenSchemas | readonly string[], SchemaFault>;
  /** The grammars by the text of their schemas, oldest first. */
  readonly #known = new Map<string, WrittenSchemas>();
  #knownChars = 0;
  #tasks = 0;

  constructor(budget: ThreadBudget = schemaThreadBudget) {
    const module = new URL("schema-thread", import.meta.url);
    this.#threads = new BudgetedThreads({ module, name: "locallm schemas", budget });
  }

  /** Returns null if the work takes too long. Throws SchemaError. */
  async write(wishes: readonly SchemaWish[]): Promise<WrittenSchemas | null> {
    const key = textOf(wishes);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const written = await this.#write(wishes);
    if (written !== null) this.#keep(key, written);
    return written;
  }

  /** Returns the problems of a finished answer, or null if the check takes too long. */
  async check(schema: unknown, text: string): Promise<readonly string[] | null> {
    const outcome = await this.#inThread({ kind: "check", schema, text });
    return outcome?.kind === "done" ? (outcome.result as readonly string[]) : null;
  }

  close(): void {
    this.#threads.close();
  }

  async #write(wishes: readonly SchemaWish[]): Promise<WrittenSchemas | null> {
    try {
      return writeSchemas(wishes, schemaBudget.quickSteps);
    } catch (error) {
      if (!(error instanceof BudgetSpent)) throw error;
    }
    const outcome = await this.#inThread({ kind: "write", wishes });
    if (outcome?.kind === "done") return outcome.result as WrittenSchemas;
    if (outcome?.kind === "not_sent") throw new SchemaError("", "is nested too deep");
    if (outcome?.kind === "failed" && outcome.fault.kind === "refused")
      throw new SchemaError("", outcome.fault.problem, true);
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

  async #inThread(task: SchemaTask) {
    if (this.#tasks >= schemaBudget.tasks) return null;
    this.#tasks += 1;
    try {
      return await this.#threads.run(task);
    } finally {
      this.#tasks -= 1;
    }
  }
}

function textOf(wishes: readonly SchemaWish[]): string {
  try {
    return JSON.stringify(wishes);
  } catch {
    // The stack is too small to print it.
    throw new SchemaError("", "is nested too deep");
  }
}
