import type { Approval, VolumeLadder } from "@dataq/contract/wire";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { approvalsQuery, approve, reject } from "../../service/board.ts";
import { mayOperate, useSignedIn } from "../../service/session.ts";
import { useText } from "../../text/text.tsx";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { TOKENS_PER_FEN, useFormat } from "../../ui/format.tsx";
import { useOperationName } from "../../ui/operation-name.ts";
import { Panel } from "../../ui/panel.tsx";
import { Table } from "../../ui/table.tsx";

/** Large sums and offers that wait for a second person. Nothing is shown while none waits. */
export function Approvals() {
  const t = useText();
  const format = useFormat();
  const user = useSignedIn();
  const client = useQueryClient();
  const nameOf = useNameOf();
  const wordsOf = useWordsOf();
  const { data } = useQuery(approvalsQuery);
  const [asked, setAsked] = useState<{ readonly approval: Approval; readonly isGood: boolean } | null>(null);
  const waiting = data?.data.filter(({ state }) => state === "waiting") ?? [];
  const mayDecide = mayOperate(user, "admin:finance") || mayOperate(user, "admin:support");
  if (waiting.length === 0) return null;
  const isOwn = ({ asked_by }: Approval) => asked_by === `user_${user.id}`;
  return (
    <Panel title={t.approvals.title} about={t.approvals.about} className="mb-5" isFlush>
      <Table
        label={t.approvals.title}
        rows={waiting}
        keyOf={({ id }) => id}
        columns={[
          {
            name: t.requests.time,
            className: "tabular whitespace-nowrap",
            cell: (row) => format.moment(row.asked_at),
          },
          {
            name: t.payments.account,
            isWide: true,
            cell: ({ account_id }) =>
              isUnowned(account_id) ? (
                t.approvals.unowned[account_id]
              ) : (
                <Link
                  to="/admin/accounts/$id"
                  params={{ id: account_id }}
                  className="font-mono text-xs text-accent break-all underline-offset-4 hover:underline"
                >
                  {account_id}
                </Link>
              ),
          },
          {
            name: t.approvals.what,
            isWide: true,
            className: "min-w-52",
            cell: ({ path, body }) => (
              <>
                <span className="block">{nameOf(path)}</span>
                <span className="tabular block text-xs text-soft wrap-anywhere">{wordsOf(body)}</span>
              </>
            ),
          },
          {
            name: t.approvals.sum,
            isNumber: true,
            cell: ({ fen }) => (fen === null ? "–" : format.yuan(fen * TOKENS_PER_FEN)),
          },
          {
            name: t.actions,
            isWide: true,
            cell: (approval) =>
              mayDecide && (
                <span className="flex gap-1.5">
                  {!isOwn(approval) && (
                    <Button size="small" kind="primary" onClick={() => setAsked({ approval, isGood: true })}>
                      {t.approvals.approve}
                    </Button>
                  )}
                  <Button size="small" kind="danger" onClick={() => setAsked({ approval, isGood: false })}>
                    {t.approvals.reject}
                  </Button>
                </span>
              ),
          },
        ]}
      />
      {asked && (
        <Confirm
          kind={asked.isGood ? "primary" : "danger"}
          title={(asked.isGood ? t.approvals.approveTitle : t.approvals.rejectTitle)(
            asked.approval.fen === null ? null : format.yuan(asked.approval.fen * TOKENS_PER_FEN),
          )}
          about={asked.isGood ? t.approvals.approveAbout : t.approvals.rejectAbout}
          action={asked.isGood ? t.approvals.approve : t.approvals.reject}
          onConfirm={async () => {
            await (asked.isGood ? approve(asked.approval) : reject(asked.approval));
            await client.invalidateQueries({ queryKey: ["admin"] });
          }}
          onClose={() => setAsked(null)}
        />
      )}
    </Panel>
  );
}

const unowned = ["vouchers", "accounts", "offers"] as const;
const isUnowned = (accountId: string): accountId is (typeof unowned)[number] =>
  (unowned as readonly string[]).includes(accountId);

/** What a request does, in the words of the button that sends it, and to which payment or coupon. */
function useNameOf(): (path: string) => string {
  const t = useText();
  const names: readonly (readonly [RegExp, string])[] = [
    [/accounts$/, t.accounts.make],
    [/accounts\/[^/]+$/, t.accounts.credit],
    [/\/adjust$/, t.accounts.adjust],
    [/\/topups$/, t.accounts.topUp],
    [/payments\/([^/]+)\/confirm$/, t.payments.confirm],
    [/payments\/([^/]+)\/refunds$/, t.payments.refund],
    [/\/refunds$/, t.payments.refund],
    [/\/vouchers$/, t.vouchers.make],
    [/accounts\/[^/]+\/prices$/, t.plans.ownPrices],
    [/\/prices$/, t.prices.publish],
    [/\/free-tiers$/, t.plans.publishFree],
    [/\/volume-ladders$/, t.plans.publishVolume],
    [/\/packages$/, t.packages.create],
    [/\/coupons$/, t.plans.create],
    [/coupons\/([^/]+)$/, t.plans.extend],
  ];
  return (path) => {
    for (const [pattern, name] of names) {
      const found = pattern.exec(path);
      if (found) return found[1] ? `${name} ${decodeURIComponent(found[1])}` : name;
    }
    return path;
  };
}

/**
 * All that a request says, in the words of the form that sends it. The sum alone tells neither a gift from a loss nor
 * what is new: what was moved before counts towards it.
 */
function useWordsOf(): (body: Approval["body"]) => string {
  const t = useText();
  const format = useFormat();
  const operation = useOperationName();
  const text = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));
  const number = (value: unknown) => format.number(Number(value));
  const tokens = (value: unknown) => t.amount(format.tokens(Number(value)));
  const yuan = (value: unknown) => format.yuan(Number(value) * TOKENS_PER_FEN);
  const moment = (value: unknown) => format.moment(text(value));
  const steps = (value: unknown) =>
    (value as VolumeLadder["steps"])
      .map(({ from_tokens, percent }) => `${format.yuan(from_tokens)} −${percent}%`)
      .join(t.plans.stepBreak) || t.plans.noVolume;
  const fields: Readonly<Record<string, readonly [string, (value: unknown) => string]>> = {
    operation: [t.requests.operation, (value) => operation(text(value))],
    tokens: [t.packages.tokens, (value) => (value === null ? t.plans.listPrice : number(value))],
    cached_tokens: [t.pricing.repeat, (value) => (value === null ? t.pricing.same : tokens(value))],
    credit_limit: [t.accounts.credit, tokens],
    amount_fen: [t.pay.amount, yuan],
    price_fen: [t.packages.price, yuan],
    days: [t.packages.days, (value) => t.daysLong(number(value))],
    calls: [t.plans.callsADay, number],
    count: [t.vouchers.count, number],
    most: [t.plans.most, number],
    steps: [t.plans.steps, steps],
    effective_from: [t.pricing.since, moment],
    expires_at: [t.plans.ends, moment],
    batch: [t.vouchers.batch, text],
    code: [t.plans.code, text],
    name: [t.keys.name, text],
    email: [t.auth.email, text],
    reason: [t.accounts.reason, text],
    note: [t.accounts.reason, text],
    reference: [t.accounts.reference, text],
    transaction: [t.payments.bankNumber, text],
    request_id: [t.requestId, text],
  };
  return ({ kind, value, ...body }) =>
    [
      // The benefit of a coupon is in two fields.
      ...(kind === undefined
        ? []
        : [`${t.plans.gives} ${kind === "percent" ? `−${number(value)}%` : tokens(value)}`]),
      ...Object.entries(body)
        .filter(([name, one]) => one !== null || name.endsWith("tokens"))
        .map(([name, one]) => {
          const [label, show] = fields[name] ?? [name, text];
          return `${label} ${show(one)}`;
        }),
    ].join(" · ");
}
