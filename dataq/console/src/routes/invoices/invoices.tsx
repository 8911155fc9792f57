import { useInfiniteQuery } from "@tanstack/react-query";
import { invoicesQuery } from "../../service/invoices.ts";
import { useMay } from "../../service/session.ts";
import { useText } from "../../text/text.tsx";
import { TOKENS_PER_FEN, useFormat } from "../../ui/format.tsx";
import { MoreRows } from "../../ui/more-rows.tsx";
import { Badge, PageHead, Panel } from "../../ui/panel.tsx";
import { Table } from "../../ui/table.tsx";
import { NotAllowed } from "../allowed.tsx";
import { BuyerForm } from "./buyer-form.tsx";
import { Corrections } from "./corrections.tsx";
import { RequestForm } from "./request-form.tsx";
import { MonthlyStatement } from "./statement.tsx";

export const invoiceTones = { requested: "accent", issued: "good" } as const;

/** Statements of the account, and invoices for its payments. */
export function Invoices() {
  const t = useText();
  const mayPay = useMay("manage:billing");
  return (
    <>
      <PageHead title={t.pages.invoices} about={t.invoices.about} />
      <div className="flex flex-col gap-5">
        <MonthlyStatement />
        {mayPay ? (
          <div className="grid items-start gap-5 lg:grid-cols-2">
            <RequestForm />
            <BuyerForm />
          </div>
        ) : (
          <Panel title={t.invoices.request} about={t.invoices.requestAbout}>
            <NotAllowed />
          </Panel>
        )}
        <Requested />
      </div>
    </>
  );
}

/** The account's invoices. Nothing is shown before the first one. */
function Requested() {
  const t = useText();
  const format = useFormat();
  const query = useInfiniteQuery(invoicesQuery);
  const rows = query.data?.pages.flatMap(({ data }) => data) ?? [];
  if (rows.length === 0) return null;
  return (
    <Panel title={t.invoices.list} isFlush>
      <Table
        label={t.invoices.list}
        rows={rows}
        keyOf={({ id }) => id}
        columns={[
          {
            name: t.requests.time,
            className: "tabular whitespace-nowrap",
            cell: ({ created_at }) => format.moment(created_at),
          },
          { name: t.invoices.title, className: "wrap-anywhere", cell: ({ buyer }) => buyer.title },
          {
            name: t.pay.amount,
            isNumber: true,
            className: "whitespace-nowrap",
            cell: ({ amount_fen }) => format.yuan(amount_fen * TOKENS_PER_FEN),
          },
          {
            name: t.keys.state,
            cell: ({ state }) => <Badge tone={invoiceTones[state]}>{t.invoices.states[state]}</Badge>,
          },
          {
            name: t.invoices.number,
            isWide: true,
            cell: (invoice) => (
              <>
                <code className="font-mono text-xs break-all">{invoice.number ?? t.invoices.notYet}</code>
                <Corrections invoice={invoice} />
              </>
            ),
          },
        ]}
      />
      <MoreRows query={query} />
    </Panel>
  );
}
