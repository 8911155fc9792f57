import { chinaDate } from "@dataq/contract";
import { checkCitations } from "../src/operations/legal/citation-check/check-citations.ts";
import { findCitations } from "../src/operations/legal/citation-check/find-citations.ts";
import { LawRegister } from "../src/operations/legal/citation-check/law-register.ts";
import { PlainText } from "../src/operations/legal/citation-check/plain-text.ts";
import type { StoredArticle } from "../src/operations/legal/laws/corpus.ts";
import { citedPassages, type Fault, faults, type Passage } from "./cited-passages.ts";
import { HeldArticles } from "./held-articles.ts";

/** What the check finds in passages with known faults. */
export interface PassageFigures {
  readonly byFault: readonly { readonly fault: Fault; readonly passages: number; readonly found: number }[];
  /** Citations without a fault, and those of them with a problem. */
  readonly correct: number;
  readonly falseAlarms: number;
  /** Passages with at least one citation that was not read. */
  readonly misread: number;
  readonly wrong: readonly string[];
}

const expected: Readonly<Record<Fault, string | undefined>> = {
  none: undefined,
  "wrong number": "no_such_article",
  repealed: "not_in_force",
  "changed words": "quotation_differs",
  "invented law": "unknown_law",
  "words of an older version": "quotation_differs",
};

export async function judgePassages(
  articles: readonly StoredArticle[],
  seed: string,
  count: number,
  now: Date,
): Promise<PassageFigures> {
  const held = new HeldArticles(articles);
  const register = new LawRegister(held.names);
  const found = new Map<Fault, number>();
  const total = new Map<Fault, number>();
  const wrong: string[] = [];
  let correct = 0;
  let falseAlarms = 0;
  let misread = 0;
  for (const passage of citedPassages(articles, seed, count, now)) {
    const plain = new PlainText(passage.text);
    const citations = findCitations(plain, register);
    const date = chinaDate(now);
    const records = await checkCitations({ plain, citations, register, held, date, now });
    if (records.length < passage.citations) {
      misread++;
      wrong.push(`read ${records.length}: ${shown(passage)}`);
    }
    const own = records.filter(({ cited }) => cited.includes(passage.cited));
    const others = records.filter((record) => !own.includes(record));
    const want = expected[passage.fault];
    total.set(passage.fault, (total.get(passage.fault) ?? 0) + 1);
    const isFound =
      want === undefined
        ? own.length > 0 && own.every(({ problems }) => problems.length === 0)
        : own.some(({ problems }) => problems.includes(want));
    if (isFound) found.set(passage.fault, (found.get(passage.fault) ?? 0) + 1);
    else wrong.push(`${passage.fault}: ${shown(passage)} ${JSON.stringify(own.map((one) => one.problems))}`);
    const rest = want === undefined ? [...others, ...own] : others;
    correct += rest.length;
    for (const { problems, cited } of rest)
      if (problems.length > 0) {
        falseAlarms++;
        wrong.push(`false alarm ${problems.join("+")} on ${cited}: ${shown(passage)}`);
      }
  }
  const byFault = faults.map((fault) => ({
    fault,
    passages: total.get(fault) ?? 0,
    found: found.get(fault) ?? 0,
  }));
  return { byFault, correct, falseAlarms, misread, wrong };
}

function shown({ text }: Passage): string {
  return JSON.stringify(text);
}
