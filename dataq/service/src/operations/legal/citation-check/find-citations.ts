import { caseNumber } from "../cases/question.ts";
import { readLawVersionYear } from "../question/law-version-year.ts";
import { notALaw, otherLawStart } from "../question/named-laws.ts";
import type { LawRegister } from "./law-register.ts";
import { bareArticleAt, type NamedPlace, partsAt, placesAt } from "./places.ts";
import type { PlainText } from "./plain-text.ts";

/** A citation with its place in the plain text. */
export interface FoundCitation {
  readonly from: number;
  readonly to: number;
  /** Null for a judgment. */
  readonly law: CitedLaw | null;
  /** Null for a judgment, and for a law that is cited without an article. */
  readonly place: Pick<NamedPlace, "article" | "paragraph" | "item"> | null;
  readonly caseNumber: string | null;
}

export interface CitedLaw {
  /** Null if 该法 or 本法 has no law before it. */
  readonly key: string | null;
  readonly written: string;
  /** The version that the citation names. */
  readonly version?: { readonly point: string; readonly words: string };
}

/** Counts how often a text is read. Each time, only a bounded part is read. */
export interface Work {
  looks: number;
}

/**
 * Reads the citations of a text in one pass. Stops after `most` and a few more, so that the caller can tell that there
 * are too many.
 */
export function findCitations(
  plain: PlainText,
  register: LawRegister,
  most = Number.POSITIVE_INFINITY,
  work: Work = { looks: 0 },
): FoundCitation[] {
  return new Scanner(plain, register, work).run(most);
}

/** A law named at a place, with the words up to where an article may follow. */
interface Mention {
  readonly from: number;
  readonly to: number;
  readonly law: CitedLaw;
  /** Only these are citations without an article. */
  readonly isTitle: boolean;
}

class Scanner {
  readonly #plain: PlainText;
  readonly #text: string;
  readonly #register: LawRegister;
  readonly #found: FoundCitation[] = [];
  /** Names that the text itself defines, by their first character: 以下简称“本法”. */
  readonly #defined = new Map<string, { readonly name: string; readonly law: CitedLaw }[]>();
  #definitions = 0;
  /** The law that 该法 means, and an article without a law. */
  #current: { readonly law: CitedLaw; readonly at: number } | undefined;
  /** Where the text last named a contract. Its articles are not those of a law. */
  #contractAt = -1;
  #lastPlace: { readonly place: NonNullable<FoundCitation["place"]>; readonly law: CitedLaw } | undefined;
  /** Laws cited so far. A law without an article is a citation only the first time. */
  readonly #cited = new Set<string>();
  readonly #keys = new Map<string, string>();
  readonly #isQuoted: Uint8Array;
  readonly #work: Work;
  /** The next 》, or the end of the text. */
  #nextClose = -1;

  constructor(plain: PlainText, register: LawRegister, work: Work) {
    this.#work = work;
    this.#plain = plain;
    this.#text = plain.text;
    this.#register = register;
    this.#isQuoted = quotedPlaces(plain.text);
  }

  run(most: number): FoundCitation[] {
    for (let at = 0; at < this.#text.length && this.#found.length <= most; ) {
      this.#work.looks++;
      const next = this.#read(at);
      at = Math.max(next, at + 1);
    }
    return this.#found;
  }

  /** Reads what starts at a place. Returns the place after it, or the place itself. */
  #read(at: number): number {
    const character = this.#text[at] as string;
    if (character === "《" || character === "〈") return this.#readMention(this.#titleAt(at), at);
    if (/[(〔[0-9]/.test(character)) {
      const end = this.#readCaseNumber(at);
      if (end !== at) return end;
    }
    if (/[最全国]/.test(character)) {
      const mention = this.#actAt(at);
      if (mention !== undefined) return this.#readMention(mention, at);
    }
    if (/[该同本此上前其]/.test(character)) {
      const end = this.#readReference(at);
      if (end !== at) return end;
    }
    if (contractWord(this.#text, at)) this.#contractAt = at;
    const mention = this.#definedAt(at) ?? this.#nameAt(at);
    if (mention !== undefined) return this.#readMention(mention, at);
    return character === "第" ? this.#readAlone(at) : at;
  }

  #match(pattern: RegExp, at: number): string | undefined {
    this.#work.looks++;
    return match(pattern, this.#text, at);
  }

  #placesAt(at: number, isAfterLaw: boolean): ReturnType<typeof placesAt> {
    this.#work.looks++;
    return placesAt(this.#text, at, isAfterLaw);
  }

  /** The place of the 》 that closes a title. Titles may contain titles. */
  #closing(at: number): number | undefined {
    if (this.#nextClose < at) {
      const next = /[》〉]/g;
      next.lastIndex = at;
      this.#nextClose = next.exec(this.#text)?.index ?? this.#text.length;
    }
    if (this.#nextClose > at + longestTitle) return undefined;
    let depth = 0;
    for (let place = at; place < Math.min(this.#text.length, at + longestTitle); place++) {
      this.#work.looks++;
      const character = this.#text[place];
      if (character === "《" || character === "〈") depth++;
      if ((character === "》" || character === "〉") && --depth === 0)
        return place > at + 2 ? place : undefined;
      if (character === "。" || character === "”") return undefined;
    }
    return undefined;
  }

  /** Reads the articles after a law's name. */
  #readMention(mention: Mention | undefined, at: number): number {
    if (mention === undefined) return at;
    const { to, law, isTitle, from } = mention;
    const after = this.#afterName(to, law, mention);
    const start = after.end;
    const list =
      this.#placesAt(start, true) ?? (after.isDirect ? bareArticleAt(this.#text, start) : undefined);
    if (list !== undefined && !isAgreed(this.#text, list.end)) {
      this.#put(after.law, list.places, from);
      return list.end;
    }
    this.#current = { law: after.law, at: to };
    const key = law.key ?? "";
    if (isTitle && isCitedAlone(key, this.#register) && !this.#cited.has(key)) {
      this.#cited.add(key);
      this.#found.push({ from, to: after.named, law: after.law, place: null, caseNumber: null });
    }
    return Math.max(to, after.named);
  }

  #put(law: CitedLaw, places: readonly NamedPlace[], from?: number): void {
    for (const [index, { from: own, to, article, paragraph, item }] of places.entries()) {
      const place = { article, paragraph, item };
      const start = index === 0 ? (from ?? own) : own;
      this.#found.push({ from: start, to, law, place, caseNumber: null });
      this.#lastPlace = { place, law };
    }
    if (law.key !== null) this.#cited.add(law.key);
    this.#current = { law, at: places.at(-1)?.to ?? this.#current?.at ?? 0 };
  }

  /** A title in 《》 that can be the name of a law, with 解释(三) and the like after it. */
  #titleAt(at: number): Mention | undefined {
    const end = this.#closing(at);
    if (end === undefined) return undefined;
    let name = this.#text.slice(at + 1, end).replace(/[《》〈〉]/g, "");
    let to = end + 1;
    const more = this.#match(titleSuffix, to);
    if (more !== undefined) {
      name += more;
      to += more.length;
    }
    if (/(?:合同|协议|章程|公约|保单|承诺书|备忘录|手册|制度)(?:书)?$/.test(name)) this.#contractAt = at;
    name = name.replace(lastOrdinal, "$1($2)");
    const defined = this.#definition(name);
    if (defined === undefined && !isLawTitle(name) && !this.#register.isKnown(this.#keyOf(name)))
      return undefined;
    return this.#mention(at, to, name, true, defined);
  }

  /** 最高人民法院关于适用《公司法》若干问题的规定(三) without 《》 around it. */
  #actAt(at: number): Mention | undefined {
    const issuer = this.#match(issuers, at);
    if (issuer === undefined) return undefined;
    const about = this.#text.slice(at, at + longestIssuer).indexOf("关于");
    if (about === -1 || /[。;,:《》]/.test(this.#text.slice(at, at + about))) return undefined;
    const window = this.#text.slice(at, at + longestTitle);
    let depth = 0;
    for (let place = about; place < window.length; place++) {
      const character = window[place] as string;
      if (/[。;:“”]/.test(character) || (character === "第" && depth === 0)) return undefined;
      if (character === "《" || character === "〈") depth++;
      if (character === "》" || character === "〉") depth--;
      this.#work.looks++;
      if (depth > 0 || !/[规解批决办意通答纪]/.test(character)) continue;
      const ending = match(actEnding, window, place);
      if (ending === undefined) continue;
      const to = at + place + ending.length;
      const name = this.#text.slice(at, to).replace(/[《》〈〉]/g, "");
      return this.#mention(at, to, name, true);
    }
    return undefined;
  }

  #definedAt(at: number): Mention | undefined {
    const list = this.#defined.get(this.#text.charAt(at));
    const found = list?.find(({ name }) => this.#text.startsWith(name, at));
    if (found === undefined) return undefined;
    const to = at + found.name.length;
    return { from: at, to, law: { ...found.law, written: found.name }, isTitle: false };
  }

  #nameAt(at: number): Mention | undefined {
    let name = this.#register.nameAt(this.#text, at);
    let length = name?.length ?? 0;
    if (name === undefined) {
      // 民诉法解释 is a different text from 民诉法.
      const law = this.#register.longestNameAt(this.#text, at);
      const suffix = law && this.#match(titleSuffix, at + law.length);
      if (suffix === undefined) return undefined;
      length = (law as string).length + suffix.length;
      name = `${law}${suffix}`.replace(lastOrdinal, "$1($2)");
    }
    const to = at + length;
    const lead = this.#text.slice(Math.max(0, at - 16), at);
    const hasCountry = lead.endsWith("中华人民共和国");
    // 失业保险法第一条 does not name 保险法.
    const isOtherLaw =
      !hasCountry &&
      !leadingYear.test(lead) &&
      !leadsToName.test(lead) &&
      otherLawStart.test(lead.slice(-8)) &&
      this.#placesAt(to, true) !== undefined;
    if (isOtherLaw) return undefined;
    const from = hasCountry ? at - "中华人民共和国".length : at;
    return this.#mention(from, to, name, false);
  }

  #mention(from: number, to: number, name: string, isTitle: boolean, defined?: CitedLaw): Mention {
    if (defined !== undefined) return { from, to, law: { ...defined, written: name }, isTitle };
    const version = readLawVersionYear(name);
    const year = leadingYear.exec(this.#text.slice(Math.max(0, from - 16), from));
    const plainName = version === undefined ? name : version.rest.replace(/\s/g, "");
    const key = this.#keyOf(plainName);
    const found =
      version ??
      (year === null ? undefined : readLawVersionYear(`${year[0]}${/法$|典$/.test(key) ? key : `${key}法`}`));
    const start = year === null || found === undefined ? from : from - year[0].length;
    return {
      from: start,
      to,
      law: {
        key,
        written: name,
        ...(found !== undefined && { version: { point: found.point, words: found.words } }),
      },
      isTitle,
    };
  }

  #keyOf(name: string): string {
    const known = this.#keys.get(name);
    if (known !== undefined) return known;
    const key = this.#register.keyOf(name);
    this.#keys.set(name, key);
    return key;
  }

  /** What may come between a law's name and its article: (2018修正), (以下简称“本法”), the part and chapter, 的, 规定. */
  #afterName(
    to: number,
    named: CitedLaw,
    mention: Mention,
  ): { readonly end: number; readonly named: number; readonly isDirect: boolean; readonly law: CitedLaw } {
    let end = to;
    let nameEnd = to;
    let law = named;
    for (let step = 0; step < 6; step++) {
      const bracket = this.#match(bracketed, end) ?? this.#match(namedAfter, end);
      if (bracket !== undefined) {
        const version = readLawVersionYear(`${mention.law.key ?? ""}法${bracket}`);
        if (/[简合]?称/.test(bracket)) this.#define(bracket, law);
        else if (version !== undefined)
          law = { ...law, version: { point: version.point, words: version.words } };
        else if (!/修[订正改]|通过|主席令|法释|施行|令|年/.test(bracket)) break;
        end += bracket.length;
        nameEnd = end;
        continue;
      }
      const filler = this.#match(between, end);
      if (filler === undefined || filler === "") break;
      end += filler.length;
    }
    return { end, named: nameEnd, isDirect: end === nameEnd, law };
  }

  /** Remembers (以下简称“劳动合同法”或“本法”). */
  #define(bracket: string, law: CitedLaw): void {
    const names = bracket.replace(/^.*?[简合]?称(?:为|作|:)?/, "").split(/["“”「」『』《》、,或()]+/);
    for (const name of names) {
      if (name.length < 2 || name.length > longestAlias || this.#definitions >= mostDefinitions) continue;
      this.#definitions++;
      const start = name.charAt(0);
      const list = this.#defined.get(start) ?? [];
      list.unshift({ name, law });
      list.sort((a, b) => b.name.length - a.name.length);
      this.#defined.set(start, list);
    }
  }

  #definition(name: string): CitedLaw | undefined {
    return this.#defined.get(name.charAt(0))?.find((each) => each.name === name)?.law;
  }

  /** 该法第三条, 同法第…条, 本条例第…条, 其第…条, 该条第二款, 前款规定. */
  #readReference(at: number): number {
    const ofLaw = this.#match(lawReference, at);
    if (
      ofLaw !== undefined &&
      !this.#defined.get(this.#text.charAt(at))?.some(({ name }) => this.#text.startsWith(name, at))
    ) {
      const filler = this.#match(between, at + ofLaw.length) ?? "";
      const start = at + ofLaw.length + filler.length;
      const list = this.#placesAt(start, true);
      if (list === undefined || isAgreed(this.#text, list.end)) return at;
      const isTheirs = ofLaw === "其";
      const law = this.#lawBefore(at, isTheirs ? nearCharacters : farCharacters);
      if (law === undefined && (isTheirs || this.#isQuoted[at] === 1)) return at;
      this.#put(law ?? { key: null, written: ofLaw }, list.places, at);
      return list.end;
    }
    const last = this.#lastPlace;
    if (last === undefined || this.#lawBefore(at, nearCharacters) === undefined) return at;
    const ofArticle = this.#match(articleReference, at);
    if (ofArticle !== undefined) {
      const { parts, end } = partsAt(this.#text, at + ofArticle.length);
      if (parts.length === 0) return at;
      const { article } = last.place;
      this.#put(
        last.law,
        parts.map((part) => ({ ...part, article })),
        at,
      );
      return end;
    }
    const isParagraph = this.#match(paragraphReference, at) !== undefined;
    if (!isParagraph || this.#isQuoted[at] === 1 || last.place.paragraph === null) return at;
    const to = at + 2;
    this.#put(last.law, [{ from: at, to, ...last.place, item: null }]);
    return to;
  }

  #lawBefore(at: number, distance: number): CitedLaw | undefined {
    const { law, at: place } = this.#current ?? {};
    return law !== undefined && at - (place ?? 0) <= distance ? law : undefined;
  }

  /** 第五百八十四条 without a law: the law before it in the same passage, or an unknown name right before it. */
  #readAlone(at: number): number {
    const list = this.#placesAt(at, false);
    if (list === undefined) return at;
    const before = this.#text.slice(Math.max(0, at - longestUnquoted), at);
    // Contracts have their articles at the start of a line.
    const isContracts = this.#contractAt >= 0 && this.#plain.startsLine(at);
    if (isContracts || contractBefore.test(before) || isAgreed(this.#text, list.end)) return list.end;
    const unknown = unknownLaw(before);
    if (unknown !== undefined) {
      const from = at - unknown.name.length - unknown.after;
      const key = unknown.isShort ? null : this.#keyOf(unknown.name);
      this.#put({ key, written: unknown.name }, list.places, from);
      return list.end;
    }
    const law = this.#lawBefore(at, nearCharacters);
    if (law === undefined || law.key === null || this.#contractAt >= (this.#current?.at ?? 0))
      return list.end;
    this.#put(law, list.places);
    return list.end;
  }

  #readCaseNumber(at: number): number {
    const found = this.#match(caseNumberHere, at);
    if (found === undefined) return at;
    const to = at + found.length;
    this.#found.push({ from: at, to, law: null, place: null, caseNumber: found });
    return to;
  }
}

/** Which characters are inside quotation marks. */
function quotedPlaces(text: string): Uint8Array {
  const places = new Uint8Array(text.length);
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === "“" || character === "「" || character === "『") depth++;
    if (depth > 0) places[at] = 1;
    if ((character === "”" || character === "」" || character === "』") && depth > 0) depth--;
  }
  return places;
}

function isLawTitle(title: string): boolean {
  const plain = title.replace(/\([^()]*\)$/, "");
  return lawTitle.test(plain) && (plain.endsWith("办法") || !notALaw.test(plain));
}

/** Whether a title without an article is a citation. Companies have rules and decisions too. */
function isCitedAlone(key: string, register: LawRegister): boolean {
  return register.isKnown(key) || surelyLaw.test(key);
}

/** Whether the article is one of a contract: 第五条约定. */
function isAgreed(text: string, end: number): boolean {
  return /^[的中]?(?:明确)?约定/.test(text.slice(end, end + 6));
}

function contractWord(text: string, at: number): boolean {
  return /[本该涉案双甲]/.test(text.charAt(at)) && match(contractNamed, text, at) !== undefined;
}

/**
 * A name right before an article that ends like the name of a law: 违反了网络诚信促进法. A short one may be said of several
 * laws: 依据税法.
 */
function unknownLaw(
  before: string,
): { readonly name: string; readonly isShort: boolean; readonly after: number } | undefined {
  const found = endsLikeLaw.test(before.slice(-8)) ? nameBefore.exec(before) : null;
  if (found === null) return undefined;
  const [, run = "", tail = ""] = found;
  let name = run;
  for (const lead of [strongLead, weakLead]) {
    const cut = Math.max(...[...name.matchAll(lead)].map((each) => each.index + each[0].length), 0);
    if (lead === strongLead || name.length - cut >= 3) name = name.slice(cut);
  }
  const isLed = name !== run;
  name = name.replace(othersBracket, "");
  const isShort = name.length < 4;
  if ((isShort && !isLed) || notALaw.test(name) || genericName.test(name)) return undefined;
  return { name, isShort, after: tail.length };
}

function match(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = Math.max(0, at);
  return pattern.exec(text)?.[0];
}

const longestTitle = 140;
const longestIssuer = 50;
const longestAlias = 24;
const longestUnquoted = 40;
const mostDefinitions = 40;
/** How far an article without a law may be from its law. */
const nearCharacters = 400;
const farCharacters = 2_000;

const ordinal =
  "(?:\\([一二三四五六七八九十]{1,3}\\)|[一二三四五六七八九十]{1,3}(?=第|[^\\p{Script=Han}]|$))";
const numeral = "[0-9零〇一二三四五六七八九十百]{1,5}";
const titleSuffix = new RegExp(
  `(?:[总分则物权合同人格婚姻家庭继承侵责任通编担保制度时间效力]{0,14}(?:司法)?解释|修正案|实施(?:条例|细则|办法))(?:${ordinal})?(?=第|的|中|规定|明确|[^\\p{Script=Han}]|$)`,
  "uy",
);
const issuers = /(?:最高人民(?:法院|检察院)|最高[法检]|全国人民代表大会常务委员会|全国人大常委会|国务院)/y;
const actEnding = new RegExp(
  `(?:规定|解释|批复|决定|决议|办法|意见|通知|答复|纪要)(?:\\(试行\\))?(?:${ordinal})?(?=第|的|中|之|规定|明确|[^\\p{Script=Han}]|$)`,
  "uy",
);
const bracketed = /\([^()]{1,60}(?:\([^()]{0,20}\)[^()]{0,20})?\)/y;
const namedAfter = /,?(?:以下|下文)简?称(?:为)?["“「《]+[^"”」》]{1,24}["”」》]+/y;
const between = new RegExp(
  `(?:[,:·"”」]|\\*{1,2}|的规定|的|中的?|之|里|项下|第${numeral}[编章节分]{1,2}|(?:总则|分则|物权|合同|人格权|婚姻家庭|继承|侵权责任|通则)编?|(?:明确|明文)?规定)`,
  "y",
);
const lawReference =
  /(?:(?:该|同|本|此|上述|前述|前引)(?:部|一)?(?:法典|法律|法|条例|司法解释|解释|规定|办法|细则|规则|决定)|其)(?=[的中之]?第)/y;
const articleReference = /(?:该|同|本|上述|前述)条文?(?:的|中)?/y;
const paragraphReference = /前款(?=规定|所称|所列|情形|之)/y;
const contractNamed =
  /(?:本|该|涉案|案涉|双方|甲乙双方)(?:[\p{Script=Han}]{0,6})(?:合同|协议|章程|公约|招标文件|订单)/uy;
const contractBefore =
  /(?:合同|协议|协议书|合同书|章程|约定|条款|公约|手册|保单|制度|方案|承诺书|意向书|备忘录|招标文件)》?(?:的|中|之|里|内|项下)?$/;
/** A character that ends the words before a law's name: 认定为刑法, 属于刑法, 第十一条刑法. */
const leadsToName =
  /(?:另外|此外|其次|首先|同时|因此|所以|而且|现在|目前|[为于是按据用见由在了犯对和与及或即照依合反的中国述若如因以将条款项定看查而但原])$/;
const leadingYear = /(?:19|20)[0-9]{2}年?(?:修订|修正|修改)?(?:版)?的?$/;
const caseNumberHere = new RegExp(caseNumber.source, "uy");
const lawTitle =
  /(?:法|法典|条例|规定|办法|规则|解释|决定|决议|修正案|宪法|通则|总则|细则|意见|批复|通知|答复|纪要)(?:\(试行\))?$/;
/** 解释三 is the same as 解释(三). */
const lastOrdinal = /(解释|规定|修正案)([一二三四五六七八九十]{1,3})$/;
const surelyLaw =
  /(?:(?<![兵书魔算方办做用想看说句语针刀枪拳剑画棋])法|法典|条例|修正案|法通则|法总则|法实施细则|司法解释)$/;
const endsLikeLaw = /[法典例释则定办](?:\([^()]{1,3}\)|[一二三四五六七八九十]{1,2})?[的中之]?$/;
const nameBefore =
  /([\p{Script=Han}()]{2,36}(?:法|法典|条例|解释|通则|总则|细则|规定|办法)(?:\([一二三四五六七八九十]{1,3}\)|(?<=解释)[一二三四五六七八九十]{1,2})?)([的中之]?)$/u;
/** Up to a bracket that opens before the name, closes in it, or stands before it: (失业保险法. */
const othersBracket = /^(?:.*\((?=[^()]*$)|[^(]*\)|\([^()]*\))/;
const strongLead =
  /(?:根据|依据|依照|按照|参照|遵照|违反|触犯|适用|援引|引用|符合|参见|查阅|结合|我国|认为|现行|例如|比如|包括|属于|构成|以及|或者)了?/g;
const weakLead = /[了是由在如见即对]/g;
const genericName =
  /^(?:[该本此同其上前有关相述的等部分一]*)(?:法律|法规|司法解释|法|条例|规定|解释|办法|细则|通则|总则)$|(?:上述|前述|有关|相关|下列)(?:法律|规定|解释|办法|条例)?|法律规定$|(?:的|等|有关|明确)规定$|办法$|(?<!若干问题的|暂行|管理|特别)规定$/;
