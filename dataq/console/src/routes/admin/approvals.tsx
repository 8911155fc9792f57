import type { Approval } from "@dataq/contract/wire";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { approvalsQuery, approve, reject } from "../../service/board.ts";
import { mayOperate, useSignedIn } from "../../service/session.ts";
import { useText } from "../../text/text.tsx";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { TOKENS_PER_FEN, useFormat } from "../../ui/format.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Table } from "../../ui/table.tsx";

/** Large sums and offers that wait for a second person. Nothing is shown while none waits. */
export function Approvals() {
  const t = useText();
  const format = useFormat();
  const user = useSignedIn();
  const client = useQueryClient();
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
                <code className="block font-mono text-xs break-all">{path}</code>
                <span className="block text-xs text-soft wrap-anywhere">{wordsOf(body)}</span>
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

/** Why it is asked for, or what is offered. */
function wordsOf(body: Approval["body"]): string {
  const why = body["reason"] ?? body["note"] ?? body["reference"] ?? body["transaction"] ?? body["name"];
  if (why !== undefined) return String(why);
  return Object.entries(body)
    .map(([field, value]) => `${field}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(", ");
}
