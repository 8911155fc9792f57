import type { Queries } from "../database/database.ts";
import type { Reason } from "./movement.ts";

/** Money of a payment that goes back to the customer. */
export interface ReturnedPayment {
  /** `chargeback`: the bank took it; `refund`: somebody of the service, or the provider, gave it back. */
  readonly kind: "refund" | "chargeback";
  /** The reference of the top-up that it undoes. */
  readonly payment: string;
  /** Names this return; the same one is booked once. */
  readonly id: string;
  readonly tokens: number;
  /** The most credit that it may use again: what the top-up repaid of the credit line, less earlier returns. */
  readonly credit: number;
  /** Book it even if the tokens were spent: the money has gone. What is missing is written off. */
  readonly isForced: boolean;
}

/** What a return took from a wallet. */
export interface Taken {
  readonly paid: number;
  readonly credit: number;
  /** What had been spent already, written off against `adjustments`. */
  readonly lost: number;
}

/**
 * Takes the tokens of a payment whose money goes back: first paid tokens, then the credit that the payment had repaid.
 * Trial tokens are never taken. Returns undefined if the tokens are not there and the return is not forced, and
 * `known` if this return is booked already.
 */
export async function takeBack(
  queries: Queries,
  accountId: string,
  { kind, payment, id, tokens, credit, isForced }: ReturnedPayment,
  reason: Reason,
): Promise<Taken | "known" | undefined> {
  const reference = `${payment}/${id}`;
  const found = await queries.query<Taken>({
    name: "ledger-take-back",
    text: TAKE_BACK,
    values: [accountId, tokens, reason.now, credit, isForced, kind, reason.actor, reason.note, reference],
  });
  if (found.rows[0]) return found.rows[0];
  const known = await queries.query("select from entry where kind = $1 and reference = $2", [
    kind,
    reference,
  ]);
  return known.rowCount === 0 ? undefined : "known";
}

const TAKE_BACK = `
with moved as (
  update wallet set part_trial = 0,
         part_paid = -least(paid, $2::bigint),
         part_credit = -least(credit, $4::bigint, $2 - least(paid, $2)),
         paid = paid - least(paid, $2),
         credit = credit - least(credit, $4, $2 - least(paid, $2)),
         seq = seq + 1, touched_at = greatest(touched_at, $3::timestamptz)
  where account_id = $1 and ($5 or least(paid, $2) + least(credit, $4, $2 - least(paid, $2)) = $2)
    and not exists (select from entry where kind = $6 and reference = $9)
  returning *
), written as (
  insert into entry (account_id, seq, at, kind, paid, credit, payments, adjustments, balance_after, actor, note, reference)
  select $1, seq, touched_at, $6, part_paid, part_credit, $2, -($2 + part_paid + part_credit),
         trial + paid + credit, $7, $8, $9 from moved
)
select -part_paid as paid, -part_credit as credit, $2 + part_paid + part_credit as lost from moved`;

/**
 * Books the return back, in the parts that it took, because its money did not leave or has come again. Does nothing if
 * that has happened, or if there was no such return. Credit beyond the present line goes to paid.
 */
export async function undoReturn(
  queries: Queries,
  { kind, payment, id }: Pick<ReturnedPayment, "kind" | "payment" | "id">,
  reason: Reason,
): Promise<void> {
  await queries.query({
    name: "ledger-undo-return",
    text: UNDO,
    values: [kind, `${payment}/${id}`, reason.now, reason.actor, reason.note],
  });
}

const UNDO = `
with taken as (
  select account_id, -paid as paid, -credit as credit, payments, adjustments, promotions, breakage
  from entry where kind = $1 and reference = $2 and not exists (select from entry where kind = $1 and reference = $2 || '/back')
), moved as (
  update wallet w set part_trial = 0,
         part_credit = least(t.credit, w.credit_limit - w.credit),
         part_paid = t.paid + t.credit - least(t.credit, w.credit_limit - w.credit),
         credit = w.credit + least(t.credit, w.credit_limit - w.credit),
         paid = w.paid + t.paid + t.credit - least(t.credit, w.credit_limit - w.credit),
         seq = w.seq + 1, touched_at = greatest(w.touched_at, $3::timestamptz)
  from taken t where w.account_id = t.account_id returning w.*
)
insert into entry (account_id, seq, at, kind, paid, credit, payments, adjustments, promotions, breakage, balance_after,
                   actor, note, reference)
select m.account_id, m.seq, m.touched_at, $1, m.part_paid, m.part_credit, -t.payments, -t.adjustments, -t.promotions, -t.breakage,
       m.trial + m.paid + m.credit, $4, $5, $2 || '/back' from moved m, taken t`;
