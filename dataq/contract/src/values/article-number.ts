import type { Bilingual } from "../bilingual.ts";
import { bad, parameter, type Reading } from "./reading.ts";

const digit = "[一二三四五六七八九]";
const twoDigits = `(?:${digit}?十${digit}?|${digit})`;
/** 一 to 九千九百九十九, as laws write numbers. */
const inWords = `(?:${digit}千(?:${digit}百(?:${digit}十${digit}?|零${digit})?|零${digit}十${digit}?|零${digit})?|${digit}百(?:${digit}十${digit}?|零${digit})?|${twoDigits})`;
const number = `(?:[1-9][0-9]{0,3}|${inWords})`;
const pattern = `^(?:第${number}条|${number}条?)(?:之(?:[1-9][0-9]?|${twoDigits}))?$`;
const whole = new RegExp(pattern);

/** The number of one article: 577, 第五百七十七条, 133之一. */
export function articleNumber(description: Bilingual) {
  return parameter(description, { pattern }, readArticle);
}

function readArticle(raw: string): Reading<string> {
  const value = raw.length > 80 ? "" : raw.normalize("NFKC").replace(/\s/g, "").replaceAll("條", "条");
  if (!whole.test(value))
    return bad(
      "format",
      "must be the number of one article",
      "send a number such as 577, 第五百七十七条 or 133之一",
      "请发送如 577、第五百七十七条、133之一 的条号",
    );
  return { value };
}
