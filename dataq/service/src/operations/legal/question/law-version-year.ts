import { readNumber } from "./chinese-number.ts";
import { isLawName, readLawReference } from "./law-reference.ts";

/** A version of a law that a question names by its year, month or day. */
export interface LawVersionYear {
  /** 2018, 2018-10 or 2018-10-26. */
  readonly point: string;
  /** The words that name the version, as written: 2018修正, 1997年. */
  readonly words: string;
  /** The question without `words`. */
  readonly rest: string;
}

/**
 * Finds the year or date next to a law's name: 公司法(2018修正) 第二十条, 公司法2023修订, 1997年刑法. The text is in NFKC.
 * Undefined if no law is named, so that 合同纠纷 2018 is a search by words.
 */
export function readLawVersionYear(asked: string): LawVersionYear | undefined {
  const text = withFullYears(asked);
  for (const found of text.matchAll(yearWords)) {
    const [written, bracketed, open] = found;
    const words = (bracketed ?? open ?? "").replace(/\s/g, "");
    const before = text.slice(0, found.index);
    const after = text.slice(found.index + written.length);
    // The year is part of an amendment's name.
    if (/修正案\s*$/.test(before)) continue;
    const rest = `${before.trimEnd()} ${after.trimStart()}`.trim().replace(/\(\s*\)/g, "");
    if (!namesLaw(rest)) continue;
    return { point: pointOf(words), words: words.replace(/的$/, ""), rest };
  }
  return undefined;
}

/** Writes years with four digits: 二〇一八年 becomes 2018年; 97年刑法 and 18年修正 become 1997年 and 2018年. */
function withFullYears(text: string): string {
  return text
    .replace(yearInWords, (digits) =>
      [...digits].map((digit) => readNumber(digit.replace("○", "〇"))).join(""),
    )
    .replace(shortYear, (digits) => `${Number(digits) < 49 ? 20 : 19}${digits}`);
}

const yearInWords =
  /(?<![第一二三四五六七八九〇零○])(?:一九|二[〇零○])[〇零○一二三四五六七八九]{2}(?=\s*(?:年|修|\)))/g;
const shortYear =
  /(?<![0-9])(?:[0-9]{2}(?=\s*年\s*(?:修订|修正|修改|版))|^[4-9][0-9](?=年?\p{Script=Han}*法))/gu;

function pointOf(words: string): string {
  const [, year = "", month, day] =
    /^([0-9]{4})(?:[^0-9]([0-9]{1,2})(?:[^0-9]([0-9]{1,2}))?)?/.exec(words) ?? [];
  return [year, month, day].flatMap((part) => part?.padStart(2, "0") ?? []).join("-");
}

function namesLaw(text: string): boolean {
  const { law } = readLawReference(text);
  return law === null ? text.split(/\s+/).some(isLawName) : isLawName(law);
}

/** Another century needs 年: 民法典 1024 is an article. */
const year = "(?:(?:19|20)[0-9]{2}|[1-9][0-9]{3}(?=\\s*年))";
const month = "(?:1[0-2]|0?[1-9])";
const dayOfMonth = "(?:3[01]|[12][0-9]|0?[1-9])(?![0-9])";
const date = `${year}(?:\\s*年\\s*${month}\\s*月(?:\\s*${dayOfMonth}\\s*日?)?|[./-]${month}(?![0-9])(?:[./-]${dayOfMonth})?)?`;
const what = "\\s*年?\\s*(?:第?[一二三四五六七八九十]次)?(?:修订|修正|修改)?(?:版|本|案|后)?(?:的)?";
/** Years and dates that are not part of a longer number or an article number. */
const yearWords = new RegExp(
  `\\(\\s*(${date}${what})\\s*\\)|(?<![0-9第])(${date}${what})(?![0-9月条号款项./-])`,
  "g",
);
