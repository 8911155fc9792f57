import { chinaDate } from "@dataq/contract";
import type { ArticleVersion, StoredArticle } from "./corpus.ts";
import { inForceOn, levelOf, statusOf } from "./status.ts";

/** The article as it stands on the day of the question, with what the imported versions show of its history. */
export function articleRecord(article: StoredArticle, now: Date) {
  const today = chinaDate(now);
  const versions = article.versions;
  const place = inForceOn(versions, today);
  const version = versions[place] as ArticleVersion;
  const next = versions[place + 1];
  const shown = version.content === null ? lastWithContent(versions) : version;
  const isRepealed = version.content === null;
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
    effective_date: version.effective_date,
    expired_date: isRepealed ? version.effective_date : (next?.effective_date ?? null),
    ...(isRepealed
      ? { status: "repealed" as const, status_text: "本条已删除" }
      : statusOf(version, next !== undefined, today)),
    revisions: revisionsOf(article),
    revisions_basis: versions.length > 1 ? "compared_versions" : "law_pack",
    law_history: article.history ?? [],
    source: shown.source,
  };
}

function lastWithContent(versions: readonly ArticleVersion[]): ArticleVersion {
  return [...versions].reverse().find(({ content }) => content !== null) ?? (versions[0] as ArticleVersion);
}

/** What changed from version to version, by article number. A version alone shows only its own dates. */
function revisionsOf({ versions, history = [] }: StoredArticle) {
  return versions.flatMap((version, place) => {
    const date = version.version_date ?? version.promulgated_date;
    if (date === null) return [];
    const before = versions[place - 1];
    const change =
      place === 0 ? firstChange(version) : changeBetween(before?.content ?? null, version.content);
    if (change === null) return [];
    return [
      {
        version_date: date,
        effective_date: version.effective_date,
        content: version.content,
        change,
        by: version.issuing_body ?? bodyIn(history.find((event) => event.date === date)?.text),
      },
    ];
  });
}

/** Who decided, in a line such as 2023年12月29日 第十四届全国人民代表大会常务委员会第七次会议修订. */
function bodyIn(line: string | undefined): string | null {
  return /日\s*(\S+?(?:会议|国务院|法院|检察院))/.exec(line ?? "")?.[1] ?? null;
}

/** A first known version that came after the law took effect is an amended one; of the article itself more is not known. */
function firstChange(version: ArticleVersion): "original" | "amended" | null {
  if (version.content === null) return null;
  const { effective_date: effective, version_date: date } = version;
  return effective !== null && date !== null && date > effective ? "amended" : "original";
}

function changeBetween(before: string | null, after: string | null) {
  if (before === null) return after === null ? null : "added";
  if (after === null) return "repealed";
  return plain(before) === plain(after) ? "unchanged" : "amended";
}

/** Without white space and the difference of full and half width, which change between editions of one text. */
function plain(text: string): string {
  return text.normalize("NFKC").replace(/\s+/g, "");
}
