import { type Params, type Warning, warning } from "@dataq/contract";
import { both, rangeText } from "../../../search/date-range.ts";
import type { SearchIndex, SearchPage } from "../../../search/search-index.ts";
import type { TextQuestion } from "../../../search/text-search.ts";
import type { ReadQuestion, Searching } from "../../../sources/search-source.ts";
import { caseNumberPrefix, courtPrefix, type JudgmentRecord, legalIndexFill } from "./corpus.ts";
import { paramFilters } from "./fields.ts";
import { readCaseQuestion } from "./question.ts";

/** Judgments by words and fields. */
export const cases: Searching = {
  read,
  text: (body) => (body as JudgmentRecord).full_text,
  prefer: "本院认为",
};

async function read(params: Params, index: SearchIndex, corpus: string): Promise<ReadQuestion> {
  const asked = await readCaseQuestion(params["query"] ?? "", {
    count: (terms) => index.count(corpus, terms),
    async countPhrase(text) {
      const phrase = (await index.analyser(corpus))?.phraseTerms(text) ?? [];
      const found = await index.search(corpus, { query: { phrase } }, { offset: 0, limit: 0 });
      return found?.total ?? 0;
    },
  });
  const given = paramFilters(params);
  const dates = both(asked.question.dates, given.dates);
  const question: TextQuestion = {
    ...asked.question,
    filters: [...asked.question.filters, ...given.filters],
    ...(dates !== undefined && { dates }),
  };
  return { ...asked, question, notHeld: () => notHeld(question, index, corpus) };
}

/**
 * The warning for a question without results: names its year, court or case if no real judgment of it is
 * held.
 */
async function notHeld(
  { dates: asked, soft, filters }: TextQuestion,
  index: SearchIndex,
  corpus: string,
): Promise<readonly Warning[]> {
  for (const filter of filters) {
    if (!("term" in filter)) continue;
    const [, code] = lookUps.find(([prefix]) => filter.term.startsWith(prefix)) ?? [];
    if (code !== undefined && (await index.count(corpus, [filter.term], generated)) === 0)
      return [warning(code)];
  }
  const dates = asked ?? soft?.dates;
  if (dates === undefined) return [];
  const found = await index.search(corpus, { query: { all: [] }, dates }, countedWithout(generated));
  return found?.total === 0 ? [warning("time_without_judgments", { time: rangeText(dates) })] : [];
}

const generated = legalIndexFill.dataset;

const lookUps = [
  [courtPrefix, "court_without_judgments"],
  [caseNumberPrefix, "case_number_not_held"],
] as const;

function countedWithout(dataset: string | undefined): SearchPage {
  return { offset: 0, limit: 0, ...(dataset !== undefined && { datasets: { without: dataset } }) };
}
