import { chinaDate } from "@dataq/contract";
import type { ArticleVersion, StoredArticle } from "./corpus.ts";
import { articleStatus, inForceOn, levelOf } from "./status.ts";

/** A request for an older version: the version's index, and the words that asked for it. */
export interface AsOf {
  readonly place: number;
  readonly words: string;
}

/** The record of an article as it is today, or as it was in the requested version, with its known history. */
export function articleRecord(article: StoredArticle, now: Date, asOf?: AsOf) {
  const today = chinaDate(now);
  const versions = article.versions;
  const place = asOf?.place ?? inForceOn(versions, today);
  const version = versions[place] as ArticleVersion;
  const shown = version.content === null ? lastWithContent(versions) : version;
  return {
    id: article.id,
    law_id: version.law_id,
    law_name: version.law_name,
    article_no: article.article_no,
    article_no_arabic: article.article?.number ?? null,
    article_sub: /之.+$/.exec(article.article_no)?.[0] ?? null,
    chapter: shown.chapter,
    section: shown.section,
    content: shown.content ?? "",
    level: levelOf(version.level_text),
    level_text: version.level_text ?? "未注明",
    issuing_body: version.issuing_body,
    promulgated_date: version.promulgated_date,
    version_date: version.version_date,
    as_of: asOf?.words ?? null,
    effective_date: wordingSince(shown),
    wording_since: wordingSince(shown),
    law_effective_date: version.law_effective_date ?? null,
    expired_date: expiryOf(article, place),
    ...articleStatus(article, place, today),
    revisions: revisionsOf(article, place),
    revisions_basis: versions.length > 1 ? "compared_versions" : "law_pack",
    law_history: article.history ?? [],
    source: shown.source,
  };
}

/**
 * Index of the version of a year, month or day: the version that was passed, revised or amended then, or else the
 * version that is known to have been in force at its end. Undefined if none is known, for example for a date in the
 * future.
 */
export function placeAt(article: StoredArticle, point: string, now: Date): number | undefined {
  return placeOf(article, point, now, sinceOf);
}

/** Like `placeAt`, for the whole law. */
export function versionAt(article: StoredArticle, point: string, now: Date): number | undefined {
  return placeOf(article, point, now, ({ effective_date }) => effective_date);
}

function placeOf(
  { versions, history = [] }: StoredArticle,
  point: string,
  now: Date,
  since: (version: ArticleVersion) => string | null,
): number | undefined {
  const passedThen = versions.findLastIndex(({ version_date: date }) => date?.startsWith(point) === true);
  if (passedThen !== -1) return passedThen;
  if (point > chinaDate(now)) return undefined;
  const end = point + "-12-31".slice(point.length - 4);
  const place = versions.findLastIndex((version) => {
    const from = since(version) ?? version.version_date;
    return from !== null && from <= end;
  });
  const version = versions[place];
  if (version === undefined) return undefined;
  // An amendment whose text is not in the data may have changed the wording in between.
  const from = version.version_date ?? "";
  const isUnbroken = !history.some(
    ({ date, text }) =>
      date > from &&
      date <= end &&
      /通过|修订|修正|修改/.test(text) &&
      // A version that was not in force yet cannot have changed the wording.
      !versions.some((held, at) => at > place && held.version_date === date),
  );
  return isUnbroken ? place : undefined;
}

/** The day on which the wording took effect. Null if it is not known, as in data that an older dataq stored. */
function wordingSince({ wording_since: since, change, since: held }: ArticleVersion): string | null {
  if (since !== undefined) return since;
  return change === "original" ? (held ?? null) : null;
}

/**
 * A day on which the wording was in force already. Data of older versions has only the effective date of the
 * whole law.
 */
export function sinceOf(version: ArticleVersion): string | null {
  return version.since === undefined ? version.effective_date : version.since;
}

/** The date from which the wording of a version is no longer in force. */
function expiryOf({ versions, acts = [], repealed }: StoredArticle, place: number): string | null {
  const version = versions[place] as ArticleVersion;
  if (version.content === null) return sinceOf(version);
  const next = versions.slice(place + 1).find(({ change }) => change !== "unchanged" && change !== null);
  const act = acts.find(({ date }) => date > (versions.at(-1)?.version_date ?? ""));
  const days = [next?.effective_date, act?.effective_date, repealed?.date];
  return days.filter((day) => day !== undefined && day !== null).sort()[0] ?? null;
}

function lastWithContent(versions: readonly ArticleVersion[]): ArticleVersion {
  return [...versions].reverse().find(({ content }) => content !== null) ?? (versions[0] as ArticleVersion);
}

/**
 * The changes of each version and each amending act to the article, oldest first. Includes versions in which
 * the article had another number.
 */
function revisionsOf(article: StoredArticle, place: number) {
  const { versions, acts = [], past } = article;
  const start = Math.max(
    0,
    versions.findLastIndex((version, at) => at <= place && isOther(version)),
  );
  const end = versions.findIndex((version, at) => at > place && isOther(version));
  const before = past?.from === start ? past.versions : [];
  const own = versions.slice(start, end === -1 ? undefined : end);
  const ofVersions = [...before, ...own].flatMap((version) => revisionOf(article, version));
  const days = new Set(ofVersions.map(({ version_date }) => version_date));
  const first = start === 0 ? "" : (versions[start]?.version_date ?? "");
  const ofActs = acts
    .filter(({ date }) => !days.has(date) && date >= first)
    .map(({ date, effective_date, change, by }) => ({
      version_date: date,
      effective_date,
      content: null,
      change,
      former_article_no: null,
      by,
    }));
  return [...ofVersions, ...ofActs].sort((a, b) => (a.version_date < b.version_date ? -1 : 1));
}

/** Whether the number belongs to a different article from this version on. */
function isOther({ change, former_no }: ArticleVersion): boolean {
  return change === "added" || former_no !== undefined;
}

function revisionOf({ history = [], acts = [] }: StoredArticle, version: ArticleVersion) {
  const date = version.version_date ?? version.promulgated_date;
  // The article did not exist yet.
  if (date === null || version.change === null) return [];
  const decided = history.find((event) => event.date === date)?.text;
  return [
    {
      version_date: date,
      effective_date: version.effective_date,
      content: version.content,
      change: version.change ?? "unknown",
      former_article_no: version.former_no ?? null,
      by: acts.find((act) => act.date === date)?.by ?? version.issuing_body ?? bodyIn(decided),
    },
  ];
}

/** The body that passed the change, from a line such as 2023年12月29日 第十四届全国人民代表大会常务委员会第七次会议修订. */
function bodyIn(line: string | undefined): string | null {
  return /日\s*(\S+?(?:会议|国务院|法院|检察院))/.exec(line ?? "")?.[1] ?? null;
}
