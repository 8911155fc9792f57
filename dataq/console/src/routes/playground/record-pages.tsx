import type { CatalogOperation } from "../../service/catalog.ts";
import { useText } from "../../text/text.tsx";
import { useFormat } from "../../ui/format.tsx";
import { JsonTree } from "../../ui/json-tree.tsx";
import { useLook } from "../../ui/look.ts";
import { useLabels } from "./labels.ts";
import { Marked } from "./marked.tsx";
import { type Row, sheetOf } from "./record-sheet.ts";
import { Source } from "./source.tsx";

/** The records as somebody would print them: a heading, the text, the other facts, and where each is from. */
export function RecordPages({
  operation,
  rows,
  words,
}: {
  readonly operation: CatalogOperation;
  readonly rows: readonly Row[];
  readonly words: readonly string[];
}) {
  return (
    <ol className="divide-y divide-line">
      {rows.map((row) => (
        <li key={String(row["id"] ?? JSON.stringify(row).slice(0, 200))}>
          <RecordPage operation={operation} row={row} words={words} />
        </li>
      ))}
    </ol>
  );
}

function RecordPage({
  operation,
  row,
  words,
}: {
  readonly operation: CatalogOperation;
  readonly row: Row;
  readonly words: readonly string[];
}) {
  const t = useText();
  const format = useFormat();
  const { language } = useLook();
  const labelOf = useLabels(operation);
  const { heading, texts, facts, rest } = sheetOf(row, language);
  return (
    <article className="flex flex-col gap-3 px-4 py-5 sm:px-5">
      {heading !== "" && (
        <h3 className="text-base font-semibold break-words">
          <Marked text={heading} words={words} />
        </h3>
      )}
      {texts.map(([name, text]) => (
        <p key={name} className="max-w-prose leading-7 break-words whitespace-pre-line">
          <Marked text={text} words={words} />
        </p>
      ))}
      {facts.length > 0 && (
        <dl className="grid gap-x-6 gap-y-1.5 text-sm sm:grid-cols-2">
          {facts.map(([name, value]) => (
            <div key={name} className="flex min-w-0 gap-2">
              <dt className="shrink-0 text-faint">{labelOf(name)}</dt>
              <dd className="min-w-0 break-words">
                {typeof value === "boolean" ? (
                  value ? (
                    t.playground.yes
                  ) : (
                    t.playground.no
                  )
                ) : typeof value === "number" ? (
                  name === "year" ? (
                    value
                  ) : (
                    format.number(value, 2)
                  )
                ) : /^https?:\/\//.test(value) ? (
                  <a
                    href={value}
                    target="_blank"
                    rel="noreferrer noopener"
                    className="break-all text-accent hover:underline"
                  >
                    {value}
                  </a>
                ) : (
                  value
                )}
              </dd>
            </div>
          ))}
        </dl>
      )}
      {rest.map(([name, value]) => (
        <details key={name} className="text-sm">
          <summary className="text-soft hover:text-ink">
            {labelOf(name)} <span className="text-faint">({value.length})</span>
          </summary>
          <div className="mt-2">
            <JsonTree value={value} />
          </div>
        </details>
      ))}
      <Source source={row["source"]} operation={operation} />
    </article>
  );
}
