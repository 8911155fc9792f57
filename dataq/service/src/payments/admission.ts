import type { PaymentProvider } from "@dataq/contract/wire";
import type { Database, Queries } from "../database/database.ts";

/** A provider that does not accept our keys, or a request for which they lack a right, since when, and what it said last. */
export interface ShutOut {
  readonly provider: PaymentProvider;
  readonly since: Date;
  readonly said: string;
  /** Null: the keys are not accepted at all. */
  readonly right: string | null;
}

/**
 * Remembers for all services which providers do not let this one in, until they do again; `takeAlerts` tells the
 * operator.
 */
export class Admissions {
  readonly #database: Database;
  readonly #clock: () => Date;
  readonly #onWarning: (text: string, error: Error) => void;
  /** For what providers let this process in when it asked last, so that nothing needs to be written. */
  readonly #open = new Map<PaymentProvider, Set<string>>();

  constructor(database: Database, clock: () => Date, onWarning: (text: string, error: Error) => void) {
    this.#database = database;
    this.#clock = clock;
    this.#onWarning = onWarning;
  }

  /** `said`: why a provider did not let us in; undefined if it did. `right`: what the request needed, if there are rights. */
  async note(provider: PaymentProvider, said: string | undefined, right?: string): Promise<void> {
    const open = this.#open.get(provider) ?? new Set();
    this.#open.set(provider, open);
    if (said === undefined && open.has(right ?? "")) return;
    try {
      if (said === undefined) {
        // A request for which another right is needed says nothing of the missing one.
        await this.#database.query(
          "delete from provider_shut where provider = $1 and (missing_right is null or missing_right = $2)",
          [provider, right ?? null],
        );
        open.add(right ?? "");
        return;
      }
      open.clear();
      await this.#database.query(
        `insert into provider_shut (provider, since, said, missing_right) values ($1, $2, $3, $4)
         on conflict (provider) do update set said = excluded.said, missing_right = excluded.missing_right`,
        [provider, this.#clock(), said.slice(0, 300), right ?? null],
      );
    } catch (error) {
      this.#onWarning(`could not note whether ${provider} lets us in`, error as Error);
    }
  }
}

export async function listShutOut(queries: Queries): Promise<ShutOut[]> {
  const found = await queries.query<ShutOut>(
    `select provider, since, said, missing_right as "right" from provider_shut order by since`,
  );
  return found.rows;
}
