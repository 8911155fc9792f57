import { Failure } from "@dataq/contract";
import type { Database, Queries } from "../database/database.ts";
import { inTransaction, type Transaction } from "../database/transaction.ts";
import type { Reason } from "./movement.ts";
import { ownNotes } from "./own-notes.ts";
import { inOrder, plainOf, type Slice, type Spread, spread, type Use } from "./package-spread.ts";

const DAY_MS = 86_400_000;
const PIECE = 5_000;

/** A package that an account bought. */
export interface Package {
  readonly id: string;
  readonly paymentId: string;
  readonly tokens: number;
  /** What the account paid, in tokens at the common rate. The rest of `tokens` is a bonus. */
  readonly priceTokens: number;
  readonly left: number;
  readonly boughtAt: Date;
  readonly endsAt: Date;
  readonly endedAt: Date | null;
}

/** The packages of an account, with its wallet locked and everything applied that the ledger has. */
interface Held extends Spread {
  readonly accountId: string;
  readonly packages: readonly Package[];
}

/**
 * Credits a package in the transaction of its payment. Its tokens are paid tokens with an end; they do not repay a credit
 * line. The price is `payments`, the bonus `promotions`. Returns false if the payment was credited before.
 */
export async function buyPackage(
  transaction: Transaction,
  accountId: string,
  bought: {
    readonly paymentId: string;
    readonly tokens: number;
    readonly priceTokens: number;
    readonly days: number;
    readonly reference: string;
  },
  reason: Reason,
): Promise<boolean> {
  await catchUp(transaction, accountId);
  const { paymentId, tokens, priceTokens, days, reference } = bought;
  const endsAt = new Date(reason.now.getTime() + days * DAY_MS);
  const made = await transaction.query(
    `with moved as (
       update wallet set paid = paid + $2::bigint, part_trial = 0, part_paid = $2, part_credit = 0, seq = seq + 1,
         touched_at = greatest(touched_at, $3::timestamptz), package_ends_at = least(package_ends_at, $4::timestamptz)
       where account_id = $1 and not exists (select from entry where kind = 'topup' and reference = $5) returning *
     )
     insert into entry (account_id, seq, at, kind, paid, payments, promotions, balance_after, actor, note, reference)
     select $1, seq, touched_at, 'topup', $2, -$6::bigint, $6 - $2, trial + paid + credit, $7, $8, $5 from moved`,
    [accountId, tokens, reason.now, endsAt, reference, priceTokens, reason.actor, reason.note],
  );
  if (made.rowCount === 0) return false;
  await transaction.query(
    `insert into package (id, account_id, payment_id, tokens, price_tokens, left_tokens, bought_at, ends_at)
     values ($1, $2, $3, $4, $5, $4, $6, $7)`,
    [packageIdOf(paymentId), accountId, paymentId, tokens, priceTokens, reason.now, endsAt],
  );
  await reach(transaction, accountId);
  return true;
}

/** One package comes with one payment. */
function packageIdOf(paymentId: string): string {
  return paymentId.replace(/^pay_/, "pkg_");
}

/** Takes what is left of packages that have ended, the one that ended first before the others. */
export async function expirePackages(transaction: Transaction, accountId: string, now: Date): Promise<void> {
  const held = await catchUp(transaction, accountId);
  if (!held) return;
  for (const slice of inOrder(held.slices)) {
    if (slice.endsAt > now) break;
    await endSlice(transaction, accountId, slice.id, slice.left, now);
    if (slice.left > 0)
      await transaction.query(
        `with moved as (
           update wallet set paid = paid - $2::bigint, part_trial = 0, part_paid = -$2, part_credit = 0, seq = seq + 1,
             touched_at = greatest(touched_at, $3::timestamptz) where account_id = $1 returning *
         )
         insert into entry (account_id, seq, at, kind, paid, breakage, balance_after, actor, note, reference)
         select $1, seq, touched_at, 'expire', -$2, $2, trial + paid + credit, 'system', $4, $5 from moved`,
        [accountId, slice.left, now, ownNotes.packageOver, `package:${slice.id}`],
      );
  }
  await reach(transaction, accountId);
}

/** Takes what is left of ended packages from all accounts, and keeps what each has left up to date. */
export async function sweepPackages(database: Database, now: Date): Promise<void> {
  const behind = await database.query<{ account_id: string }>(
    `select w.account_id from wallet w join package_position p using (account_id)
     where w.package_ends_at is not null and (w.seq > p.seq or w.package_ends_at <= $1) limit 1000`,
    [now],
  );
  for (const { account_id } of behind.rows)
    await inTransaction(database, (transaction) => expirePackages(transaction, account_id, now));
}

export async function expirePackagesOf(database: Database, accountId: string, now: Date): Promise<void> {
  await inTransaction(database, (transaction) => expirePackages(transaction, accountId, now));
}

/** Packages of an account, newest first. */
export async function listPackages(database: Database, accountId: string, now: Date): Promise<Package[]> {
  await expirePackagesOf(database, accountId, now);
  return read(database, accountId);
}

/** Paid tokens that are no package's; undefined if the account never had one. Locks the wallet. */
export async function plainTokens(transaction: Transaction, accountId: string): Promise<number | undefined> {
  const held = await catchUp(transaction, accountId);
  return held && plainOf(held);
}

/** The package of a payment, with the wallet locked. */
export async function packageOfPayment(
  transaction: Transaction,
  accountId: string,
  paymentId: string,
): Promise<{ readonly package: Package; readonly plain: number } | undefined> {
  const held = await catchUp(transaction, accountId);
  const found = held?.packages.find((one) => one.paymentId === paymentId);
  if (!held || !found) return undefined;
  const { left } = held.slices.find(({ id }) => id === found.id)!;
  return { package: { ...found, left }, plain: plainOf(held) };
}

/** What goes back of a package when its money does. */
export interface PackageReturn {
  readonly kind: "refund" | "chargeback";
  /** Tokens of the money, at the common rate. */
  readonly tokens: number;
  /** Taken from the package, and from other paid tokens. */
  readonly fromPackage: number;
  readonly fromPlain: number;
  /** The part of the bonus that is not the account's any more. */
  readonly bonus: number;
  /** Whether the package ends with it. */
  readonly ends: boolean;
  readonly reference: string;
}

/**
 * Takes the tokens of a package whose money goes back, as an entry of the kind of the return. What is missing is written
 * off against `adjustments`, and less than a fen is `breakage`.
 */
export async function returnPackage(
  transaction: Transaction,
  accountId: string,
  packageId: string,
  back: PackageReturn,
  reason: Reason,
): Promise<void> {
  const { kind, tokens, fromPackage, fromPlain, bonus, ends, reference } = back;
  const rest = fromPackage + fromPlain - tokens - bonus;
  await transaction.query(
    `with moved as (
       update wallet set paid = paid - $2::bigint, part_trial = 0, part_paid = -$2, part_credit = 0, seq = seq + 1,
         touched_at = greatest(touched_at, $3::timestamptz) where account_id = $1 returning *
     )
     insert into entry (account_id, seq, at, kind, paid, payments, promotions, breakage, adjustments, balance_after, actor, note, reference)
     select $1, seq, touched_at, $4, -$2, $5::bigint, $6::bigint, $7::bigint, $8::bigint, trial + paid + credit, $9, $10, $11 from moved`,
    [
      accountId,
      fromPackage + fromPlain,
      reason.now,
      kind,
      tokens,
      bonus,
      Math.max(0, rest),
      Math.min(0, rest),
      reason.actor,
      reason.note,
      reference,
    ],
  );
  if (ends) await endSlice(transaction, accountId, packageId, fromPackage, reason.now);
  else
    await transaction.query(
      "update package set left_tokens = left_tokens - $2, taken = taken + $2 where id = $1",
      [packageId, fromPackage],
    );
  await reach(transaction, accountId);
}

/** Opens a package again whose money did not leave, after the entry that returned its tokens to the wallet. */
export async function reopenPackage(
  transaction: Transaction,
  accountId: string,
  packageId: string,
  tokens: number,
): Promise<void> {
  await transaction.query(
    `update package set left_tokens = left_tokens + $2, taken = taken - $2, ended_at = null where id = $1`,
    [packageId, tokens],
  );
  await reach(transaction, accountId);
}

async function endSlice(
  transaction: Transaction,
  accountId: string,
  id: string,
  left: number,
  now: Date,
): Promise<void> {
  await transaction.query(
    "update package set left_tokens = 0, taken = taken + $3, ended_at = $4 where account_id = $1 and id = $2",
    [accountId, id, left, now],
  );
}

/** Says that the packages are as the ledger is now, and when the first of them ends. */
async function reach(transaction: Transaction, accountId: string): Promise<void> {
  await transaction.query(
    `with w as (
       update wallet set package_ends_at = (select min(ends_at) from package where account_id = $1 and ended_at is null)
       where account_id = $1 returning seq, paid
     )
     insert into package_position (account_id, seq, paid) select $1, seq, paid from w
     on conflict (account_id) do update set seq = excluded.seq, paid = excluded.paid`,
    [accountId],
  );
}

/** Locks the wallet and applies the entries since the last time. Undefined for an account that never had a package. */
async function catchUp(transaction: Transaction, accountId: string): Promise<Held | undefined> {
  await transaction.query("select from wallet where account_id = $1 for update", [accountId]);
  const at = await transaction.query<{ seq: number; paid: number }>(
    "select seq, paid from package_position where account_id = $1",
    [accountId],
  );
  const position = at.rows[0];
  if (!position) return undefined;
  const packages = await read(transaction, accountId);
  const slices: Slice[] = packages.map(({ id, endsAt, endedAt, left }) => ({
    id,
    endsAt,
    isOpen: endedAt === null,
    left,
    taken: 0,
  }));
  const state: Spread = { paid: position.paid, slices, uses: new Map() };
  for (let last = position.seq; ; ) {
    const found = await transaction.query<{
      seq: number;
      requestId: string | null;
      paid: number;
      at: Date;
      use: Use | null;
    }>(
      `select e.seq, e.request_id as "requestId", e.paid, e.at, u.use from entry e
       left join package_use u on u.request_id = e.request_id and e.paid > 0
       where e.account_id = $1 and e.seq > $2 order by e.seq limit ${PIECE}`,
      [accountId, last],
    );
    for (const { use, ...change } of found.rows) {
      if (change.paid === 0) continue;
      if (use && change.requestId !== null && !state.uses.has(change.requestId))
        state.uses.set(change.requestId, use);
      spread(state, change);
    }
    if (found.rows.length < PIECE) break;
    last = found.rows.at(-1)!.seq;
  }
  await store(transaction, accountId, state);
  return { ...state, accountId, packages };
}

async function store(transaction: Transaction, accountId: string, { slices, uses }: Spread): Promise<void> {
  await transaction.query(
    `update package p set left_tokens = s.left_tokens, taken = p.taken + s.taken
     from unnest($1::text[], $2::bigint[], $3::bigint[]) as s(id, left_tokens, taken)
     where p.id = s.id and (p.left_tokens <> s.left_tokens or s.taken <> 0)`,
    [slices.map(({ id }) => id), slices.map(({ left }) => left), slices.map(({ taken }) => taken)],
  );
  if (uses.size > 0)
    await transaction.query(
      `insert into package_use (request_id, account_id, use)
       select id, $1, use from unnest($2::text[], $3::jsonb[]) as u(id, use)
       on conflict (request_id) do update set use = excluded.use`,
      [accountId, [...uses.keys()], [...uses.values()].map((use) => JSON.stringify(use))],
    );
  await reach(transaction, accountId);
}

async function read(queries: Queries, accountId: string): Promise<Package[]> {
  const found = await queries.query<Package>(
    `select id, payment_id as "paymentId", tokens, price_tokens as "priceTokens", left_tokens as left,
            bought_at as "boughtAt", ends_at as "endsAt", ended_at as "endedAt"
     from package where account_id = $1 order by id desc`,
    [accountId],
  );
  return found.rows;
}

/** A package that operators offer. */
export interface Offer {
  readonly id: string;
  readonly tokens: number;
  readonly priceFen: number;
  readonly days: number;
  readonly createdAt: Date;
}

export async function createOffer(queries: Queries, offer: Offer): Promise<void> {
  const { id, tokens, priceFen, days, createdAt } = offer;
  await queries.query(
    "insert into package_offer (id, tokens, price_fen, days, created_at) values ($1, $2, $3, $4, $5)",
    [id, tokens, priceFen, days, createdAt],
  );
}

/** Ends an offer. What was bought stays. Throws `not_found`. */
export async function endOffer(queries: Queries, id: string, now: Date): Promise<void> {
  const ended = await queries.query(
    "update package_offer set ended_at = $2 where id = $1 and ended_at is null",
    [id, now],
  );
  if (ended.rowCount === 0) throw new Failure("not_found", { what: `The package ${id.slice(0, 64)}` });
}

/** Offers that can be bought, the cheapest first. */
export async function listOffers(queries: Queries): Promise<Offer[]> {
  const found = await queries.query<Offer>(
    `select id, tokens, price_fen as "priceFen", days, created_at as "createdAt" from package_offer
     where ended_at is null order by price_fen, id`,
  );
  return found.rows;
}
