import { isDeepStrictEqual } from "node:util";
import { invalid, tokensPerCny } from "@dataq/contract";
import type { PaymentNews, PaymentTrouble } from "@dataq/contract/wire";
import { findAccount, payIn } from "../accounts/account.ts";
import { type Author, writeAudit } from "../accounts/audit.ts";
import { makeIdentifier } from "../database/identifier.ts";
import type { Transaction } from "../database/transaction.ts";
import { ownNotes } from "../ledger/own-notes.ts";
import {
  type PackageReturn,
  packageOfPayment,
  plainTokens,
  reopenPackage,
  returnPackage,
} from "../ledger/package.ts";
import { takeBack, undoReturn } from "../ledger/returned-payment.ts";
import { readWallet, setFrozen } from "../ledger/wallet.ts";
import { noteCharged, noteFailed } from "./auto-top-up.ts";
import {
  ledgerReference,
  lockPayment,
  type MoneyReturn,
  type Payment,
  returnedFen,
  returnsOf,
} from "./payment.ts";
import type { News } from "./provider.ts";

export interface NewsRules {
  readonly freezeOnChargeback: boolean;
  readonly heardBy: PaymentNews;
  /** Book only what is left of the payment if more went back; false: say `early`. */
  readonly capsExcess: boolean;
}

/** How long after the creation of a return its provider is asked for its state. */
const ASK_RETURN_AFTER_MS = 30_000;

/**
 * Books what a provider states about a payment, together with the ledger. Every fact is booked once and never goes
 * backwards, so facts may come in any order and any number of times. Returns `unpaid` for money that goes back before
 * we know that it came: the provider must be asked for the payment first. Returns `early` for money that does not
 * fit: a refund that we count has failed meanwhile.
 */
export async function bookNews(
  transaction: Transaction,
  news: News,
  author: Author,
  rules: NewsRules,
): Promise<"booked" | "unpaid" | "early" | "unknown"> {
  const payment = await lockPayment(transaction, news.paymentId);
  if (!payment) return "unknown";
  if (news.kind === "closed") {
    const isCard = payment.card !== null;
    if (payment.state === "open" || (isCard && payment.state === "expired"))
      await transaction.query("update payment set state = $2, ask_at = null where id = $1", [
        payment.id,
        isCard ? "failed" : "expired",
      ]);
    if (isCard) await noteFailed(transaction, payment, news.reason, author.now);
    return "booked";
  }
  if (news.kind === "paid") {
    await bookPaid(transaction, payment, news, author, rules.heardBy);
    return "booked";
  }
  if (payment.state !== "paid") return "unpaid";
  return bookReturn(transaction, payment, news, author, rules);
}

const noteOf = {
  stripe: ownNotes.paymentStripe,
  alipay: ownNotes.paymentAlipay,
  wechat: ownNotes.paymentWechat,
  bank: ownNotes.paymentBank,
} as const;

async function bookPaid(
  transaction: Transaction,
  payment: Payment,
  news: News & { readonly kind: "paid" },
  author: Author,
  heardBy: PaymentNews,
): Promise<void> {
  if (payment.state === "paid") {
    if (payment.transaction !== news.transaction)
      await note(transaction, payment, author, { code: "paid_twice", transaction: news.transaction });
    return;
  }
  if (news.amountFen !== payment.amountFen || news.currency !== "CNY") {
    const { transaction: number, amountFen: amount, currency } = news;
    await note(transaction, payment, author, { code: "other_amount", transaction: number, amount, currency });
    return;
  }
  const { tokens } = payment;
  const credited = {
    tokens,
    reference: ledgerReference(payment.id),
    note: payment.packageDays === null ? noteOf[payment.provider] : ownNotes.package,
    ...(payment.packageDays !== null && {
      package: {
        paymentId: payment.id,
        priceTokens: commonTokens(payment.amountFen),
        days: payment.packageDays,
      },
    }),
  };
  await payIn(transaction, payment.accountId, credited, author);
  await transaction.query(
    `update payment set state = 'paid', transaction = $2, paid_at = $3, heard_by = $4, ask_at = null where id = $1`,
    [payment.id, news.transaction, author.now, heardBy],
  );
  await noteCharged(transaction, payment.id);
  await writeAudit(transaction, author, "payment.paid", payment.id, null, {
    account: payment.accountId,
    provider: payment.provider,
    amount_fen: payment.amountFen,
    transaction: news.transaction,
  });
  const account = await findAccount(transaction, payment.accountId);
  if (account?.closedAt) await note(transaction, payment, author, { code: "account_closed" });
}

async function bookReturn(
  transaction: Transaction,
  payment: Payment,
  news: News & { readonly kind: "refund" | "chargeback" },
  author: Author,
  { freezeOnChargeback, capsExcess }: NewsRules,
): Promise<"booked" | "early"> {
  const returns = await returnsOf(transaction, payment.id);
  const known = returns.find(
    ({ id, kind, state, providerId }) =>
      kind === news.kind &&
      // A refund that the provider refused moved nothing; if it was made after all, it is another one.
      !(state === "failed" && providerId === null) &&
      ((news.kind === "refund" && id === news.refundId) ||
        (providerId !== null && providerId === news.providerId)),
  );
  if (known) {
    await endReturn(transaction, payment, known, news, author);
    return "booked";
  }
  const reason = news.kind === "refund" ? ownNotes.refund : ownNotes.chargeback;
  const amountFen = Math.min(news.amountFen, payment.amountFen - returnedFen(returns));
  if (amountFen < news.amountFen && news.state !== "failed") {
    if (!capsExcess || returns.some(({ state }) => state === "pending")) return "early";
    await note(transaction, payment, author, { code: "returned_too_much", amount_fen: news.amountFen });
  }
  // What failed before we heard of it moved nothing; it is kept so that older news of it does nothing.
  const wanted = {
    kind: news.kind,
    amountFen: news.state === "failed" ? 0 : amountFen,
    reason,
    isForced: true,
    isOwn: false,
  };
  const made = await startReturn(transaction, payment, returns, wanted, author);
  await endReturn(transaction, payment, made!, news, author);
  const isFrozen =
    news.state !== "failed" && (news.kind === "chargeback" ? freezeOnChargeback : made!.lost > 0);
  if (!isFrozen) return "booked";
  const wallet = await readWallet(transaction, payment.accountId, author.now);
  if (wallet?.frozen) return "booked";
  await setFrozen(transaction, payment.accountId, true);
  await writeAudit(transaction, author, "account.freeze", payment.accountId, null, { payment: payment.id });
  return "booked";
}

/**
 * Takes the tokens of money that goes back, and stores that it does. The payment is locked. Returns undefined if the
 * tokens were spent and the return is not forced.
 */
export async function startReturn(
  transaction: Transaction,
  payment: Payment,
  returns: readonly MoneyReturn[],
  wanted: {
    readonly kind: MoneyReturn["kind"];
    readonly amountFen: number;
    readonly reason: string;
    readonly isForced: boolean;
    readonly isOwn: boolean;
  },
  author: Author,
): Promise<MoneyReturn | undefined> {
  const { kind, amountFen, reason, isForced, isOwn } = wanted;
  const id = makeIdentifier("ret", author.now);
  const tokens = commonTokens(amountFen);
  const reference = ledgerReference(payment.id);
  let taken = { paid: 0, credit: 0, lost: 0 };
  let packageTokens = 0;
  if (tokens > 0 && payment.packageDays !== null) {
    const back = await packageBack(transaction, payment, returns, { amountFen, isForced });
    const why = { actor: author.actor, note: reason, now: author.now };
    const { packageId, ...moved } = back;
    await returnPackage(
      transaction,
      payment.accountId,
      packageId,
      { kind, reference: `${reference}/${id}`, ...moved },
      why,
    );
    packageTokens = back.fromPackage;
    const paid = back.fromPackage + back.fromPlain;
    taken = { paid, credit: 0, lost: Math.max(0, tokens + back.bonus - paid) };
  } else if (tokens > 0) {
    const repaid = await transaction.query<{ credit: number }>(
      "select credit from entry where kind = 'topup' and reference = $1",
      [reference],
    );
    const undone = returns.reduce((sum, { state, credit }) => (state === "failed" ? sum : sum + credit), 0);
    const credit = (repaid.rows[0]?.credit ?? 0) - undone;
    // Tokens of packages are not those of this payment.
    const plain = await plainTokens(transaction, payment.accountId);
    if (!isForced && plain !== undefined && plain + credit < tokens) return undefined;
    const back = { kind, payment: reference, id, tokens, credit, isForced };
    const why = { actor: author.actor, note: reason, now: author.now };
    const found = await takeBack(transaction, payment.accountId, back, why);
    if (found === undefined || found === "known") return undefined;
    taken = found;
  }
  const made: MoneyReturn = {
    id,
    kind,
    state: "pending",
    amountFen,
    ...taken,
    packageTokens,
    providerId: null,
    reason,
    isOwn,
    createdAt: author.now,
  };
  await transaction.query(
    `insert into payment_return (id, payment_id, kind, state, amount_fen, paid, credit, lost, reason, actor, created_at, ask_at, own, package_tokens)
     values ($1, $2, $3, 'pending', $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
    [
      id,
      payment.id,
      kind,
      amountFen,
      taken.paid,
      taken.credit,
      taken.lost,
      reason,
      author.actor,
      author.now,
      isOwn ? new Date(author.now.getTime() + ASK_RETURN_AFTER_MS) : null,
      isOwn,
      packageTokens,
    ],
  );
  await writeAudit(transaction, author, "payment.return", payment.id, null, {
    kind,
    amount_fen: amountFen,
    reason,
    lost_tokens: taken.lost,
  });
  return made;
}

/** Stores the provider's state of a return. A failed one gives the tokens back; nothing follows on it. */
export async function endReturn(
  transaction: Transaction,
  payment: Payment,
  known: MoneyReturn,
  news: { readonly state: MoneyReturn["state"]; readonly providerId: string | null },
  author: Author,
): Promise<void> {
  const order = { pending: 0, done: 1, failed: 2 } as const;
  if (order[news.state] < order[known.state] || known.state === "failed") return;
  await transaction.query(
    `update payment_return set state = $2, provider_id = coalesce(provider_id, $3),
       ended_at = case when $2 = 'pending' then null else $4::timestamptz end,
       ask_at = case when $2 = 'pending' then ask_at end
     where id = $1`,
    [known.id, news.state, news.providerId, author.now],
  );
  if (news.state !== "failed") return;
  const said = known.kind === "refund" ? ownNotes.refundFailed : ownNotes.chargebackWon;
  const why = { actor: author.actor, note: said, now: author.now };
  // What the ledger had before belongs to the packages as they are now.
  const bought =
    payment.packageDays === null
      ? undefined
      : await packageOfPayment(transaction, payment.accountId, payment.id);
  await undoReturn(
    transaction,
    { kind: known.kind, payment: ledgerReference(payment.id), id: known.id },
    why,
  );
  if (bought && known.paid > 0)
    await reopenPackage(transaction, payment.accountId, bought.package.id, known.packageTokens);
  const { kind, amountFen } = known;
  if (amountFen > 0)
    await writeAudit(transaction, author, "payment.given_back", payment.id, null, {
      kind,
      amount_fen: amountFen,
    });
}

/** What fen are worth in tokens without a package. */
function commonTokens(amountFen: number): number {
  return (tokensPerCny / 100) * amountFen;
}

/**
 * What goes back of a package. Used tokens count at the common rate, so that what is left of the price goes back, whole
 * fen only, and the package ends with its bonus. Money that a bank or the provider took is taken from the package first,
 * and then from other paid tokens.
 */
async function packageBack(
  transaction: Transaction,
  payment: Payment,
  returns: readonly MoneyReturn[],
  { amountFen, isForced }: { readonly amountFen: number; readonly isForced: boolean },
): Promise<Omit<PackageReturn, "kind" | "reference"> & { readonly packageId: string }> {
  const { package: bought, plain } = (await packageOfPayment(transaction, payment.accountId, payment.id))!;
  const { left, priceTokens, endedAt } = bought;
  const bonus = bought.tokens - priceTokens;
  const tokens = commonTokens(amountFen);
  const returned = returnedFen(returns);
  const least = commonTokens(1);
  const most = endedAt === null ? Math.floor(Math.max(0, left - bonus) / least) : 0;
  if (!isForced && amountFen !== most)
    throw invalid(
      "amount_fen",
      "value",
      `amount_fen must be what is left of the package's price, ${most}`,
      most > 0 ? `send ${most}` : "nothing of it can be refunded",
      most > 0 ? `请发送 ${most}，即套餐价格中尚未使用的部分` : "该套餐没有可退的金额",
    );
  const ends = !isForced || returned + amountFen === payment.amountFen;
  const isOpen = endedAt === null;
  const lostBonus = ends && isOpen ? Math.min(bonus, left) : 0;
  const fromPackage = ends ? left : Math.min(left, tokens);
  const fromPlain = Math.max(0, Math.min(plain, tokens + lostBonus - fromPackage));
  return { packageId: bought.id, tokens, fromPackage, fromPlain, bonus: lostBonus, ends: ends && isOpen };
}

/** Stores what does not fit, for a person to look at. */
async function note(
  transaction: Transaction,
  payment: Payment,
  author: Author,
  trouble: PaymentTrouble,
): Promise<void> {
  if (isDeepStrictEqual(payment.trouble, trouble)) return;
  await transaction.query("update payment set trouble_told = $2 where id = $1", [
    payment.id,
    JSON.stringify(trouble),
  ]);
  await writeAudit(transaction, author, "payment.trouble", payment.id, null, { trouble });
}
