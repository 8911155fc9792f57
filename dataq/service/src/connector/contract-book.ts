import { statSync } from "node:fs";
import { readContracts } from "./configured.ts";
import { Contract } from "./contract.ts";
import type { Gate } from "./gate.ts";

/** How often the file is looked at while the service answers calls. */
const LOOK_EVERY_MS = 50;

/**
 * The operator's contracts. A change of the file takes effect at once, without a restart; a file that cannot be
 * used changes nothing, and `onTrouble` says why.
 */
export class ContractBook {
  readonly #path: string;
  readonly #gate: Gate;
  readonly #onTrouble: (message: string) => void;
  #contracts: readonly Contract[] = [];
  #read = "";
  #lookedAt = 0;
  #reading: Promise<void> | undefined;

  readonly #now: () => number;

  private constructor(path: string, gate: Gate, onTrouble: (message: string) => void, now: () => number) {
    this.#now = now;
    this.#path = path;
    this.#gate = gate;
    this.#onTrouble = onTrouble;
  }

  /** Throws an error that names the entry if the file cannot be used. */
  static async open(
    path: string,
    gate: Gate,
    onTrouble: (message: string) => void,
    now: () => number = Date.now,
  ): Promise<ContractBook> {
    const book = new ContractBook(path, gate, onTrouble, now);
    await book.#load(stampOf(path));
    return book;
  }

  /** All contracts, in the order of the file. */
  async all(): Promise<readonly Contract[]> {
    await this.#look(Date.now());
    return this.#contracts;
  }

  /** The contracts that answer an operation, in the order in which they are asked. */
  async of(operation: string): Promise<readonly Contract[]> {
    return (await this.all()).filter((contract) => contract.adapter(operation) !== undefined);
  }

  /** Reads the file at once, after it was written. */
  async refresh(): Promise<void> {
    this.#lookedAt = 0;
    await this.#look(Date.now());
  }

  async #look(nowMs: number): Promise<void> {
    if (this.#reading !== undefined) return this.#reading;
    if (nowMs - this.#lookedAt < LOOK_EVERY_MS && nowMs >= this.#lookedAt) return;
    this.#lookedAt = nowMs;
    const stamp = stampOf(this.#path);
    if (stamp === this.#read) return;
    this.#reading = this.#load(stamp)
      .catch((error: unknown) => {
        this.#read = stamp;
        this.#onTrouble((error as Error).message);
      })
      .finally(() => {
        this.#reading = undefined;
      });
    await this.#reading;
  }

  async #load(stamp: string): Promise<void> {
    const parts = await readContracts(this.#path);
    this.#contracts = parts.map((each) => new Contract(each, this.#gate, this.#now));
    this.#read = stamp;
  }
}

/** Changes whenever the file is written. */
function stampOf(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? "" : `${found.ino} ${found.size} ${found.mtimeMs}`;
}
