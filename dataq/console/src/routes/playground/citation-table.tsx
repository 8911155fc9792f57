import type { ReactNode } from "react";
import { useText } from "../../text/text.tsx";
import { Badge } from "../../ui/panel.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import {
  type CitationRow,
  type Difference,
  differencesOf,
  findingsOf,
  verdictOf,
} from "./citation-findings.ts";

/** The citations of a text: first whether each is right, then what is wrong with it, then the law's own words. */
export function CitationTable({
  rows,
  source,
}: {
  readonly rows: readonly CitationRow[];
  readonly source: (row: CitationRow) => ReactNode;
}) {
  const t = useText();
  const columns: Column<CitationRow>[] = [
    {
      name: t.citations.verdict,
      className: "min-w-28",
      cell: (row) => {
        const { tone, text } = verdictOf(row, t.citations);
        return <Badge tone={tone}>{text}</Badge>;
      },
    },
    {
      name: t.citations.cited,
      isWide: true,
      className: "max-w-56 min-w-32",
      cell: ({ cited }) => <span className="break-words">{cited}</span>,
    },
    {
      name: t.citations.findings,
      isWide: true,
      className: "max-w-112 min-w-64",
      cell: (row) => <Findings row={row} />,
    },
    {
      name: t.citations.article,
      isWide: true,
      className: "max-w-72 min-w-48",
      cell: ({ content }) =>
        content === null ? (
          <span className="text-faint">–</span>
        ) : (
          <span className="line-clamp-4 break-words" title={content.slice(0, 2000)}>
            {content}
          </span>
        ),
    },
    { name: t.playground.source, isWide: true, className: "min-w-40 max-w-64", cell: source },
  ];
  const isMarked = rows.some((row) => differencesOf(row).length > 0);
  return (
    <>
      {isMarked && (
        <p className="border-b border-line px-4 py-2 text-xs text-soft sm:px-5">
          <Change kind="added" text={t.citations.onlyQuoted} /> ·{" "}
          <Change kind="missing" text={t.citations.onlyInLaw} />
        </p>
      )}
      <Table label={t.playground.result} rows={rows} columns={columns} keyOf={({ id }) => id} />
    </>
  );
}

/** What is wrong with a citation, and how its quotation differs. */
export function Findings({ row }: { readonly row: CitationRow }) {
  const t = useText();
  const sentences = findingsOf(row, t.citations);
  const differences = differencesOf(row);
  if (sentences.length === 0 && differences.length === 0) return <span className="text-faint">–</span>;
  return (
    <div className="flex flex-col gap-1 break-words">
      {sentences.map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
      {differences.map((pieces) => (
        <p key={pieces.map(({ kind, text }) => kind + text).join()}>
          {pieces.map((piece, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of a quotation never change their order
            <Change key={at} {...piece} />
          ))}
        </p>
      ))}
    </div>
  );
}

function Change({ kind, text }: Difference) {
  if (kind === "same") return text;
  return kind === "added" ? (
    <del className="bg-bad-wash text-bad">{text}</del>
  ) : (
    <ins className="bg-good-wash text-good">{text}</ins>
  );
}
