import { isObject } from "../../service/call.ts";
import type { CatalogOperation } from "../../service/catalog.ts";
import { useText } from "../../text/text.tsx";
import { useFormat } from "../../ui/format.tsx";
import { JsonTree } from "../../ui/json-tree.tsx";
import { useLook } from "../../ui/look.ts";
import { useLabels } from "./labels.ts";
import { Marked } from "./marked.tsx";
import { type Row, type Sheet, sheetOf } from "./record-sheet.ts";
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
  const { language } = useLook();
  const sheet = sheetOf(row, language);
  return (
    <article className="flex flex-col gap-3 px-4 py-5 sm:px-5">
      {sheet.heading !== "" && (
        <h3 className="text-base font-semibold break-words">
          <Marked text={sheet.heading} words={words} />
        </h3>
      )}
      <Contents sheet={sheet} operation={operation} words={words} place="" />
      <Source source={row["source"]} operation={operation} />
    </article>
  );
}

/** The texts, facts and lists of a record, or of a part of it at `place`. */
function Contents({
  sheet: { texts, facts, rest },
  operation,
  words,
  place,
}: {
  readonly sheet: Sheet;
  readonly operation: CatalogOperation;
  readonly words: readonly string[];
  readonly place: string;
}) {
  const t = useText();
  const format = useFormat();
  const { language } = useLook();
  const label = useLabels(operation);
  const labelOf = (name: string) => label(place + name);
  return (
    <>
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
      {rest.map(([name, parts]) => (
        <details key={name} className="text-sm">
          <summary className="text-soft hover:text-ink">
            {labelOf(name)} <span className="text-faint">({parts.length})</span>
          </summary>
          {place !== "" || !parts.every(isObject) ? (
            <div className="mt-2">
              <JsonTree value={parts} />
            </div>
          ) : (
            <ol className="mt-2 divide-y divide-line border-l border-line pl-4">
              {parts.map((part, at) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: the parts of an answer never change their order
                <li key={at} className="flex flex-col gap-2 py-2">
                  <Contents
                    sheet={sheetOf(part, language)}
                    operation={operation}
                    words={words}
                    place={`${name}[].`}
                  />
                </li>
              ))}
            </ol>
          )}
        </details>
      ))}
    </>
  );
}
