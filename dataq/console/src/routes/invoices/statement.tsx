import type { Statement } from "@dataq/contract/wire";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import Download from "~icons/lucide/download";
import { statementQuery } from "../../service/invoices.ts";
import { chinaDay } from "../../service/money.ts";
import { useText } from "../../text/text.tsx";
import { buttonClass } from "../../ui/button.tsx";
import { Select } from "../../ui/field.tsx";
import { useFormat } from "../../ui/format.tsx";
import { useLook } from "../../ui/look.ts";
import { useOperationName } from "../../ui/operation-name.ts";
import { Panel } from "../../ui/panel.tsx";
import { Loaded } from "../../ui/states.tsx";
import { Table } from "../../ui/table.tsx";
import { noteIn } from "../ledger/entry-table.tsx";

const MONTHS = 24;

/** A month of the ledger, summed up: the opening balance and all lines are the closing balance. */
export function MonthlyStatement() {
  const t = useText();
  const { language } = useLook();
  const months = lastMonths(chinaDay().slice(0, 7));
  const [month, setMonth] = useState(months[0]!);
  const query = useQuery(statementQuery(month));
  return (
    <Panel
      title={t.invoices.statement}
      about={query.data?.is_complete === false ? t.invoices.running : t.invoices.statementAbout}
      isFlush
      actions={
        <>
          <Select
            aria-label={t.invoices.month}
            className="w-32"
            value={month}
            onChange={(event) => setMonth(event.target.value)}
          >
            {months.map((one) => (
              <option key={one} value={one}>
                {one}
              </option>
            ))}
          </Select>
          <a href={`/v1/statements/${month}/pdf?language=${language}`} download className={buttonClass()}>
            <Download className="size-4" />
            PDF
          </a>
        </>
      }
    >
      <Loaded query={query} lines={4}>
        {(statement) => <Lines statement={statement} />}
      </Loaded>
    </Panel>
  );
}

interface Line {
  readonly text: string;
  readonly note: string;
  readonly count: number | null;
  readonly tokens: number;
  readonly isBalance: boolean;
}

function Lines({ statement }: { readonly statement: Statement }) {
  const t = useText();
  const format = useFormat();
  const nameOf = useOperationName();
  const balance = (text: string, tokens: number): Line => ({
    text,
    note: "",
    count: null,
    tokens,
    isBalance: true,
  });
  const rows: readonly Line[] = [
    balance(t.invoices.opening, statement.opening_balance),
    ...statement.lines.map(({ kind, operation, at, note, count, tokens }) => ({
      text:
        kind === "calls" ? (operation === null ? t.invoices.calls : nameOf(operation)) : t.ledger.kinds[kind],
      note: [at === null ? "" : format.moment(at), note === null ? "" : noteIn(t.ledger.notes, note)]
        .filter((part) => part !== "")
        .join(" · "),
      count,
      tokens,
      isBalance: false,
    })),
    balance(t.invoices.closing, statement.closing_balance),
    ...statement.projects.map(({ name, count, tokens }) => ({
      text: t.invoices.byProject(name ?? t.projects.outside),
      note: "",
      count,
      tokens,
      isBalance: false,
    })),
  ];
  return (
    <Table
      label={t.invoices.statement}
      rows={rows.map((row, n) => ({ ...row, n }))}
      keyOf={({ n }) => n}
      columns={[
        {
          name: t.ledger.what,
          className: "wrap-anywhere",
          cell: ({ text, note, isBalance }) => (
            <>
              <span className={isBalance ? "font-semibold" : ""}>{text}</span>
              {note && <span className="tabular block text-xs text-faint">{note}</span>}
            </>
          ),
        },
        {
          name: t.invoices.count,
          isNumber: true,
          isExtra: true,
          cell: ({ count }) => (count === null ? "" : format.number(count)),
        },
        {
          name: t.invoices.tokens,
          isNumber: true,
          className: "whitespace-nowrap",
          cell: ({ tokens, isBalance }) => (
            <span className={isBalance ? "font-semibold" : ""}>{format.tokens(tokens)}</span>
          ),
        },
        {
          name: t.invoices.yuan,
          isNumber: true,
          className: "whitespace-nowrap",
          cell: ({ tokens, isBalance }) => (
            <span className={isBalance ? "font-semibold" : ""}>{format.yuan(tokens)}</span>
          ),
        },
      ]}
    />
  );
}

/** This month and those before it, newest first, as YYYY-MM. */
function lastMonths(newest: string): string[] {
  const [year = 0, month = 0] = newest.split("-").map(Number);
  return Array.from({ length: MONTHS }, (_, back) => {
    const index = year * 12 + month - 1 - back;
    return `${Math.floor(index / 12)}-${String((index % 12) + 1).padStart(2, "0")}`;
  });
}
