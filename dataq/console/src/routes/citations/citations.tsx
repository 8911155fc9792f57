import { useQuery } from "@tanstack/react-query";
import { type DragEvent, type FormEvent, useRef, useState } from "react";
import FileUp from "~icons/lucide/file-up";
import Pencil from "~icons/lucide/pencil";
import Printer from "~icons/lucide/printer";
import Scale from "~icons/lucide/scale";
import {
  type CatalogOperation,
  catalogQuery,
  estimate,
  type QueryBody,
  runQuery,
} from "../../service/catalog.ts";
import { chinaDay } from "../../service/money.ts";
import { useText } from "../../text/text.tsx";
import { Button } from "../../ui/button.tsx";
import { classes } from "../../ui/classes.ts";
import { DayField } from "../../ui/day-field.tsx";
import { explain } from "../../ui/explain.ts";
import { Field, Textarea } from "../../ui/field.tsx";
import { useFormat } from "../../ui/format.tsx";
import { PageHead, Panel } from "../../ui/panel.tsx";
import { useSettled } from "../../ui/settled.ts";
import { Failure, Notice } from "../../ui/states.tsx";
import { Allowed } from "../allowed.tsx";
import { isCitation } from "../playground/citation-findings.ts";
import { useCharged } from "../playground/use-charged.ts";
import { Checked, type Finding } from "./checked.tsx";
import { FileProblem, textOfFile } from "./file-text.ts";
import { mostParts, type Part, type PlacedCitation, partsOf } from "./passages.ts";

/** The check of citations for people: a text or a file in, verdicts beside the text out. */
export function Citations() {
  const t = useText();
  const { data: catalog } = useQuery(catalogQuery);
  const operation = catalog?.find(({ name }) => name === "legal_citation_check");
  const [finding, setFinding] = useState<Finding | null>(null);
  const [text, setText] = useState("");
  return (
    <>
      <PageHead
        title={finding === null ? t.pages.citations : t.citationPage.report}
        about={finding === null ? t.citationPage.about : undefined}
        actions={
          finding !== null && (
            <span className="flex gap-2 print:hidden">
              <Button icon={<Pencil className="size-4" />} onClick={() => setFinding(null)}>
                {t.citationPage.edit}
              </Button>
              <Button icon={<Printer className="size-4" />} onClick={() => window.print()}>
                {t.citationPage.print}
              </Button>
            </span>
          )
        }
      />
      {finding === null ? (
        <Allowed to="data:query">
          <Entry text={text} onText={setText} operation={operation} onFinding={setFinding} />
        </Allowed>
      ) : (
        <Checked finding={finding} />
      )}
    </>
  );
}

function Entry({
  text,
  onText,
  operation,
  onFinding,
}: {
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly operation: CatalogOperation | undefined;
  readonly onFinding: (finding: Finding) => void;
}) {
  const t = useText();
  const [date, setDate] = useState("");
  const [problem, setProblem] = useState<FileProblem["kind"] | null>(null);
  const [isOver, setOver] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const { isRunning, run } = useCharged();
  const file = useRef<HTMLInputElement>(null);
  const parts = partsOf(text);
  const isTooLong = parts.length > mostParts;

  const read = async (chosen: File | undefined) => {
    if (chosen === undefined) return;
    setProblem(null);
    try {
      onText(await textOfFile(chosen));
    } catch (thrown) {
      setProblem(thrown instanceof FileProblem ? thrown.kind : "broken");
    }
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    void read(event.dataTransfer.files[0]);
  };
  const check = (event: FormEvent) => {
    event.preventDefault();
    if (isTooLong || parts.length === 0) return;
    void run(async (signal) => {
      setError(null);
      const citations = await checkAll(parts, date, signal);
      onFinding({ text, citations, date: date || chinaDay() });
    }, setError);
  };
  return (
    <Panel>
      <form className="flex flex-col gap-4" onSubmit={check}>
        {/* biome-ignore lint/a11y/noStaticElementInteractions: the button below does the same by keyboard */}
        <div
          className={classes("rounded-lg", isOver && "outline-2 outline-accent outline-dashed")}
          onDragOver={(event) => {
            event.preventDefault();
            setOver(true);
          }}
          onDragLeave={() => setOver(false)}
          onDrop={drop}
        >
          <Field
            label={t.citationPage.text}
            error={problem === null ? undefined : t.citationPage.file[problem]}
            hint={isOver ? t.citationPage.drop : t.citationPage.kept}
          >
            {(attributes) => (
              <Textarea
                {...attributes}
                required
                rows={14}
                value={text}
                spellCheck={false}
                placeholder={t.citationPage.placeholder}
                onChange={(event) => onText(event.target.value)}
                onPaste={(event) => {
                  const [pasted] = event.clipboardData.files;
                  if (pasted === undefined) return;
                  event.preventDefault();
                  void read(pasted);
                }}
              />
            )}
          </Field>
        </div>
        <div className="flex flex-wrap items-center gap-2">
          <Button icon={<FileUp className="size-4" />} onClick={() => file.current?.click()}>
            {t.citationPage.choose}
          </Button>
          <input
            ref={file}
            type="file"
            hidden
            accept=".docx,.pdf,.md,.markdown,.txt"
            onChange={(event) => {
              void read(event.target.files?.[0]);
              event.target.value = "";
            }}
          />
          {operation && text === "" && (
            <Button kind="quiet" onClick={() => onText(operation.example.params["text"] ?? "")}>
              {t.example}
            </Button>
          )}
        </div>
        <div className="max-w-64">
          <DayField label={t.citationPage.date} hint={t.citationPage.dateHint} day={date} onDay={setDate} />
        </div>
        {isTooLong && <Notice tone="warn" title={t.citationPage.tooLong} />}
        {parts.length > 1 && !isTooLong && <Notice title={t.citationPage.parts(parts.length)} />}
        <div className="flex flex-wrap items-center gap-4">
          <Button
            type="submit"
            kind="primary"
            isBusy={isRunning}
            disabled={isTooLong}
            icon={<Scale className="size-4" />}
          >
            {t.citationPage.check}
          </Button>
          {parts.length > 0 && !isTooLong && <Price parts={parts} date={date} />}
        </div>
        {error !== null && <Failure error={error} />}
      </form>
    </Panel>
  );
}

/** What all calls for the text will cost. */
function Price({ parts, date }: { readonly parts: readonly Part[]; readonly date: string }) {
  const t = useText();
  const format = useFormat();
  const bodies = useSettled(JSON.stringify(parts.map((part) => bodyOf(part, date))));
  const { data, error } = useQuery({
    queryKey: ["estimate", bodies],
    queryFn: async ({ signal }) => {
      const quotes = (JSON.parse(bodies) as QueryBody[]).map((body) => estimate(body, signal));
      return (await Promise.all(quotes)).reduce((sum, { tokens }) => sum + tokens, 0);
    },
    retry: false,
    gcTime: 0,
    placeholderData: (before) => before,
  });
  if (error) return <span className="text-sm text-bad">{explain(error, t).title}</span>;
  if (data === undefined) return <span className="text-sm text-faint">{t.loading}</span>;
  return (
    <span className="tabular text-sm text-soft" aria-live="polite">
      {t.playground.price}: <b className="text-ink">{t.amount(format.tokens(data))}</b> ({format.yuan(data)})
    </span>
  );
}

function bodyOf({ text }: Part, date: string): QueryBody {
  return { operation: "legal_citation_check", params: { text, ...(date !== "" && { date }) } };
}

/** One call for each part, one after the other, so that a refused one stops the rest. */
async function checkAll(
  parts: readonly Part[],
  date: string,
  signal: AbortSignal,
): Promise<readonly PlacedCitation[]> {
  const found: PlacedCitation[] = [];
  for (const part of parts) {
    const { answer } = await runQuery(bodyOf(part, date), signal, false);
    for (const row of Array.isArray(answer.data) ? answer.data : []) {
      if (!isCitation(row)) continue;
      const citation = row as unknown as PlacedCitation;
      const { start_utf16: start, end_utf16: end } = citation;
      found.push({
        ...citation,
        id: `${part.from}:${citation.id}`,
        start_utf16: part.from + start,
        end_utf16: part.from + end,
      });
    }
  }
  return found;
}
