import type { Board as Figures } from "@dataq/contract/wire";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import { boardQuery } from "../../service/board.ts";
import { chinaDay } from "../../service/money.ts";
import { sessionQuery } from "../../service/session.ts";
import { useText } from "../../text/text.tsx";
import { Amount } from "../../ui/amount.tsx";
import { DayRange } from "../../ui/day-range.tsx";
import { TOKENS_PER_FEN, useFormat } from "../../ui/format.tsx";
import { useOperationName } from "../../ui/operation-name.ts";
import { PageHead, Panel, Stat, Stats } from "../../ui/panel.tsx";
import { Empty, Loaded, Skeleton } from "../../ui/states.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Approvals } from "./approvals.tsx";
import { Maintenance } from "./maintenance.tsx";

const DayChart = lazy(() =>
  import("../usage/day-chart.tsx").then((module) => ({ default: module.DayChart })),
);

/** The operator's business: what was earned, what vendors cost, who calls and what fails. */
export function Board() {
  const t = useText();
  const [from, setFrom] = useState(`${chinaDay().slice(0, 7)}-01`);
  const [to, setTo] = useState(chinaDay());
  const isRight = from !== "" && to !== "" && from <= to;
  const query = useQuery({ ...boardQuery(from, to), enabled: isRight });
  // While customers are refused, what ends that comes first.
  const isMaintained = useQuery(sessionQuery).data?.maintenance != null;
  return (
    <>
      <PageHead title={t.pages.board} about={t.board.about} />
      {isMaintained && (
        <div className="mb-5">
          <Maintenance />
        </div>
      )}
      <Approvals />
      <div className="mb-5 grid grid-cols-2 gap-2 sm:flex sm:flex-wrap">
        <DayRange from={from} to={to} onFrom={setFrom} onTo={setTo} />
      </div>
      {isRight ? (
        <Loaded query={query} lines={12}>
          {(figures) => <Business figures={figures} />}
        </Loaded>
      ) : (
        <Panel>
          <Empty title={t.usage.wrongRange} />
        </Panel>
      )}
      {!isMaintained && (
        <div className="mt-5">
          <Maintenance />
        </div>
      )}
    </>
  );
}

function Business({ figures }: { readonly figures: Figures }) {
  const t = useText();
  const format = useFormat();
  const { money, owed, customers, days, operations } = figures;
  const cost = money.vendor_cost_fen * TOKENS_PER_FEN;
  // Tokens of packages are charged in full: what they cost less was given when they were sold, and what expires stays.
  const income = money.earned_paid - money.package_bonus + money.package_expired;
  const ofPackages =
    money.package_bonus !== 0 || money.package_expired !== 0
      ? t.board.ofPackages(format.yuan(money.package_bonus), format.yuan(money.package_expired))
      : undefined;
  const calls = operations.reduce((sum, row) => sum + row.calls, 0);
  const failed = operations.reduce((sum, row) => sum + row.failed, 0);
  const rows = days.flatMap(({ day, earned_paid, earned_trial }) => [
    usageRow(day, "paid", earned_paid),
    usageRow(day, "trial", earned_trial),
  ]);
  return (
    <div className="flex flex-col gap-5">
      <Stats>
        <Stat
          name={t.board.income}
          value={format.yuan(income)}
          note={[t.board.ofTrials(format.yuan(money.earned_trial)), ofPackages].filter(Boolean).join(" · ")}
        />
        <Stat name={t.board.cost} value={format.yuan(cost)} />
        <Stat
          name={t.board.margin}
          value={format.yuan(income - cost)}
          {...(income !== cost && { tone: income < cost ? ("bad" as const) : ("good" as const) })}
          note={income > 0 ? format.percent(1 - cost / income) : ""}
        />
        <Stat
          name={t.board.paidIn}
          value={format.yuan(money.paid_in)}
          note={t.board.returned(format.yuan(money.returned))}
        />
        <Stat
          name={t.board.active}
          value={format.number(customers.active)}
          note={t.board.ofAll(format.number(customers.paying), format.number(customers.total))}
        />
        <Stat name={t.board.new} value={format.number(customers.new)} />
        <Stat
          name={t.usage.calls}
          value={format.number(calls)}
          note={t.board.failedShare(calls > 0 ? format.percent(failed / calls) : "0%")}
        />
        <Stat
          name={t.board.owed}
          value={format.yuan(owed.paid)}
          note={t.board.drawn(format.yuan(owed.credit_drawn))}
        />
      </Stats>
      <Panel title={t.board.days}>
        {rows.length === 0 ? (
          <Empty title={t.board.nothing} />
        ) : (
          <Suspense fallback={<Skeleton lines={6} />}>
            <DayChart
              rows={rows}
              part="operation"
              nameOf={(name) => (name === "paid" ? t.board.income : t.board.trials)}
              from={figures.from}
              to={figures.to}
              measure="tokens"
            />
          </Suspense>
        )}
      </Panel>
      <Operations figures={figures} />
      <Vendors figures={figures} />
      <div className="grid items-start gap-5 xl:grid-cols-2">
        <Unhappy figures={figures} />
        <Failures figures={figures} />
      </div>
      <Cohorts figures={figures} />
    </div>
  );
}

/** A row as the chart of usage reads it. */
function usageRow(day: string, operation: string, tokens: number) {
  return { day, operation, tokens, calls: 0, billed_calls: 0, cached_calls: 0, failed_calls: 0 };
}

interface Part {
  readonly figures: Figures;
}

function Operations({ figures: { operations } }: Part) {
  const t = useText();
  const format = useFormat();
  const nameOf = useOperationName();
  const costOf = (row: Figures["operations"][number]) => row.vendor_cost_fen * TOKENS_PER_FEN;
  return (
    <Rows
      title={t.board.operations}
      about={t.board.operationsAbout}
      rows={operations}
      keyOf={({ operation }) => operation ?? ""}
      columns={[
        {
          name: t.requests.operation,
          className: "min-w-40",
          cell: ({ operation }) => (operation ? nameOf(operation) : t.board.several),
        },
        { name: t.usage.calls, isNumber: true, cell: ({ calls }) => format.number(calls) },
        {
          name: t.board.failed,
          isNumber: true,
          cell: ({ calls, failed }) =>
            failed === 0 ? "0" : `${format.number(failed)} (${format.percent(failed / Math.max(1, calls))})`,
        },
        { name: t.board.earned, isNumber: true, cell: ({ earned }) => format.yuan(earned) },
        { name: t.board.cost, isNumber: true, cell: (row) => format.yuan(costOf(row)) },
        {
          name: t.board.margin,
          isNumber: true,
          cell: (row) => {
            const margin = row.earned - row.earned_trial - costOf(row);
            return <span className={margin < 0 ? "text-bad" : ""}>{format.yuan(margin)}</span>;
          },
        },
        {
          name: t.board.latency,
          isNumber: true,
          isExtra: true,
          className: "whitespace-nowrap",
          cell: (row) => latencyOf(row, format),
        },
      ]}
    />
  );
}

function Vendors({ figures: { vendors } }: Part) {
  const t = useText();
  const format = useFormat();
  const nameOf = useOperationName();
  return (
    <Rows
      title={t.board.vendors}
      rows={vendors}
      keyOf={({ contract, operation }) => `${contract} ${operation}`}
      columns={[
        { name: t.board.vendor, cell: ({ contract }) => contract },
        { name: t.requests.operation, cell: ({ operation }) => nameOf(operation) },
        { name: t.board.requests, isNumber: true, cell: ({ requests }) => format.number(requests) },
        {
          name: t.board.failed,
          isNumber: true,
          cell: ({ requests, failed }) =>
            failed === 0 ? "0" : `${format.number(failed)} (${format.percent(failed / requests)})`,
        },
        {
          name: t.board.cost,
          isNumber: true,
          cell: ({ cost_fen, unsure_fen }) => (
            <Amount fen={cost_fen} part={unsure_fen} about={t.board.unsure} />
          ),
        },
        {
          name: t.board.latency,
          isNumber: true,
          isExtra: true,
          className: "whitespace-nowrap",
          cell: (row) => latencyOf(row, format),
        },
      ]}
    />
  );
}

function Unhappy({ figures: { unhappy } }: Part) {
  const t = useText();
  const format = useFormat();
  return (
    <Rows
      title={t.board.unhappy}
      about={t.board.unhappyAbout}
      rows={unhappy}
      keyOf={({ account_id }) => account_id}
      columns={[
        {
          name: t.payments.account,
          className: "max-w-64",
          cell: ({ account_id, name }) => (
            <Link
              to="/admin/accounts/$id"
              params={{ id: account_id }}
              className="block truncate font-medium text-accent underline-offset-4 hover:underline"
            >
              {name}
            </Link>
          ),
        },
        { name: t.usage.calls, isNumber: true, cell: ({ calls }) => format.number(calls) },
        {
          name: t.board.failed,
          isNumber: true,
          cell: ({ calls, failed }) => `${format.number(failed)} (${format.percent(failed / calls)})`,
        },
      ]}
    />
  );
}

function Failures({ figures: { failures } }: Part) {
  const t = useText();
  const format = useFormat();
  const nameOf = useOperationName();
  return (
    <Rows
      title={t.board.failures}
      rows={failures}
      keyOf={({ operation, code }) => `${operation} ${code}`}
      columns={[
        { name: t.requests.result, cell: ({ code }) => <code className="font-mono text-xs">{code}</code> },
        { name: t.requests.operation, cell: ({ operation }) => (operation ? nameOf(operation) : "–") },
        { name: t.usage.calls, isNumber: true, cell: ({ calls }) => format.number(calls) },
      ]}
    />
  );
}

function Cohorts({ figures: { cohorts } }: Part) {
  const t = useText();
  const format = useFormat();
  const share = (part: number, whole: number) =>
    `${format.number(part)} (${format.percent(part / Math.max(1, whole))})`;
  return (
    <Rows
      title={t.board.cohorts}
      about={t.board.cohortsAbout}
      rows={cohorts}
      keyOf={({ month }) => month}
      columns={[
        { name: t.board.month, className: "tabular", cell: ({ month }) => month },
        { name: t.pages.accounts, isNumber: true, cell: ({ accounts }) => format.number(accounts) },
        { name: t.board.called, isNumber: true, cell: (row) => share(row.called, row.accounts) },
        { name: t.board.paid, isNumber: true, cell: (row) => share(row.paid, row.accounts) },
        { name: t.board.income, isNumber: true, cell: ({ earned_paid }) => format.yuan(earned_paid) },
      ]}
    />
  );
}

function latencyOf(
  { p50_ms, p95_ms }: { readonly p50_ms: number | null; readonly p95_ms: number | null },
  format: ReturnType<typeof useFormat>,
): string {
  return p50_ms === null || p95_ms === null ? "–" : `${format.number(p50_ms)} / ${format.number(p95_ms)} ms`;
}

function Rows<Row>({
  title,
  about,
  rows,
  columns,
  keyOf,
}: {
  readonly title: string;
  readonly about?: string;
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  readonly keyOf: (row: Row) => string;
}) {
  const t = useText();
  return (
    <Panel title={title} {...(about && { about })} isFlush>
      {rows.length === 0 ? (
        <Empty title={t.board.nothing} />
      ) : (
        <Table label={title} rows={rows} columns={columns} keyOf={keyOf} step={25} />
      )}
    </Panel>
  );
}
