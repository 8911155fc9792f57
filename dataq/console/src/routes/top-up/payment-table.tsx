import type { Payment, PaymentState } from "@dataq/contract/wire";
import { useInfiniteQuery } from "@tanstack/react-query";
import { paymentsQuery } from "../../service/payments.ts";
import { useText } from "../../text/text.tsx";
import { Amount } from "../../ui/amount.tsx";
import { Button, buttonClass } from "../../ui/button.tsx";
import { TOKENS_PER_FEN, useFormat } from "../../ui/format.tsx";
import { useLook } from "../../ui/look.ts";
import { MoreRows } from "../../ui/more-rows.tsx";
import { Badge, Panel } from "../../ui/panel.tsx";
import { Loaded } from "../../ui/states.tsx";
import { type Column, Table } from "../../ui/table.tsx";

export const paymentTones = { open: "accent", paid: "good", expired: "plain", failed: "bad" } as const;

/** The account's payments. Nothing is shown before the first one. */
export function PaymentTable({ onOpen }: { readonly onOpen: (id: string) => void }) {
  const t = useText();
  const { language } = useLook();
  const query = useInfiniteQuery(paymentsQuery);
  const columns = usePaymentColumns();
  if (query.data?.pages[0]?.data.length === 0) return null;
  return (
    <Panel title={t.pay.list} isFlush className="mt-5">
      <Loaded query={query} lines={4}>
        {({ pages }) => (
          <Table
            label={t.pay.list}
            rows={pages.flatMap(({ data }) => data)}
            keyOf={({ id }) => id}
            columns={[
              ...columns,
              {
                name: t.pay.number,
                isExtra: true,
                cell: ({ id, state }) => (
                  <span className="flex flex-wrap items-center gap-2">
                    <code className="font-mono text-xs break-all">{id}</code>
                    {state === "paid" && (
                      <a
                        href={`/v1/payments/${encodeURIComponent(id)}/receipt?language=${language}`}
                        className={buttonClass("plain", "small")}
                      >
                        {t.pay.receipt}
                      </a>
                    )}
                    {state === "open" && (
                      <Button size="small" onClick={() => onOpen(id)}>
                        {t.pay.show}
                      </Button>
                    )}
                  </span>
                ),
              },
            ]}
          />
        )}
      </Loaded>
      <MoreRows query={query} />
    </Panel>
  );
}

/** What customers and operators see of a payment. */
export function usePaymentColumns<Row extends Payment>(): readonly Column<Row>[] {
  const t = useText();
  const format = useFormat();
  return [
    {
      name: t.requests.time,
      className: "tabular whitespace-nowrap",
      cell: ({ created_at }) => format.moment(created_at),
    },
    { name: t.pay.way, cell: ({ provider }) => t.pay.providers[provider] },
    {
      name: t.pay.amount,
      isNumber: true,
      cell: ({ amount_fen, returned_fen, returns }) => {
        const takenFen = takenByBank(returns);
        return (
          <>
            <Amount fen={amount_fen} part={returned_fen - takenFen} about={t.pay.returned} />
            {takenFen > 0 && (
              <span className="mt-1 block text-xs text-bad">
                {t.pay.chargedBack(format.yuan(takenFen * TOKENS_PER_FEN))}
              </span>
            )}
          </>
        );
      },
    },
    {
      name: t.keys.state,
      cell: ({ state }) => <StateBadge state={state} />,
    },
  ];
}

/** What banks took back of a payment, and did not give back. */
export function takenByBank(returns: Payment["returns"]): number {
  return returns.reduce(
    (sum, { kind, state, amount_fen }) =>
      kind === "chargeback" && state !== "failed" ? sum + amount_fen : sum,
    0,
  );
}

function StateBadge({ state }: { readonly state: PaymentState }) {
  const t = useText();
  return <Badge tone={paymentTones[state]}>{t.pay.states[state]}</Badge>;
}
