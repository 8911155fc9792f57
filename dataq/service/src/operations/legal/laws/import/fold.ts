import type { Provenance } from "@dataq/contract";
import { sourceOfPart } from "../../../../importer/provenance.ts";
import type { StoredLaw } from "../../law-catalog/corpus.ts";
import { lawKey, readArticleNumber } from "../../question/law-reference.ts";
import type { ArticleVersion, LawEvent, LawFacts, StoredArticle } from "../corpus.ts";
import type { LawVersion } from "./law-version.ts";

/** A version of a law with the source of each article. */
export interface SourcedVersion {
  readonly facts: LawFacts;
  readonly articles: readonly (ArticleVersion & { readonly article_no: string })[];
  readonly history: readonly LawEvent[];
  readonly source: Provenance;
}

export function withSources(version: LawVersion, source: Provenance): SourcedVersion {
  return {
    facts: version.facts,
    articles: version.articles.map(({ articleNo, chapter, section, content }) => ({
      ...version.facts,
      article_no: articleNo,
      chapter,
      section,
      content,
      source: sourceOfPart(source, content, version.facts.law_id),
    })),
    history: version.history,
    source,
  };
}

/**
 * Puts the versions of each law together: for every article number its text in each version, oldest first. Two
 * versions of one law with the same date are one: the one of which more is known, else the later in the list. The
 * law's history is the longest that any of them tells.
 */
export function foldLaws(versions: readonly SourcedVersion[]): StoredArticle[] {
  const laws = new Map<string, Map<string, SourcedVersion>>();
  const histories = new Map<string, readonly LawEvent[]>();
  for (const version of versions) {
    const key = lawKey(version.facts.law_name);
    if (version.history.length > (histories.get(key)?.length ?? 0)) histories.set(key, version.history);
    const dates = laws.get(key) ?? new Map<string, SourcedVersion>();
    const date = version.facts.version_date ?? "";
    const known = dates.get(date);
    if (known === undefined || knowledge(version) >= knowledge(known)) dates.set(date, version);
    laws.set(key, dates);
  }
  return [...laws].flatMap(([key, dates]) => {
    const ordered = [...dates].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, version]) => version);
    return foldLaw(key, ordered, histories.get(key) ?? []);
  });
}

function knowledge({ facts }: SourcedVersion): number {
  return Object.values(facts).filter((fact) => fact !== null).length;
}

function foldLaw(
  key: string,
  versions: readonly SourcedVersion[],
  history: readonly LawEvent[],
): StoredArticle[] {
  const newest = versions[versions.length - 1] as SourcedVersion;
  const byVersion = versions.map((version) => numbered(version.articles));
  // The order of the newest version, then what only older ones have.
  const labels = new Set([...byVersion].reverse().flatMap((articles) => [...articles.keys()]));
  return [...labels].map((label) => {
    const found = byVersion.map((articles) => articles.get(label));
    const sample = found.find((article) => article !== undefined);
    const articleNo = sample?.article_no ?? label;
    return {
      id: `${key}:${label}`,
      law_name: newest.facts.law_name,
      article_no: articleNo,
      article: readArticleNumber(articleNo) ?? null,
      versions: found.map((article, place) => {
        if (article !== undefined) {
          const { article_no: _, ...version } = article;
          return version;
        }
        const version = versions[place] as SourcedVersion;
        const source = (version.articles[0] ?? sample)?.source as ArticleVersion["source"];
        return { ...version.facts, chapter: null, section: null, content: null, source };
      }),
      history,
    };
  });
}

/** By number (577, 20-1); a number that stands twice in a law gets `#2`. */
function numbered<Article extends { readonly article_no: string }>(articles: readonly Article[]) {
  const out = new Map<string, Article>();
  for (const article of articles) {
    const parsed = readArticleNumber(article.article_no);
    const base =
      parsed === undefined
        ? article.article_no
        : `${parsed.number}${parsed.sub === null ? "" : `-${parsed.sub}`}`;
    let label = base;
    for (let again = 2; out.has(label); again++) label = `${base}#${again}`;
    out.set(label, article);
  }
  return out;
}

/** The versions that stored articles were folded from. */
export function unfoldLaws(articles: Iterable<StoredArticle>): SourcedVersion[] {
  const versions = new Map<
    string,
    {
      facts: LawFacts;
      articles: SourcedVersion["articles"][number][];
      history: readonly LawEvent[];
      source: Provenance;
    }
  >();
  for (const article of articles) {
    for (const version of article.versions) {
      const { chapter: _chapter, section: _section, content, source, ...facts } = version;
      const key = `${facts.law_id} ${facts.version_date ?? ""}`;
      const known = versions.get(key) ?? { facts, articles: [], history: article.history ?? [], source };
      if (content !== null) known.articles.push({ ...version, article_no: article.article_no });
      versions.set(key, known);
    }
  }
  return [...versions.values()];
}

export function entriesOf(versions: readonly SourcedVersion[]): StoredLaw[] {
  return versions.map(({ facts, articles, source }) => ({
    ...facts,
    article_count: articles.length,
    source: articles[0]?.source ?? sourceOfPart(source, facts, facts.law_id),
  }));
}
