import type { EntryKind } from "@dataq/contract/wire";
import { Link } from "@tanstack/react-router";
import { useText } from "../../text/text.tsx";
import { useFormat } from "../../ui/format.tsx";
import { useOperationName } from "../../ui/operation-name.ts";
import { Badge } from "../../ui/panel.tsx";
import { Table } from "../../ui/table.tsx";
import type { LedgerLine } from "./call-lines.ts";

const tones: Record<EntryKind, "plain" | "accent" | "good" | "warn"> = {
  grant: "good",
  topup: "good",
  hold: "plain",
  capture: "accent",
  void: "plain",
  reverse: "good",
  expire: "warn",
  adjust: "warn",
  refund: "warn",
  chargeback: "warn",
};

export function EntryTable({ rows }: { readonly rows: readonly LedgerLine[] }) {
  const t = useText();
  const format = useFormat();
  const nameOf = useOperationName();
  return (
    <Table
      label={t.pages.ledger}
      rows={rows}
      keyOf={(row) => row.id}
      columns={[
        {
          name: t.requests.time,
          className: "whitespace-nowrap tabular",
          cell: (row) => format.moment(row.at),
        },
        {
          name: t.ledger.kind,
          cell: (row) => (
            <Badge tone={tones[row.kind]}>
              {row.outcome ? t.ledger.outcomes[row.outcome] : t.ledger.kinds[row.kind]}
            </Badge>
          ),
        },
        {
          name: t.ledger.what,
          className: "min-w-44 max-w-72",
          cell: (row) =>
            row.request_id ? (
              <Link
                to="/requests/$id"
                params={{ id: row.request_id }}
                className="block truncate text-accent underline-offset-4 hover:underline"
              >
                {row.operation ? nameOf(row.operation) : row.request_id}
              </Link>
            ) : (
              <span className="line-clamp-2 break-words text-soft" title={row.note ?? ""}>
                {row.note ? noteIn(t.ledger.notes, row.note) : "–"}
              </span>
            ),
        },
        {
          name: t.ledger.change,
          isNumber: true,
          className: "whitespace-nowrap",
          cell: (row) => (
            <span className={row.tokens > 0 ? "text-good" : row.tokens < 0 ? "" : "text-faint"}>
              {row.tokens > 0 ? "+" : ""}
              {format.tokens(row.tokens)}
            </span>
          ),
        },
        {
          name: t.ledger.after,
          isNumber: true,
          className: "whitespace-nowrap",
          cell: (row) => format.tokens(row.balance_after),
        },
      ]}
    />
  );
}

/** Translates notes that the service wrote. Notes that people wrote stay as they are. */
export function noteIn(notes: Readonly<Record<string, string>>, note: string): string {
  const own = Object.keys(notes).find((one) => note === one || (one.endsWith("…") && note.startsWith(one)));
  return own === undefined ? note : `${notes[own]}${note.slice(own.length)}`;
}
