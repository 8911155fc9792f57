import { readNumber } from "../question/chinese-number.ts";
import type { ArticleNumber } from "../question/law-reference.ts";

/** An article, paragraph or item that a text names, with the words that name it. */
export interface NamedPlace {
  readonly from: number;
  readonly to: number;
  readonly article: ArticleNumber;
  readonly paragraph: number | null;
  readonly item: number | null;
}

/** What follows an article: 第二款第(三)项. */
export interface NamedPart {
  readonly from: number;
  readonly to: number;
  readonly paragraph: number | null;
  readonly item: number | null;
}

/**
 * Reads the articles that are named at a place of a text: 第五百七十七条, 第264、266条, 第二十条之一第二款第(三)项,
 * 第577条和第584条. Without 第 only if `isAfterLaw`. `end` is the place after them.
 */
export function placesAt(
  text: string,
  at: number,
  isAfterLaw: boolean,
): { readonly places: readonly NamedPlace[]; readonly end: number } | undefined {
  const places: NamedPlace[] = [];
  let end = at;
  let isRange = false;
  for (let next = at; places.length < mostPlaces; ) {
    if (text[next] !== "第" && !(isAfterLaw || next > at)) break;
    const found = match(group, text, next);
    if (found === undefined || countsThings(text, found, next)) break;
    const articles = articlesIn(found, next);
    const last = articles.at(-1);
    if (last === undefined) break;
    if (isRange) places.push(...articlesBetween(places.at(-1) as NamedPlace, articles[0] as NamedPlace));
    const { parts, end: after } = partsAt(text, next + found.length);
    const [first, ...others] = parts;
    places.push(...articles.slice(0, -1));
    places.push({ ...last, ...(first && { paragraph: first.paragraph, item: first.item, to: first.to }) });
    places.push(...others.map((part) => ({ article: last.article, ...part })));
    end = after;
    const join = match(joining, text, end);
    if (join === undefined) break;
    // A number after a comma need not be an article; 第十条至十二条 is a range.
    const start = end + join.length;
    if (text[start] !== "第" && !/^(?:、|和|与|及|至|到)$/.test(join)) break;
    isRange = /^[至到~—–-]/.test(join);
    next = start;
  }
  return places.length === 0 ? undefined : { places, end };
}

/** Reads an article without 条 right after a law's name: 民法典577, 刑法第二百六十四. */
export function bareArticleAt(
  text: string,
  at: number,
): { readonly places: readonly NamedPlace[]; readonly end: number } | undefined {
  const found = match(bare, text, at);
  if (found === undefined) return undefined;
  const number = readArticleDigits(found.replace(/^第/, ""));
  if (!number) return undefined;
  const end = at + found.length;
  return {
    places: [{ from: at, to: end, article: { number, sub: null }, paragraph: null, item: null }],
    end,
  };
}

/** Reads 第二款, 第一款第(二)项, 第(一)、(二)项. `paragraph` is that of an item without its own. */
export function partsAt(
  text: string,
  at: number,
): { readonly parts: readonly NamedPart[]; readonly end: number } {
  const parts: NamedPart[] = [];
  let end = at;
  let paragraph: number | null = null;
  while (parts.length < mostPlaces) {
    const found = match(part, text, end);
    if (found === undefined) break;
    const unit = found.at(-1);
    const numbers = numbersIn(found, end);
    const to = end + found.length;
    if (numbers.length === 0) break;
    if (unit === "款") {
      for (const { from, number } of numbers) parts.push({ from, to, paragraph: number, item: null });
      paragraph = numbers.at(-1)?.number ?? null;
    } else if (unit === "项") {
      const last = parts.at(-1);
      const start = last?.item === null ? (parts.pop() as NamedPart).from : undefined;
      for (const [place, { from, number }] of numbers.entries())
        parts.push({ from: place === 0 ? (start ?? from) : from, to, paragraph, item: number });
    } else {
      const last = parts.pop();
      if (last !== undefined) parts.push({ ...last, to });
    }
    end = to;
  }
  return { parts, end };
}

const numeral = "(?:[0-9]{1,4}|[零〇一二两三四五六七八九十百千]{1,9})";
const sub = "(?:之(?:[0-9]{1,2}|[一二三四五六七八九十]{1,3}))";
const between = "(?:、|,|;|/|和|与|及其?|以及|或者?|至|到|[-~—–]{1,2})";
const group = new RegExp(
  `第?${numeral}${sub}?(?:${between}第?${numeral}${sub}?){0,40}条(?![款件例约])${sub}?(?:[、和]${sub}){0,9}`,
  "y",
);
const bare =
  /(?:第?[0-9]{1,4}|第[零〇一二两三四五六七八九十百千]{1,9})(?! ?[0-9]|[年月日元万号%.:章编节条个份届次款项-])/y;
const part = new RegExp(
  `(?:[、,和与及或]|以及)?第?\\(?${numeral}\\)?(?:(?:、|,|和|与|及|以及|或者?|至|到|-)第?\\(?${numeral}\\)?|第?\\(${numeral}\\)){0,12}(?:款|项|目)`,
  "y",
);
const joining = /(?:、|,|;|和|与|及其?|以及|或者?|并|同时|结合|至|到|[-~—–]{1,2})/y;
/** Longer lists are read in parts. */
const mostPlaces = 60;
/** Longer ranges are represented by their first and last article. */
const longestRange = 10;

/** 条 also counts dogs, roads and other things: 三条狗. */
function countsThings(text: string, found: string, at: number): boolean {
  return (
    /^[1-9一二两三四五六七八九十]条$/.test(found) &&
    /^(?![之第款的规中里是和、及与])\p{Script=Han}/u.test(
      text.slice(at + found.length, at + found.length + 2),
    )
  );
}

function articlesIn(found: string, at: number): NamedPlace[] {
  const places: NamedPlace[] = [];
  const put = (from: number, to: number, number: number, subNumber: number | null) =>
    places.push({
      from: at + from,
      to: at + to,
      article: { number, sub: subNumber },
      paragraph: null,
      item: null,
    });
  for (const each of found.matchAll(eachNumber)) {
    const [written, join = "", digits, beforeEnd, alone] = each;
    const from = each.index + join.length;
    const to = each.index + written.length;
    if (alone !== undefined) {
      // 第133条之一、之二; 第133条和之一 names both.
      const last = places.at(-1);
      const number = readNumber(alone);
      if (last === undefined || number === undefined) continue;
      if (last.article.sub === null && join === "")
        places[places.length - 1] = {
          ...last,
          article: { number: last.article.number, sub: number },
          to: at + to,
        };
      else put(from, to, last.article.number, number);
      continue;
    }
    const number = readArticleDigits(digits ?? "");
    if (!number) return [];
    const subNumber = beforeEnd === undefined ? null : (readNumber(beforeEnd) ?? null);
    const last = places.at(-1)?.article;
    const isRange = /[-~—–至到]/.test(join) && last !== undefined && subNumber === null;
    // 133-1 is not a range; it means 第一百三十三条之一.
    if (isRange && number <= last.number && !/[至到]/.test(join)) {
      const whole = places.pop() as NamedPlace;
      put(whole.from - at, to, last.number, number);
    } else {
      put(from, to, number, subNumber);
      if (isRange)
        places.splice(-1, 0, ...articlesBetween(places.at(-2) as NamedPlace, places.at(-1) as NamedPlace));
    }
  }
  const last = places.at(-1);
  if (last !== undefined) places[places.length - 1] = { ...last, to: at + found.length };
  return places;
}

/** The articles between the first and the last of a range. The words of the whole range name them. */
function articlesBetween(first: NamedPlace, last: NamedPlace): NamedPlace[] {
  const count = last.article.number - first.article.number - 1;
  if (count >= longestRange) return [];
  return Array.from({ length: Math.max(0, count) }, (_, place) => ({
    ...last,
    from: first.from,
    article: { number: first.article.number + 1 + place, sub: null },
  }));
}

const eachNumber = new RegExp(
  `(${between})?(?:第?(${numeral})(?:之([0-9]{1,2}|[一二三四五六七八九十]{1,3}))?|条?之([0-9]{1,2}|[一二三四五六七八九十]{1,3}))`,
  "g",
);

function numbersIn(found: string, at: number): { readonly from: number; readonly number: number }[] {
  const numbers: { from: number; number: number }[] = [];
  for (const each of found.matchAll(partNumber)) {
    const [, join = "", digits = ""] = each;
    const number = readNumber(digits);
    if (number === undefined || number === 0) return [];
    const last = numbers.at(-1)?.number;
    const isRange = /[至到-]/.test(join) && last !== undefined;
    if (isRange && number > last && number - last <= longestRange)
      for (let middle = last + 1; middle < number; middle++)
        numbers.push({ from: at + each.index, number: middle });
    numbers.push({ from: at + each.index + join.length, number });
  }
  return numbers;
}

const partNumber = new RegExp(`(以及|或者|[、,和与及或至到-])?第?\\(?(${numeral})\\)?`, "g");

/** Reads 五百七十七, 577, or single digits such as 五七七. */
function readArticleDigits(text: string): number | undefined {
  const byDigit = /^[零〇一二三四五六七八九]{2,4}$/.test(text);
  return byDigit ? Number([...text].map((digit) => readNumber(digit) ?? 0).join("")) : readNumber(text);
}

function match(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}
