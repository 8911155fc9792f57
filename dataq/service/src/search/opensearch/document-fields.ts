import { type Analyser, isHan, runGap, runs, textGap } from "../analysis/analyser.ts";
import { dateNumber } from "../date-number.ts";
import type { IndexDocument, Query } from "../search-index.ts";

/**
 * The fields of a document in OpenSearch. Our own analysis splits the texts, and OpenSearch splits only at spaces, so
 * that both engines find the same. Bodies stay in PostgreSQL, where the place of a document finds them.
 */
export interface DocumentFields {
  /** Each word as often as it counts. Positions are not kept. */
  readonly words: string;
  /** Each Chinese character and each other word in its position, for phrases. */
  readonly characters: string;
  /** Exact terms. */
  readonly terms: readonly string[];
  readonly date: number;
}

export const mapping = {
  dynamic: "strict",
  // Without the second, OpenSearch keeps the fields for replicas that fall behind while an index is written, and the
  // index is three times as large. Ours gets its replica when it is complete.
  _source: { enabled: false, recovery_source_enabled: false },
  properties: {
    words: { type: "text", analyzer: "whitespace", index_options: "freqs" },
    characters: { type: "text", analyzer: "whitespace", norms: false },
    terms: { type: "keyword" },
    date: { type: "integer" },
    segment: { type: "long", index: false },
    ordinal: { type: "integer" },
  },
} as const;

/** Makes the fields of documents. Remembers runs, because judgments repeat phrases and splitting is expensive. */
export class FieldMaker {
  readonly #analyser: Analyser;
  readonly #known = { withPairs: new Map<string, SplitRun>(), wordsOnly: new Map<string, SplitRun>() };

  constructor(analyser: Analyser) {
    this.#analyser = analyser;
  }

  fieldsOf({ texts, terms, date }: IndexDocument): DocumentFields {
    let words = "";
    let characters = "";
    for (const { text, weight, isLong = false } of texts) {
      for (const run of runs(text)) {
        const split = this.#split(run, !isLong);
        words += weight === 1 ? split.words : split.words.repeat(weight);
        characters += split.characters;
      }
      characters += endOfText;
    }
    return { words, characters, terms: [...new Set(terms)], date: dateNumber(date) };
  }

  #split(run: string, withPairs: boolean): SplitRun {
    const known = withPairs ? this.#known.withPairs : this.#known.wordsOnly;
    const found = known.get(run);
    if (found !== undefined) return found;
    const words = this.#analyser.runTerms(run, { withPairs });
    const split = {
      words: words.map((word) => `${word} `).join(""),
      characters: `${charactersOf(run).join(" ")} ${gapToken.repeat(runGap)}`,
    };
    if (known.size >= mostKnownRuns) known.clear();
    known.set(run, split);
    return split;
  }
}

/** A run as the fields have it: each token is followed by a space. */
interface SplitRun {
  readonly words: string;
  readonly characters: string;
}

type Phrase = Extract<Query, { phrase: unknown }>["phrase"];

/** The tokens of a phrase in the field `characters`, with the number of unknown tokens before each. */
export function phraseCharacters(
  phrase: Phrase,
): readonly { readonly before: number; readonly token: string }[] {
  let end: number | undefined;
  return [...phrase]
    .sort((a, b) => a.at - b.at)
    .flatMap(({ term, at }) => {
      const before = end === undefined ? 0 : at - end;
      end = at + term.length;
      return charactersOf(term).map((token, place) => ({ before: place === 0 ? before : 0, token }));
    });
}

function charactersOf(run: string): string[] {
  return isHan(run) ? run.split("") : [run];
}

/** Punctuation is never a word. */
const gapToken = "· ";
const endOfText = gapToken.repeat(textGap);
const mostKnownRuns = 200_000;
/** Words of the analyser never contain a colon; exact terms have one after their prefix. */
export function fieldOf(term: string): "words" | "terms" {
  return term.includes(":") ? "terms" : "words";
}
