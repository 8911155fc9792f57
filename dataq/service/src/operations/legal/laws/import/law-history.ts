import type { LawEvent } from "../corpus.ts";

/**
 * Reads the lines that a law's text has under its title: 1979年7月1日第五届全国人民代表大会第二次会议通过. Lines
 * without a day tell nothing; several in one pair of brackets are several. Oldest first.
 */
export function readLawHistory(lines: readonly string[]): LawEvent[] {
  const events = lines
    .slice(0, mostLines)
    .flatMap((line) => line.slice(0, longestLine).split(betweenEvents))
    .flatMap((part) => {
      const text = part.replace(/^[#>*\s(（]+|[*\s)）]+$/g, "").replace(/\s+/g, " ");
      const date = dateIn(text);
      return date !== null && happening.test(text) ? [{ date, text }] : [];
    });
  return events.sort((a, b) => (a.date < b.date ? -1 : a.date > b.date ? 1 : 0)).slice(-mostEvents);
}

/** The day from which a version holds by its last article; an older one than the version is the first version's. */
export function effectiveDateIn(lastArticle: string, versionDate: string | null): string | null {
  const found = /自(\d{4}年\d{1,2}月\d{1,2}日)起(?:施行|实施|生效)/.exec(lastArticle)?.[1];
  const date = found === undefined ? null : dateIn(found);
  return date !== null && versionDate !== null && date >= versionDate ? date : null;
}

const mostLines = 200;
const longestLine = 5_000;
const mostEvents = 60;
const betweenEvents = /[\s　]+(?=(?:根据|依据|自)?\d{4}年\d{1,2}月\d{1,2}日)/;
const happening = /通过|修订|修正|修改|公布|发布|批准|废止|施行|制定/;

function dateIn(text: string): string | null {
  const found = /(\d{4})年(\d{1,2})月(\d{1,2})日/.exec(text);
  if (found === null) return null;
  const [, year, month = "", day = ""] = found;
  const date = `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`;
  const time = Date.parse(`${date}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(date) ? date : null;
}
