import { readFileSync } from "node:fs";

/** A citation of a written opinion, as its key has it. */
export interface KeyedCitation {
  /** The sentence, or the row of a table, that cites. */
  readonly quote: string;
  readonly law: string;
  readonly article: string;
  readonly is_error: boolean;
  readonly kind: string;
  /** How an error is told: quote or paraphrase. */
  readonly form: string;
  readonly why: string;
}

/** An opinion as somebody writes one, with a key that says which citations are wrong, and why. */
export interface WrittenOpinion {
  readonly name: string;
  readonly text: string;
  readonly key: readonly KeyedCitation[];
}

export function readOpinion(name: string, folder: URL | string): WrittenOpinion {
  const read = (ending: string) => readFileSync(new URL(`${name}.${ending}`, folder), "utf8");
  return { name, text: read("txt"), key: JSON.parse(read("json")) };
}

interface JudgedRecord {
  readonly start_utf16: number;
  readonly end_utf16: number;
  readonly law_name: string | null;
  readonly article_no: string | null;
  readonly problems: readonly string[];
}

/** Each citation of the key with its records: those in its sentence that name its article, or else all of them. */
export function recordsOf<T extends JudgedRecord>({ text, key }: WrittenOpinion, records: readonly T[]) {
  return key.map((citation) => {
    const start = text.indexOf(citation.quote);
    if (start === -1) throw new Error(`The opinion lacks ${citation.quote}`);
    const there = records.filter(({ start_utf16: at }) => at >= start && at < start + citation.quote.length);
    const article = /第[^条]+条(?:之[一二三四五六七八九十]+)?/.exec(citation.article)?.[0];
    const own = there.filter(({ article_no: number }) => number === article);
    return { ...citation, records: own.length > 0 ? own : there };
  });
}
