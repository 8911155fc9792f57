import type { RequestRow } from "@dataq/contract/wire";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useText } from "../../text/text.tsx";
import { useFormat } from "../../ui/format.tsx";
import { useOperationName } from "../../ui/operation-name.ts";
import { Badge } from "../../ui/panel.tsx";
import { Table } from "../../ui/table.tsx";

export function RequestTable({
  rows,
  action,
}: {
  readonly rows: readonly RequestRow[];
  /** What may be done with a call. */
  readonly action?: (row: RequestRow) => ReactNode;
}) {
  const t = useText();
  const format = useFormat();
  const nameOf = useOperationName();
  return (
    <Table
      label={t.pages.requests}
      rows={rows}
      keyOf={(row) => row.id}
      columns={[
        {
          name: t.requests.time,
          className: "whitespace-nowrap tabular",
          cell: (row) => (
            <Link
              to="/requests/$id"
              params={{ id: row.id }}
              className="font-medium text-accent underline-offset-4 hover:underline"
            >
              {format.moment(row.at)}
            </Link>
          ),
        },
        {
          name: t.requests.operation,
          className: "max-w-60",
          cell: (row) => (
            <span className="block truncate" title={row.operation ?? ""}>
              {row.operation ? nameOf(row.operation) : "–"}
            </span>
          ),
        },
        { name: t.requests.result, cell: (row) => <Result row={row} /> },
        {
          name: t.requests.took,
          isNumber: true,
          isExtra: true,
          cell: (row) => (row.latency_ms === undefined ? "–" : `${format.number(row.latency_ms)} ms`),
        },
        {
          name: t.requests.cost,
          isNumber: true,
          className: "whitespace-nowrap",
          cell: (row) => (row.tokens ? format.tokens(row.tokens) : <span className="text-faint">0</span>),
        },
        ...(action ? [{ name: t.actions, cell: action }] : []),
      ]}
    />
  );
}

export function Result({ row }: { readonly row: Partial<RequestRow> }) {
  const t = useText();
  if (row.status === undefined) return <Badge>{t.requests.unknown}</Badge>;
  const isGood = row.status < 400;
  return (
    <span className="flex flex-wrap gap-1">
      <Badge tone={isGood ? "good" : row.status < 500 ? "warn" : "bad"}>
        <span className="max-sm:whitespace-normal">
          {row.status}
          {row.code && !isGood ? ` ${row.code}` : ""}
        </span>
      </Badge>
      {row.cached && <Badge tone="accent">{t.requests.cached}</Badge>}
    </span>
  );
}
