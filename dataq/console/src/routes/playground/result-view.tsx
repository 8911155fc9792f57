import { Tabs } from "@base-ui/react/tabs";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import SearchX from "~icons/lucide/search-x";
import { isObject } from "../../service/call.ts";
import type { Answer, CatalogOperation } from "../../service/catalog.ts";
import { useText } from "../../text/text.tsx";
import { Button } from "../../ui/button.tsx";
import { classes } from "../../ui/classes.ts";
import { CopyButton } from "../../ui/code.tsx";
import { useFormat } from "../../ui/format.tsx";
import { JsonTree } from "../../ui/json-tree.tsx";
import { useLook } from "../../ui/look.ts";
import { Badge, Panel } from "../../ui/panel.tsx";
import { ScrollBox } from "../../ui/scroll-box.tsx";
import { Empty, Notice } from "../../ui/states.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { type CitationRow, isCitation } from "./citation-findings.ts";
import { CitationTable } from "./citation-table.tsx";
import { columnsOf, isLeading } from "./columns.ts";
import { useLabels } from "./labels.ts";
import { Marked } from "./marked.tsx";
import { RecordPages } from "./record-pages.tsx";
import { Source } from "./source.tsx";

type Row = Readonly<Record<string, unknown>>;

/** A result as a page to read, as a table, as a tree and as JSON. */
export function ResultView({
  operation,
  envelope,
  tookMs,
  isTurning,
  onTurn,
  words,
}: {
  readonly operation: CatalogOperation;
  readonly envelope: Answer;
  /** The words of the question, which are marked where the answer has them. */
  readonly words: readonly string[];
  readonly tookMs: number;
  /** True while the next page is loading. The current page stays visible until then. */
  readonly isTurning: boolean;
  readonly onTurn: (page: number) => void;
}) {
  const t = useText();
  const format = useFormat();
  const { usage } = envelope;
  const rows = Array.isArray(envelope.data) ? (envelope.data as Row[]) : [envelope.data as Row];
  const reason = usage.reason
    ? (t.playground.reasons[usage.reason as keyof typeof t.playground.reasons] ?? usage.reason)
    : "";
  return (
    <Panel
      isFlush
      title={t.playground.result}
      about={
        <span className="tabular flex flex-wrap items-center gap-x-3 gap-y-1">
          <span data-testid="charged">
            {t.playground.charged(format.tokens(usage.tokens), format.yuan(usage.tokens))}
          </span>
          {reason && <Badge tone="accent">{reason}</Badge>}
          <span>{format.number(tookMs)} ms</span>
          {envelope.total !== undefined && (
            <span>
              {t.playground.total(
                `${envelope.total_relation === "gte" ? "≥ " : ""}${format.number(envelope.total)}`,
              )}
            </span>
          )}
          <Link
            to="/requests/$id"
            params={{ id: envelope.request_id }}
            className="text-accent underline-offset-4 hover:underline"
          >
            {t.playground.openRequest}
          </Link>
        </span>
      }
    >
      {envelope.warnings && envelope.warnings.length > 0 && (
        <div className="flex flex-col gap-2 border-b border-line p-4 sm:px-5">
          {envelope.warnings.map((warning) => (
            <Notice key={warning} tone="warn" title={warning} />
          ))}
        </div>
      )}
      {rows.length === 0 ? (
        <Empty icon={<SearchX className="size-5" />} title={t.playground.nothing}>
          {t.playground.nothingAbout}
          {usage.tokens > 0 && t.playground.nothingCharged}
        </Empty>
      ) : (
        <Tabs.Root defaultValue="page">
          <Tabs.List
            className="flex gap-1 border-b border-line px-3 sm:px-4"
            aria-label={t.playground.result}
          >
            {(["page", "table", "tree", "json"] as const).map((value) => (
              <Tabs.Tab
                key={value}
                value={value}
                className="-mb-px h-10 border-b-2 border-transparent px-2.5 text-sm text-soft hover:text-ink data-active:border-accent data-active:font-medium data-active:text-ink"
              >
                {t.playground.views[value]}
              </Tabs.Tab>
            ))}
          </Tabs.List>
          <Tabs.Panel value="page">
            {isCitationCheck(operation, rows) ? (
              <Records operation={operation} rows={rows} words={words} />
            ) : (
              <RecordPages operation={operation} rows={rows} words={words} />
            )}
          </Tabs.Panel>
          <Tabs.Panel value="table">
            <Records operation={operation} rows={rows} words={words} />
          </Tabs.Panel>
          <Tabs.Panel value="tree" className="p-4 sm:p-5">
            <JsonTree value={envelope.data} />
          </Tabs.Panel>
          <Tabs.Panel value="json" className="relative">
            <div className="absolute top-3 right-3">
              <CopyButton text={JSON.stringify(envelope, null, 2)} />
            </div>
            <ScrollBox label={t.playground.views.json} className="max-h-150 overflow-y-auto">
              <pre className="p-4 font-mono text-xs leading-relaxed sm:p-5">
                {JSON.stringify(envelope, null, 2)}
              </pre>
            </ScrollBox>
          </Tabs.Panel>
        </Tabs.Root>
      )}
      {envelope.total_pages > 1 && (
        <div className="tabular flex items-center justify-between gap-3 border-t border-line px-4 py-3 text-sm text-soft sm:px-5">
          <span>{isTurning ? t.loading : t.playground.page(envelope.page, envelope.total_pages)}</span>
          <span className="flex gap-2">
            <Button
              size="small"
              disabled={isTurning || envelope.page <= 1}
              onClick={() => onTurn(envelope.page - 1)}
            >
              {t.previous}
            </Button>
            <Button
              size="small"
              disabled={isTurning || envelope.page >= envelope.total_pages}
              onClick={() => onTurn(envelope.page + 1)}
            >
              {t.next}
            </Button>
          </span>
        </div>
      )}
    </Panel>
  );
}

/** A table with the most useful fields first. Long and nested values are shown only in the tree. */
function Records({
  operation,
  rows,
  words,
}: {
  readonly operation: CatalogOperation;
  readonly rows: readonly Row[];
  readonly words: readonly string[];
}) {
  const t = useText();
  const { language } = useLook();
  const [isByName, setByName] = useState(false);
  const label = useLabels(operation);
  const labelOf = (name: string) => (isByName ? name : label(name));
  const byName = (
    <p className="flex justify-end border-b border-line px-3 py-1">
      <Button kind="quiet" size="small" aria-pressed={isByName} onClick={() => setByName(!isByName)}>
        {t.playground.fieldNames}
      </Button>
    </p>
  );
  if (operation.kind === "single") {
    const record = rows[0]!;
    return (
      <>
        {byName}
        <dl className="divide-y divide-line">
          {Object.entries(record)
            .filter(([name]) => name !== "source")
            .map(([name, value]) => (
              <div key={name} className="grid gap-x-6 gap-y-0.5 px-4 py-2 sm:grid-cols-[12rem_1fr] sm:px-5">
                <dt className={isByName ? "font-mono text-xs leading-5.5 text-faint" : "text-sm text-faint"}>
                  {labelOf(name)}
                </dt>
                <dd className="min-w-0 break-words">
                  {isObject(value) || Array.isArray(value) ? (
                    <JsonTree value={value} isClosed />
                  ) : (
                    <Value value={value} />
                  )}
                </dd>
              </div>
            ))}
        </dl>
        <div className="border-t border-line px-4 py-3 sm:px-5">
          <Source source={record["source"]} operation={operation} />
        </div>
      </>
    );
  }
  if (isCitationCheck(operation, rows))
    return (
      <CitationTable
        rows={rows as unknown as CitationRow[]}
        source={(row) => <Source source={row.source} operation={operation} />}
      />
    );
  const names = columnsOf(operation.name, rows, language);
  const columns: Column<Row>[] = [
    ...names.map(
      (name): Column<Row> => ({
        name: labelOf(name),
        className: isLeading(name) ? "max-w-96 min-w-48" : "max-w-56 min-w-24",
        isNumber: rows.every((row) => row[name] === null || typeof row[name] === "number"),
        cell: (row) => <Value value={row[name]} words={words} />,
      }),
    ),
    {
      name: t.playground.source,
      isWide: true,
      className: "min-w-40 max-w-64",
      cell: (row) => <Source source={row["source"]} operation={operation} />,
    },
  ];
  return (
    <>
      {byName}
      <Table
        label={t.playground.result}
        rows={rows}
        columns={columns}
        keyOf={(row) => String(row["id"] ?? JSON.stringify(row).slice(0, 200))}
      />
    </>
  );
}

/** The verdicts on citations have a table of their own, which is their page, too. */
function isCitationCheck({ name }: CatalogOperation, rows: readonly Row[]): boolean {
  return name === "legal_citation_check" && rows.every(isCitation);
}

const isDay = /^\d{4}-\d{2}-\d{2}$/;

function Value({ value, words = [] }: { readonly value: unknown; readonly words?: readonly string[] }) {
  if (value === null || value === undefined || value === "") return <span className="text-faint">–</span>;
  if (typeof value === "boolean") return <code className="font-mono text-xs">{String(value)}</code>;
  const text = String(value);
  return (
    <span
      className={classes("line-clamp-4 break-words", isDay.test(text) && "sm:whitespace-nowrap")}
      title={text.length > 120 ? text.slice(0, 2000) : undefined}
    >
      <Marked text={text} words={words} />
    </span>
  );
}
