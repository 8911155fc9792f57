import { findOperation, type Operation, operations, priceGroups, type SpecialReason } from "@dataq/contract";
import type { Database, Queries } from "../database/database.ts";

/** The price of an operation from a certain time on. Rows are only added. */
export interface PriceVersion {
  readonly operation: string;
  readonly version: number;
  readonly tokens: number;
  /** Price of a repeat. If null, repeats cost the list price and are not answered from the cache. */
  readonly cachedTokens: number | null;
  readonly effectiveFrom: Date;
  /** Set if the account pays less than the list price, with the reason. */
  readonly special?: { readonly reason: SpecialReason; readonly listTokens: number };
}

/** How long an instance uses the list that it read. New prices are announced further ahead. */
export const FRESH_MS = 30_000;

/** The price list as this process last read it. */
export class PriceList {
  readonly #database: Database;
  #versions: readonly PriceVersion[] = [];
  #readAtMs = Number.NEGATIVE_INFINITY;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * The price in force at `now`. The first one has no beginning: a clock that was ahead when it was published may have
   * been set back.
   */
  async find(operation: string, now: Date): Promise<PriceVersion> {
    const all = await this.all(now);
    const isFirst = (one: PriceVersion) => one.operation === operation && one.version === 1;
    const inForce = inForceAt(all, operation, now) ?? all.find(isFirst);
    if (!inForce) throw new Error(`The operation ${operation} has no price.`);
    return inForce;
  }

  /** Forces the next use to read the list again. */
  forget(): void {
    this.#readAtMs = Number.NEGATIVE_INFINITY;
  }

  /** Every version: past, in force and announced. */
  async all(now: Date): Promise<readonly PriceVersion[]> {
    if (Math.abs(now.getTime() - this.#readAtMs) > FRESH_MS) {
      const found = await this.#database.pool.query<PriceVersion>(
        `select operation, version, tokens, cached_tokens as "cachedTokens", effective_from as "effectiveFrom"
         from price order by operation, version`,
      );
      this.#versions = found.rows;
      this.#readAtMs = now.getTime();
    }
    return this.#versions;
  }
}

/** The newest of the versions in force. */
export function inForceAt<Version extends Pick<PriceVersion, "operation" | "effectiveFrom">>(
  versions: readonly Version[],
  operation: string,
  now: Date,
): Version | undefined {
  return versions.findLast((version) => version.operation === operation && version.effectiveFrom <= now);
}

/** Publishes the first price of operations without one, from the contract. */
export async function publishFirstPrices(database: Database, now: Date): Promise<void> {
  const list: readonly Operation[] = operations;
  for (const { name, priceGroup } of list) {
    const { tokens, cachedTokens } = priceGroups[priceGroup];
    await database.pool.query(
      "insert into price (operation, version, tokens, cached_tokens, effective_from, actor) values ($1, 1, $2, $3, $4, 'system') on conflict do nothing",
      [name, tokens, cachedTokens, now],
    );
  }
}

/** Announces a price. Returns its version, or undefined for an unknown operation. */
export async function publishPrice(
  queries: Queries,
  price: {
    readonly operation: string;
    readonly tokens: number;
    readonly cachedTokens: number | null;
    readonly effectiveFrom: Date;
    readonly actor: string;
  },
): Promise<number | undefined> {
  if (!findOperation(price.operation)) return undefined;
  const made = await queries.query<{ version: number }>(
    `insert into price (operation, version, tokens, cached_tokens, effective_from, actor)
     select $1, coalesce(max(version), 0) + 1, $2, $3, $4, $5 from price where operation = $1 returning version`,
    [price.operation, price.tokens, price.cachedTokens, price.effectiveFrom, price.actor],
  );
  return made.rows[0]!.version;
}
