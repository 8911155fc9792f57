import type { LawEvent } from "../corpus.ts";

/** The kind of event in a law's history. `revised` replaces the whole text, `amended` only parts of it. */
export type Happening = "passed" | "revised" | "amended" | "published" | "effective" | "repealed";

/**
 * Reads the history lines under a law's title: 1979年7月1日第五届全国人民代表大会第二次会议通过. Lines without a day are ignored;
 * a line may contain several events. Oldest first.
 */
export function readLawHistory(lines: readonly string[]): LawEvent[] {
  const events = lines
    .slice(0, mostLines)
    .flatMap((line) => narrowDigits(line.slice(0, longestLine)).split(betweenEvents))
    .flatMap((part) => {
      const text = part.replace(/^[#>*\s(（、，,]+|[*\s)）、，,]+$/g, "").replace(/\s+/g, " ");
      const date = dateIn(text);
      return date !== null && happeningIn(text) !== null ? [{ date, text }] : [];
    });
  return events.sort((a, b) => (a.date < b.date ? -1 : a.date > b.date ? 1 : 0)).slice(-mostEvents);
}

/** The event in a line; null for a line without one, such as the date of a meeting. */
export function happeningIn(text: string): Happening | null {
  // The title of a decision is removed, because it says nothing about this law: 关于修改和废止部分行政法规的决定.
  const told = text.replace(/《.*》|《.*$/g, "《》");
  if (/通过的《》/.test(told)) return "amended";
  if (/废止|失效/.test(told)) return "repealed";
  if (/修订/.test(told)) return told.includes("《") ? "amended" : "revised";
  if (/修正|修改/.test(told)) return "amended";
  if (/通过|批准|制定/.test(told)) return "passed";
  if (/施行|实施|生效/.test(told)) return "effective";
  if (/公布|发布|公告|令第/.test(told)) return "published";
  return told === "《》" || !/《》/.test(told) ? null : "amended";
}

/** Events that created a version of the text, oldest first. */
export function textEvents(history: readonly LawEvent[]): LawEvent[] {
  return history.filter(({ text }) => makesText.has(happeningIn(text) as Happening));
}

/** The date of the last event that changed the text. */
export function versionDateIn(history: readonly LawEvent[]): string | null {
  const last =
    textEvents(history).at(-1) ?? history.findLast(({ text }) => happeningIn(text) === "published");
  return last?.date ?? null;
}

/** When a version took effect according to the law's history: 2021年1月1日施行. */
export function effectiveDateInHistory(history: readonly LawEvent[], versionDate: string): string | null {
  for (const { date, text } of history) {
    if (date < versionDate) continue;
    // The following lines belong to a later amendment.
    if (date > versionDate && makesText.has(happeningIn(text) as Happening)) return null;
    const within = /自(\d{4}年\d{1,2}月\d{1,2}日)起?(?:施行|实施|生效)/.exec(text)?.[1];
    const told = within === undefined ? null : dateIn(within);
    if (told !== null && told >= versionDate) return told;
    if (happeningIn(text) === "effective") return date;
  }
  return null;
}

/**
 * The effective date in the law's own articles: 本法自2021年1月1日起施行. A date before the version date belongs to
 * the first text.
 */
export function effectiveDateInText(text: string, versionDate: string): string | null {
  const found = [...text.matchAll(ownEffect)].map(([, date = ""]) => dateIn(date)).at(-1) ?? null;
  return found !== null && found >= versionDate ? found : null;
}

/** Whether the law's own articles make it effective on publication. */
export function isEffectiveAtOnce(text: string): boolean {
  return /自(?:公布|发布|颁布|印发|批准|通过)之日起(?:施行|实施|生效|执行)/.test(text);
}

/** Names of the laws that an article repeals: 《婚姻法》同时废止. */
export function repealedIn(text: string): string[] {
  return text
    .split(/[。;；\n]/)
    .filter((sentence) => /(?:同时|即行|予以|一并)废止/.test(sentence))
    .flatMap((sentence) =>
      [...sentence.matchAll(/《((?:[^《》]|《[^《》]*》)+)》/g)].map(([, name = ""]) => name),
    );
}

export function dateIn(text: string): string | null {
  const found = /(\d{4})年(\d{1,2})月(\d{1,2})日/.exec(text);
  if (found === null) return null;
  const [, year, month = "", day = ""] = found;
  const date = `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`;
  const time = Date.parse(`${date}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(date) ? date : null;
}

function narrowDigits(text: string): string {
  return text.replace(/[０-９]/g, (digit) => digit.normalize("NFKC"));
}

const mostLines = 200;
const longestLine = 5_000;
const mostEvents = 60;
const makesText = new Set<Happening>(["passed", "revised", "amended"]);
const betweenEvents = /[\s、，,和]+(?=(?:根据|依据|自)?\s*\d{4}年\d{1,2}月\d{1,2}日)/;
const ownEffect =
  /本(?:法|法典|条例|办法|规定|细则|规则|解释|决定|修正案|安排|批复|规范|通则|章程|命令)[^。;；\n]{0,12}?自(\d{4}年\d{1,2}月\d{1,2}日)(?:零时)?起(?:施行|实施|生效|执行)/g;
