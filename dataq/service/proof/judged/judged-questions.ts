import { readFileSync } from "node:fs";
import { type JudgmentRecord, judgmentsCorpus } from "../../src/operations/legal/cases/corpus.ts";
import { lawArticlesCorpus } from "../../src/operations/legal/laws/corpus.ts";
import { journalsCorpus } from "../../src/operations/research/journal-search/corpus.ts";
import { papersCorpus } from "../../src/operations/research/paper-search/corpus.ts";
import { type HeldRecord, idOf } from "./held-records.ts";

/** `dev` may be used to tune the search. `test` may not: only its figures are published. */
export type Half = "dev" | "test";

/** A question, and the records that answer it. */
export interface JudgedQuestion {
  readonly kind: string;
  readonly query: string;
  readonly corpus: string;
  /** IDs of the right records. Any of them is a correct answer. */
  readonly right: ReadonlySet<string>;
}

/** A line of `dev.jsonl` or `test.jsonl`. Articles, papers and journals are record IDs. */
interface Line {
  readonly kind: string;
  readonly query: string;
  readonly right: {
    readonly articles?: readonly string[];
    readonly papers?: readonly string[];
    readonly journals?: readonly string[];
    readonly judgments?: WantedJudgment;
  };
}

/** All given conditions must be met. */
interface WantedJudgment {
  /** The judgment decides on one of these. */
  readonly causes?: readonly string[];
  /** Part of the court's name. */
  readonly court?: string;
  /** The year of the judgment or of its case number. */
  readonly year?: string;
  readonly judge?: string;
  readonly party?: string;
  readonly case_no?: string;
}

/**
 * Reads the questions. Throws if a right record is not in the data, because the figures would count it as missed.
 */
export function readJudged(half: Half, held: ReadonlyMap<string, readonly HeldRecord[]>): JudgedQuestion[] {
  const text = readFileSync(new URL(`${half}.jsonl`, import.meta.url), "utf8");
  const ids = new Map([...held].map(([corpus, records]) => [corpus, new Set(records.map(idOf))]));
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const { kind, query, right } = JSON.parse(line) as Line;
      const [corpus, named] = namedIn(right, held);
      const missing = named.filter((id) => ids.get(corpus)?.has(id) !== true);
      if (named.length === 0 || missing.length > 0)
        throw new Error(
          `The ${half} half expects records that are not in the data: ${query} ${missing.join(", ")}`,
        );
      return { kind, query, corpus, right: new Set(named) };
    });
}

function namedIn(
  { articles, papers, journals, judgments }: Line["right"],
  held: ReadonlyMap<string, readonly HeldRecord[]>,
): readonly [string, readonly string[]] {
  if (articles !== undefined) return [lawArticlesCorpus, articles];
  if (papers !== undefined) return [papersCorpus, papers];
  if (journals !== undefined) return [journalsCorpus, journals];
  const records = (held.get(judgmentsCorpus) ?? []) as readonly JudgmentRecord[];
  return [judgmentsCorpus, records.filter((record) => fits(record, judgments ?? {})).map(({ id }) => id)];
}

function fits(
  record: JudgmentRecord,
  { causes, court, year, judge, party, case_no }: WantedJudgment,
): boolean {
  const own = record.cause_of_action?.split("、") ?? [];
  const years = [record.judgment_date?.slice(0, 4), /\d{4}/.exec(record.case_no ?? "")?.[0]];
  return (
    (causes === undefined || causes.some((cause) => hasCause(own, cause))) &&
    (court === undefined || record.court_name.includes(court)) &&
    (year === undefined || years.includes(year)) &&
    (judge === undefined || sits(judge, record)) &&
    (party === undefined || record.full_text.includes(party)) &&
    (case_no === undefined || record.case_no === case_no)
  );
}

/**
 * Whether the judge is named in the judgment. Reads the text itself, not the fields that our importer made of
 * it.
 */
function sits(judge: string, { full_text: text }: JudgmentRecord): boolean {
  return new RegExp(`(?:审判长|审判员|陪审员)[:：]?${judge}`).test(text.replace(/\s/g, ""));
}

/**
 * Whether the cause is among those of the judgment. Some causes contain the character that separates causes:
 * 组织、领导传销活动罪.
 */
function hasCause(own: readonly string[], cause: string): boolean {
  const parts = cause.split("、");
  return own.some((_, at) => parts.every((part, offset) => own[at + offset] === part));
}
