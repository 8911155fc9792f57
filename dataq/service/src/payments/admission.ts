import type { PaymentProvider } from "@dataq/contract/wire";
import type { Database, Queries } from "../database/database.ts";

/** A provider that does not accept our keys, since when, and what it said last. */
export interface ShutOut {
  readonly provider: PaymentProvider;
  readonly since: Date;
  readonly said: string;
}

/**
 * Remembers for all services which providers do not let this one in, until they do again; `takeAlerts` tells the
 * operator.
 */
export class Admissions {
  readonly #database: Database;
  readonly #clock: () => Date;
  readonly #onWarning: (text: string, error: Error) => void;
  /** Providers that let this process in when it asked last, so that nothing needs to be written. */
  readonly #open = new Set<PaymentProvider>();

  constructor(database: Database, clock: () => Date, onWarning: (text: string, error: Error) => void) {
    this.#database = database;
    this.#clock = clock;
    this.#onWarning = onWarning;
  }

  /** `said`: why a provider did not let us in; undefined if it did. */
  async note(provider: PaymentProvider, said: string | undefined): Promise<void> {
    if (said === undefined && this.#open.has(provider)) return;
    try {
      if (said === undefined) {
        await this.#database.query("delete from provider_shut where provider = $1", [provider]);
        this.#open.add(provider);
        return;
      }
      this.#open.delete(provider);
      await this.#database.query(
        `insert into provider_shut values ($1, $2, $3) on conflict (provider) do update set said = excluded.said`,
        [provider, this.#clock(), said.slice(0, 300)],
      );
    } catch (error) {
      this.#onWarning(`could not note whether ${provider} lets us in`, error as Error);
    }
  }
}

export async function listShutOut(queries: Queries): Promise<ShutOut[]> {
  return (await queries.query<ShutOut>("select provider, since, said from provider_shut order by since"))
    .rows;
}
