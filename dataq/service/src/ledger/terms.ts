import { chinaDate, instantInChina, type SpecialReason } from "@dataq/contract";
import type { Database } from "../database/database.ts";
import { FRESH_MS, inForceAt, type PriceList, type PriceVersion } from "./price.ts";
import { discounted, percentOf, readVolume, type VolumeLadder } from "./volume.ts";

/** The price of one account for an operation from a time on; null: the list price again. */
export interface AccountPrice {
  readonly operation: string;
  readonly version: number;
  readonly tokens: number | null;
  readonly cachedTokens: number | null;
  readonly effectiveFrom: Date;
}

/** Calls of an operation that each account has for nothing on each day of China's calendar. */
export interface FreeTier {
  readonly operation: string;
  readonly version: number;
  readonly calls: number;
  readonly effectiveFrom: Date;
}

/** What a coupon takes off the list price for a time. */
interface Discount {
  readonly id: string;
  readonly percent: number;
  readonly from: Date;
  readonly until: Date;
}

/** What holds for all accounts. */
interface Plans {
  readonly freeTiers: readonly FreeTier[];
  readonly ladders: readonly VolumeLadder[];
  /** Whether any account has prices of its own or a discount. */
  readonly hasOwn: boolean;
}

/** What holds for one account. */
interface OwnTerms {
  readonly prices: readonly AccountPrice[];
  readonly discounts: readonly Discount[];
}

/** A price below the list, and what it follows from. */
interface Special {
  readonly reason: SpecialReason;
  readonly ref: string;
  readonly percent: number | null;
  readonly tokens: number;
  readonly cachedTokens: number | null;
  readonly since: Date;
}

const MOST_KEPT = 10_000;

/**
 * What each account pays: the list price, its own price, or the list price less the larger of what its volume and its
 * coupons take off. Everything that is read here is announced a minute ahead, so that all instances agree.
 */
export class Terms {
  readonly #database: Database;
  readonly #prices: PriceList;
  #plans: { readonly atMs: number; readonly plans: Plans } | undefined;
  readonly #own = new Map<string, { readonly atMs: number; readonly terms: OwnTerms }>();
  readonly #volumes = new Map<string, number>();
  readonly #versions = new Map<string, number>();

  constructor(database: Database, prices: PriceList) {
    this.#database = database;
    this.#prices = prices;
  }

  /** Forces the next use to read everything again. */
  forget(): void {
    this.#plans = undefined;
    this.#own.clear();
  }

  /** The price of an operation for an account. Its version is what a hold names. */
  async priceOf(accountId: string, operation: string, now: Date): Promise<PriceVersion> {
    const list = await this.#prices.find(operation, now);
    const special = await this.#specialOf(accountId, list, now);
    if (special === undefined) return list;
    return {
      operation,
      version: await this.#versionOf(accountId, list, special),
      tokens: special.tokens,
      cachedTokens: special.cachedTokens,
      effectiveFrom: special.since,
      special: { reason: special.reason, listTokens: list.tokens },
    };
  }

  /** Calls of an operation that are free at this time, for each account and day. */
  async freeCallsOf(operation: string, now: Date): Promise<number> {
    return inForceAt((await this.plans(now)).freeTiers, operation, now)?.calls ?? 0;
  }

  /** Every version, past, in force and announced. */
  async plans(now: Date): Promise<Plans> {
    const nowMs = now.getTime();
    if (this.#plans === undefined || Math.abs(nowMs - this.#plans.atMs) > FRESH_MS)
      this.#plans = { atMs: nowMs, plans: await this.#readPlans() };
    return this.#plans.plans;
  }

  async #readPlans(): Promise<Plans> {
    const { pool } = this.#database;
    const tiers = await pool.query<FreeTier>(
      `select operation, version, calls, effective_from as "effectiveFrom" from free_tier order by operation, version`,
    );
    const ladders = await pool.query<VolumeLadder>(
      `select version, steps, effective_from as "effectiveFrom" from volume_ladder order by version`,
    );
    const own = await pool.query<{ has: boolean }>(
      "select exists (select from account_price) or exists (select from discount) as has",
    );
    return { freeTiers: tiers.rows, ladders: ladders.rows, hasOwn: own.rows[0]!.has };
  }

  async #specialOf(accountId: string, list: PriceVersion, now: Date): Promise<Special | undefined> {
    const { ladders, hasOwn } = await this.plans(now);
    const own = hasOwn ? await this.#ownTerms(accountId, now) : undefined;
    const fixed = own && inForceAt(own.prices, list.operation, now);
    if (fixed && fixed.tokens !== null)
      return {
        reason: "account_price",
        ref: String(fixed.version),
        percent: null,
        tokens: fixed.tokens,
        cachedTokens: fixed.cachedTokens,
        since: fixed.effectiveFrom,
      };
    const ladder = ladders.findLast(({ effectiveFrom }) => effectiveFrom <= now);
    const byVolume = ladder?.steps.length ? percentOf(ladder, await this.#volumeOf(accountId, now)) : 0;
    const coupons = (own?.discounts ?? []).filter(({ from, until }) => from <= now && now < until);
    const coupon = coupons.reduce<Discount | undefined>(
      (best, one) => (best === undefined || one.percent > best.percent ? one : best),
      undefined,
    );
    if (byVolume === 0 && coupon === undefined) return undefined;
    const off = coupon !== undefined && coupon.percent > byVolume ? coupon : undefined;
    const percent = off?.percent ?? byVolume;
    return {
      reason: off ? "coupon" : "volume_discount",
      ref: off ? off.id : String(ladder!.version),
      percent,
      ...discounted(list, percent),
      since: off ? off.from : ladder!.effectiveFrom,
    };
  }

  async #ownTerms(accountId: string, now: Date): Promise<OwnTerms> {
    const kept = this.#own.get(accountId);
    if (kept && Math.abs(now.getTime() - kept.atMs) <= FRESH_MS) return kept.terms;
    const { pool } = this.#database;
    const prices = await listAccountPrices(this.#database, accountId);
    const discounts = await pool.query<Discount>(
      `select id, percent, effective_from as "from", effective_until as "until" from discount
       where account_id = $1 and effective_until > $2 order by id`,
      [accountId, now],
    );
    const terms = { prices, discounts: discounts.rows };
    if (this.#own.size >= MOST_KEPT) this.#own.clear();
    this.#own.set(accountId, { atMs: now.getTime(), terms });
    return terms;
  }

  /** What the account had spent this month before today. It does not change during the day. */
  async #volumeOf(accountId: string, now: Date): Promise<number> {
    const day = chinaDate(now);
    const key = `${accountId} ${day}`;
    const kept = this.#volumes.get(key);
    if (kept !== undefined) return kept;
    const tokens = await readVolume(
      this.#database,
      accountId,
      day,
      new Date(instantInChina(day, "00:00:00")),
    );
    if (this.#volumes.size >= MOST_KEPT) this.#volumes.clear();
    this.#volumes.set(key, tokens);
    return tokens;
  }

  async #versionOf(accountId: string, list: PriceVersion, special: Special): Promise<number> {
    const { reason, ref, percent, tokens, cachedTokens } = special;
    const key = [accountId, list.operation, list.version, reason, ref, percent].join(" ");
    const kept = this.#versions.get(key);
    if (kept !== undefined) return kept;
    // Of the two times on which the price depends, the later one: a hold is never older than its price.
    const since = new Date(Math.max(special.since.getTime(), list.effectiveFrom.getTime()));
    const values = [accountId, list.operation, list.version, reason, ref, percent];
    await this.#database.pool.query(
      `insert into special_price (account_id, operation, list_version, source, source_ref, percent, tokens, cached_tokens, effective_from)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict do nothing`,
      [...values, tokens, cachedTokens, since],
    );
    const found = await this.#database.pool.query<{ version: number }>(
      `select version from special_price where account_id = $1 and operation = $2 and list_version = $3
       and source = $4 and source_ref = $5 and percent is not distinct from $6`,
      values,
    );
    const { version } = found.rows[0]!;
    if (this.#versions.size >= MOST_KEPT) this.#versions.clear();
    this.#versions.set(key, version);
    return version;
  }
}

/** Every price that an account was given, by operation and version. */
export async function listAccountPrices(
  { pool }: Pick<Database, "pool">,
  accountId: string,
): Promise<AccountPrice[]> {
  const found = await pool.query<AccountPrice>(
    `select operation, version, tokens, cached_tokens as "cachedTokens", effective_from as "effectiveFrom"
     from account_price where account_id = $1 order by operation, version`,
    [accountId],
  );
  return found.rows;
}
