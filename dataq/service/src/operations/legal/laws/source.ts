import type { PostingIndex } from "../../../search/postings/posting-index.ts";
import type { Query } from "../../../search/search-index.ts";
import type { ReadQuestion, Searching } from "../../../sources/search-source.ts";
import { isLawName, type LawReference, lawKey, readLawReference } from "../question/law-reference.ts";
import { type LawVersionYear, readLawVersionYear } from "../question/law-version-year.ts";
import { articleTerm, lawTerm, lawYearTerm, type StoredArticle } from "./corpus.ts";
import { articleRecord, placeInYear, versionInYear } from "./record.ts";

/** Articles by reference, else by words. */
export const laws: Searching = {
  read: (params, index, corpus) => read(params["query"] ?? "", index, corpus),
  render: (body, now) => articleRecord(body as StoredArticle, now),
  text: (body) => textOf(body as StoredArticle),
};

/** An article that is named is looked up and never searched, so that nothing near it is given for it. */
async function read(text: string, index: PostingIndex, corpus: string): Promise<ReadQuestion> {
  const version = readLawVersionYear(text);
  if (version !== undefined) return readVersion(version, index, corpus);
  const { law, article, rest } = referenceIn(text);
  if (law !== null) {
    const filter = exact(article === null ? lawTerm(law) : articleTerm(law, article));
    return { ...question([filter], rest), notHeld: () => lawNotHeld(law, index, corpus) };
  }
  if (article !== null) return question([exact(articleTerm(null, article))], rest);
  const { laws: named, others } = await lawsIn(text, index, corpus);
  return question(
    named.map((key) => exact(lawTerm(key))),
    others,
  );
}

/** The article, or the law, as it stood in the year that the question names. */
async function readVersion(
  { year, words, rest: text }: LawVersionYear,
  index: PostingIndex,
  corpus: string,
): Promise<ReadQuestion> {
  const { law, article, rest } = referenceIn(text);
  const found = law === null ? await lawsIn(text, index, corpus) : { laws: [law], others: rest };
  const key = found.laws[0];
  // No law of that name is held: search by words, the year among them.
  if (key === undefined) return question([], `${text} ${year}`);
  const filter = exact(article === null ? lawTerm(key) : articleTerm(key, article));
  const body = await firstOf(filter, index, corpus);
  // An article that no version contains is missing in every year.
  if (body === undefined)
    return { ...question([filter], found.others), notHeld: () => lawNotHeld(key, index, corpus) };
  const place = article === null ? versionInYear(body, year) : placeInYear(body, year);
  if (place === undefined)
    return {
      ...question([filter, exact(lawYearTerm(key, year))], found.others),
      notHeld: versionNotHeld(body, words),
    };
  const ofVersion = body.versions[place]?.version_date?.slice(0, 4) ?? year;
  return {
    ...question([filter, exact(lawYearTerm(key, ofVersion))], found.others),
    render: (each, now) => {
      const stored = each as StoredArticle;
      const at = stored.versions.findLastIndex(
        ({ version_date }) => version_date?.startsWith(ofVersion) === true,
      );
      return articleRecord(stored, now, { place: at, words });
    },
  };
}

function referenceIn(text: string): LawReference {
  return isFullName(text) ? { law: lawKey(text), article: null, rest: "" } : readLawReference(text);
}

async function lawNotHeld(key: string, index: PostingIndex, corpus: string): Promise<string | undefined> {
  return (await index.count(corpus, [lawTerm(key)])) > 0 ? undefined : `The law ${key} is not held.`;
}

function versionNotHeld({ law_name: name, versions }: StoredArticle, words: string): string {
  const held = versions.map(({ version_date: date }) => date).filter((date) => date !== null);
  return `The version ${words} of ${name} is not held. Versions held: ${held.join(", ") || "one without a date"}.`;
}

/** The words that name a law that is held, and the others. */
async function lawsIn(
  text: string,
  index: PostingIndex,
  corpus: string,
): Promise<{ readonly laws: string[]; readonly others: string }> {
  const keys: string[] = [];
  const others: string[] = [];
  for (const word of text.split(" ")) {
    const key = lawKey(word);
    if (isLawName(word) && (await index.count(corpus, [lawTerm(key)])) > 0) keys.push(key);
    else others.push(word);
  }
  return { laws: keys, others: others.join(" ") };
}

async function firstOf(
  filter: Query,
  index: PostingIndex,
  corpus: string,
): Promise<StoredArticle | undefined> {
  const found = await index.search(corpus, { query: filter }, { offset: 0, limit: 1 });
  return found?.hits[0]?.body.parse() as StoredArticle | undefined;
}

function question(filters: readonly Query[], text: string): ReadQuestion {
  return { question: { filters, alternatives: [text], phrases: [], without: [] }, warnings: [] };
}

/** A name that can be nothing but a law's is never searched by its words. */
function isFullName(text: string): boolean {
  return /^中华人民共和国\S+$/.test(text) && isLawName(text);
}

function exact(term: string): Query {
  return { term };
}

function textOf(article: StoredArticle): string {
  return article.versions.findLast(({ content }) => content !== null)?.content ?? "";
}
