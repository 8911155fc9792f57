import { readNumber } from "./chinese-number.ts";

/** An article of a law: 第二十条之一 is `{number: 20, sub: 1}`. */
export interface ArticleNumber {
  readonly number: number;
  readonly sub: number | null;
}

export interface LawReference {
  /** Key of the named law (`lawKey`), with aliases resolved; null if only an article is named. */
  readonly law: string | null;
  readonly article: ArticleNumber | null;
  /** The text without the reference. */
  readonly rest: string;
}

const inWords = "[零〇一二两三四五六七八九十百千]{1,9}";
const number = `[0-9]{1,4}|${inWords}`;
const article = `第?\\s*(${number})\\s*条(?:\\s*之\\s*(${number}))?(?:第?(?:${number})款)?(?:第?\\(?(?:${number})\\)?项)?`;
const quoted = /^\s*《([^《》]{1,60})》/;
const articlePattern = new RegExp(article);
const wholeArticle = new RegExp(`^${article}$`);
/**
 * Matches a number directly after a law's name, without 条: 民法典577, 刑法 133之一, 民法典第五百七十七. A number in Chinese
 * characters needs 第 before it, or a unit after it, because 修正案十一 and 解释二 are names.
 */
const bareNumber = new RegExp(
  `^(.*?[^0-9第\\s])\\s*(?:第?\\s*([0-9]{1,4})|第\\s*(${inWords})|(?<=法|典)\\s*(?=[^之]*[十百千])(${inWords}))(?:\\s*之\\s*(${number}))?\\s*$`,
);
const lawEnding =
  /(?:法|法典|条例|规定|办法|规则|解释|决定|修正案|宪法|通则|总则|细则)(?:\([一二三四五六七八九十]+\))?$/;

/** Reads the law and the article that a query names. The text is in NFKC. */
export function readLawReference(text: string): LawReference {
  const inQuotes = quoted.exec(text);
  const found = articlePattern.exec(inQuotes === null ? text : text.slice(inQuotes[0].length));
  if (inQuotes !== null) {
    const after = text.slice(inQuotes[0].length);
    const rest = found === null ? after : after.replace(found[0], " ");
    const bare = found === null ? bareArticle(bareNumber.exec(`法${after}`)) : null;
    return {
      law: lawKey(inQuotes[1] as string),
      article: bare ?? readArticle(found),
      rest: bare === null ? rest.trim() : "",
    };
  }
  if (found !== null) {
    const before = text.slice(0, found.index).trim();
    const rest = text.slice(found.index + found[0].length).trim();
    if (before === "") return { law: null, article: readArticle(found), rest };
    const name = /\S+$/.exec(before)?.[0] ?? before;
    return {
      law: lawKey(name),
      article: readArticle(found),
      rest: `${before.slice(0, before.length - name.length)} ${rest}`.trim(),
    };
  }
  const bare = bareNumber.exec(text);
  const bareFound = bareArticle(bare);
  if (bareFound !== null && isLawName(bare?.[1] as string))
    return { law: lawKey(bare?.[1] as string), article: bareFound, rest: "" };
  return { law: null, article: null, rest: text };
}

/** Whether a word may be the name of a law: by its ending, or as a known short name. */
export function isLawName(text: string): boolean {
  const plain = plainName(text);
  return lawAliases.has(plain) || (plain.length >= 2 && lawEnding.test(plain));
}

/** The normal form of a law's name: without 《》, spaces and 中华人民共和国, with short names written out. */
export function lawKey(name: string): string {
  const plain = plainName(name);
  return lawAliases.get(plain) ?? plain;
}

/** Reads a text that is only an article number, such as 第五百七十七条 or 第二十条之一; undefined for anything else. */
export function readArticleNumber(text: string): ArticleNumber | undefined {
  return readArticle(wholeArticle.exec(text.normalize("NFKC").trim())) ?? undefined;
}

/** Reads the parameter `article`, whose form the contract has checked: 577, 第五百七十七条, 133之一. */
export function readArticleValue(text: string): ArticleNumber {
  const [number = "", sub] = text.replace(/[第条]/g, "").split("之");
  return { number: readNumber(number) ?? 0, sub: sub === undefined ? null : (readNumber(sub) ?? null) };
}

function readArticle(found: RegExpExecArray | null): ArticleNumber | null {
  if (found === null) return null;
  const value = readNumber(found[1] ?? "");
  if (value === undefined) return null;
  return { number: value, sub: found[2] === undefined ? null : (readNumber(found[2]) ?? null) };
}

function bareArticle(found: RegExpExecArray | null): ArticleNumber | null {
  if (found === null) return null;
  const [, , digits, ordinal, words, sub] = found;
  const value = readNumber(digits ?? ordinal ?? words ?? "");
  return value === undefined ? null : { number: value, sub: (sub && readNumber(sub)) || null };
}

function plainName(text: string): string {
  return (
    text
      .normalize("NFKC")
      .replace(/[《》<>\s"“”]/g, "")
      .replace(/^(?:中华人民共和国)(?=.{2,})/, "")
      // The year is part of an amendment's name: 宪法修正案(2018年).
      .replace(/(?<!修正案)\((?:19|20)\d{2}(?:年)?(?:修订|修正|修改)?\)$/, "")
  );
}

/** Short names in daily use, and the law that each means. */
export const lawAliases: ReadonlyMap<string, string> = new Map(
  Object.entries({
    民诉法: "民事诉讼法",
    刑诉法: "刑事诉讼法",
    行诉法: "行政诉讼法",
    消法: "消费者权益保护法",
    消保法: "消费者权益保护法",
    道交法: "道路交通安全法",
    交法: "道路交通安全法",
    反法: "反不正当竞争法",
    个保法: "个人信息保护法",
    个信法: "个人信息保护法",
    数安法: "数据安全法",
    网安法: "网络安全法",
    未保法: "未成年人保护法",
    治安处罚法: "治安管理处罚法",
    治安法: "治安管理处罚法",
    土管法: "土地管理法",
    新公司法: "公司法",
    劳合法: "劳动合同法",
    劳动争议仲裁法: "劳动争议调解仲裁法",
    环保法: "环境保护法",
    香港国安法: "香港特别行政区维护国家安全法",
    妇女权益法: "妇女权益保障法",
    老年法: "老年人权益保障法",
    破产法: "企业破产法",
    电商法: "电子商务法",
    税征法: "税收征收管理法",
    税收征管法: "税收征收管理法",
    个税法: "个人所得税法",
    企税法: "企业所得税法",
    城房法: "城市房地产管理法",
    房地产管理法: "城市房地产管理法",
    民典: "民法典",
    民法: "民法典",
    民诉: "民事诉讼法",
    刑诉: "刑事诉讼法",
    行诉: "行政诉讼法",
    刑法典: "刑法",
    治安处罚条例: "治安管理处罚法",
    消费者权益法: "消费者权益保护法",
    消费者保护法: "消费者权益保护法",
    劳动仲裁法: "劳动争议调解仲裁法",
    道路交通法: "道路交通安全法",
    交通安全法: "道路交通安全法",
    个人信息法: "个人信息保护法",
    反家暴法: "反家庭暴力法",
    家暴法: "反家庭暴力法",
    反诈法: "反电信网络诈骗法",
    反电诈法: "反电信网络诈骗法",
    食安法: "食品安全法",
    药管法: "药品管理法",
    安生法: "安全生产法",
    社保法: "社会保险法",
    复议法: "行政复议法",
    国赔法: "国家赔偿法",
    招投标法: "招标投标法",
    采购法: "政府采购法",
    商行法: "商业银行法",
    基金法: "证券投资基金法",
    合伙法: "合伙企业法",
    独资企业法: "个人独资企业法",
    土地法: "土地管理法",
    土地承包法: "农村土地承包法",
    规划法: "城乡规划法",
    噪声法: "噪声污染防治法",
    出入境管理法: "出境入境管理法",
    身份证法: "居民身份证法",
    涉外法律适用法: "涉外民事关系法律适用法",
    预防犯罪法: "预防未成年人犯罪法",
    外商法: "外商投资法",
  }),
);
