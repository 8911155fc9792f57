import { readFileSync } from "node:fs";
import { simplified } from "../../../search/analysis/script.ts";
import { lawKey } from "../question/law-reference.ts";

/** A regulation or interpretation that would answer a question and is not in the data. */
export interface UnheldSource {
  readonly title: string;
  /** Whether held articles answer a part of the question. */
  readonly isPartlyHeld: boolean;
}

interface Row extends UnheldSource {
  readonly key: string;
  /** Each an everyday word, or several that a question must all have. */
  readonly words: readonly (readonly Part[])[];
}

/** Whether a text, in lower case, has a part of a word. */
type Part = (text: string) => boolean;

/**
 * The sources that a question in everyday words needs and that are not in the data; those that alone answer it come
 * first. `isHeld` tells whether the law with a key is in the data.
 */
export function unheldSources(question: string, isHeld: (key: string) => boolean): UnheldSource[] {
  const asked = simplified(question.normalize("NFKC")).toLowerCase();
  const found = rows.filter(
    ({ words, key }) => words.some((all) => all.every((has) => has(asked))) && !isHeld(key),
  );
  const first = found.toSorted((a, b) => Number(a.isPartlyHeld) - Number(b.isPartlyHeld));
  return [...new Map(first.toReversed().map((row) => [row.key, row])).values()].toReversed();
}

/** The title of a source that is listed under this name, a short name or the title. */
export function listedTitle(name: string): string | undefined {
  return titles.get(lawKey(name));
}

const cells = readCells(new URL("sources.tsv", import.meta.url));

const rows: readonly Row[] = cells.flatMap(({ title, words, held }) =>
  words.length === 0
    ? []
    : [
        {
          title,
          key: lawKey(title),
          isPartlyHeld: held !== "",
          words: words.map((word) => word.split("+").map(partOf)),
        },
      ],
);

const titles: ReadonlyMap<string, string> = new Map(
  cells.flatMap(({ title, shortNames }) =>
    [title, ...shortNames].map((name): [string, string] => [lawKey(name), title]),
  ),
);

/** The titles and short names of all listed sources. */
export const listedNames: readonly string[] = [...titles.keys()];

/** Most parts are plain text, which is found faster without a regular expression. */
function partOf(written: string): Part {
  const lower = written.toLowerCase();
  if (!/[\\^$.*?()[\]|]/.test(lower)) return (text) => text.includes(lower);
  const pattern = new RegExp(lower);
  return (text) => pattern.test(text);
}

function readCells(file: URL) {
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => {
      const [title = "", shortNames = "", words = "", held = ""] = line.split("\t");
      return { title, shortNames: list(shortNames), words: list(words), held };
    });
}

function list(cell: string): string[] {
  return cell.split(" ").filter((each) => each !== "");
}
