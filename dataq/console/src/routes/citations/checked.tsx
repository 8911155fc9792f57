import { useText } from "../../text/text.tsx";
import { classes } from "../../ui/classes.ts";
import { CopyButton } from "../../ui/code.tsx";
import { useFormat } from "../../ui/format.tsx";
import { Badge, Panel, Stat, Stats, tones } from "../../ui/panel.tsx";
import { Empty } from "../../ui/states.tsx";
import { verdictOf } from "../playground/citation-findings.ts";
import { Findings } from "../playground/citation-table.tsx";
import { correctionsOf, type PlacedCitation, piecesOf } from "./passages.ts";

/** A checked text. */
export interface Finding {
  readonly text: string;
  readonly citations: readonly PlacedCitation[];
  readonly date: string;
}

/** The text with its citations marked, and beside it what is to be said about each. */
export function Checked({ finding }: { readonly finding: Finding }) {
  const t = useText();
  const format = useFormat();
  const { text, citations, date } = finding;
  const wrong = citations.filter(({ problems }) => problems.length > 0).length;
  const unchecked = citations.filter((row) => row.problems.length === 0 && row.verdict !== "exists").length;
  return (
    <div className="flex flex-col gap-5">
      <Stats>
        <Stat name={t.citationPage.found} value={format.number(citations.length)} />
        <Stat
          name={t.citationPage.wrong}
          value={format.number(wrong)}
          {...(wrong > 0 && { tone: "bad" as const })}
        />
        <Stat name={t.citationPage.unchecked} value={format.number(unchecked)} />
        <Stat name={t.citationPage.asOf} value={format.day(date)} />
      </Stats>
      {citations.length === 0 ? (
        <Panel>
          <Empty title={t.citationPage.none} />
        </Panel>
      ) : (
        <div className="grid items-start gap-5 lg:grid-cols-2">
          <Panel
            title={t.citationPage.checked}
            className="lg:sticky lg:top-18 lg:max-h-[calc(100dvh-6rem)] lg:overflow-y-auto print:static print:max-h-none"
          >
            <Marked text={text} citations={citations} />
          </Panel>
          <Panel title={t.citationPage.verdicts} isFlush>
            <ol className="divide-y divide-line">
              {citations.map((row, index) => (
                <Verdict key={row.id} row={row} number={index + 1} />
              ))}
            </ol>
          </Panel>
        </div>
      )}
    </div>
  );
}

function Marked({ text, citations }: Pick<Finding, "text" | "citations">) {
  const t = useText();
  return (
    <p className="leading-relaxed break-words whitespace-pre-wrap">
      {piecesOf(text, citations).map(({ text: piece, citation }, at) => {
        if (citation === null) return piece;
        const number = citations.indexOf(citation) + 1;
        const { tone, text: verdict } = verdictOf(citation, t.citations);
        return (
          <a
            // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of a text never change their order
            key={at}
            id={`cited-${number}`}
            href={`#verdict-${number}`}
            title={verdict}
            className={classes(
              "rounded px-0.5 underline decoration-1 underline-offset-4 target:outline-2 target:outline-accent",
              tones[tone],
            )}
          >
            {piece}
            <sup className="ml-0.5">{number}</sup>
          </a>
        );
      })}
    </p>
  );
}

function Verdict({ row, number }: { readonly row: PlacedCitation; readonly number: number }) {
  const t = useText();
  const { tone, text } = verdictOf(row, t.citations);
  return (
    <li
      id={`verdict-${number}`}
      className="flex scroll-mt-20 flex-col gap-1.5 px-4 py-3 break-inside-avoid target:bg-accent-wash sm:px-5"
    >
      <p className="flex flex-wrap items-baseline gap-2">
        <a href={`#cited-${number}`} className="tabular text-accent underline-offset-4 hover:underline">
          {number}
        </a>
        <Badge tone={tone}>{text}</Badge>
        <span className="min-w-0 break-words">{row.cited}</span>
      </p>
      {(row.problems.length > 0 || row.quotations.length > 0 || row.nearest !== null) && (
        <div className="text-sm text-soft">
          <Findings row={row} />
        </div>
      )}
      {correctionsOf(row).map(({ kind, text: correction }) => (
        <p
          key={correction}
          className="flex items-start justify-between gap-3 rounded-md bg-sunken px-3 py-1.5"
        >
          <span className="min-w-0 text-sm break-words">
            <span className="text-faint">{t.citationPage.instead[kind]}</span> {correction}
          </span>
          <span className="shrink-0 print:hidden">
            <CopyButton text={correction} label={t.citationPage.copyCorrection} />
          </span>
        </p>
      ))}
      {row.content !== null && (
        <details className="text-sm">
          <summary className="cursor-pointer text-faint">{t.citationPage.lawText}</summary>
          <p className="mt-1 break-words whitespace-pre-wrap text-soft">{row.content}</p>
        </details>
      )}
    </li>
  );
}
