import { readNumber } from "./chinese-number.ts";
import { isLawName, lawAliases, lawKey } from "./law-reference.ts";

/** The laws that a text names, and the text without them. */
export interface NamedLaws {
  /** Keys, in the order of the text. */
  readonly laws: readonly string[];
  /** A name that can only be the name of a law, if that law is not in the data. */
  readonly notHeld?: string;
  /** A name that is nearly the name of exactly one held law. */
  readonly readAs?: { readonly name: string; readonly law: string };
  readonly rest: string;
}

interface Branch {
  readonly next: Map<string, Branch>;
  /** The name that ends here. */
  name?: string;
}

/** Finds the names of held laws anywhere in a text: 刑法盗窃罪, 《民法典》第577条, 民诉法 管辖. */
export class LawNames {
  /** Names that may occur in a text, as a tree of their characters. */
  readonly #names: Branch = { next: new Map() };
  readonly #held: ReadonlySet<string>;
  /** Full names by their form without 中华人民共和国. */
  readonly #inFull: ReadonlyMap<string, string>;
  /** Held amendments by their names without brackets: 刑法修正案十一, 刑法修正案11. */
  readonly #amendments: ReadonlyMap<string, string>;

  /** Names of laws that are not held and that a text may name all the same. */
  readonly #others: ReadonlySet<string>;

  constructor(held: ReadonlySet<string>, others: Iterable<string> = []) {
    this.#held = held;
    this.#others = new Set(others);
    this.#amendments = new Map([...held].flatMap(amendmentNames));
    this.#inFull = new Map([...held].map((name) => [shortened(name), name]));
    const aliases = [...lawAliases].flatMap(([alias, key]) => (held.has(key) ? [alias] : []));
    for (const name of new Set([...held, ...aliases, ...this.#amendments.keys(), ...this.#others])) {
      let branch = this.#names;
      for (const character of name.split("")) {
        let next = branch.next.get(character);
        if (next === undefined) {
          next = { next: new Map() };
          branch.next.set(character, next);
        }
        branch = next;
      }
      branch.name = name;
    }
  }

  /** The keys of the laws whose names are known. */
  get keys(): Iterable<string> {
    return this.#held;
  }

  has(key: string): boolean {
    return this.#held.has(key);
  }

  /** Reads a text that is only the name of a law. */
  read(name: string): Omit<NamedLaws, "rest"> {
    const key = this.keyOf(name);
    return this.#held.has(key) ? { laws: [key] } : this.#unknown(key);
  }

  find(text: string): NamedLaws {
    const laws: string[] = [];
    let notHeld: string | undefined;
    const withoutQuoted = quoteTitles(text).replace(quoted, (_, name: string) => {
      const key = this.keyOf(name);
      if (this.#held.has(key)) laws.push(key);
      else notHeld ??= key;
      return " ";
    });
    let rest = "";
    for (let at = 0; at < withoutQuoted.length; ) {
      const name = this.nameAt(withoutQuoted, at);
      if (name === undefined) {
        rest += withoutQuoted.charAt(at++);
        continue;
      }
      at += name.length;
      rest = rest.replace(/中华人民共和国$/, "");
      // 失业保险法 第1条 does not name 保险法.
      const before = anArticle.test(withoutQuoted.slice(at)) ? (otherLawStart.exec(rest)?.[0] ?? "") : "";
      const key = this.keyOf(name);
      if (before !== "") notHeld ??= before + name;
      else if (this.#held.has(key)) laws.push(key);
      else notHeld ??= key;
      rest = `${rest.slice(0, rest.length - before.length)} `;
    }
    if (laws.length === 0 && notHeld === undefined) {
      const other = this.#otherLaw(rest);
      if (other !== undefined) {
        rest = rest.replace(other.name, " ");
        notHeld = other.key;
      }
    }
    const plain = rest.replace(/\s+/g, " ").trim();
    if (laws.length > 0 || notHeld === undefined) return { laws: [...new Set(laws)], rest: plain };
    return { ...this.#unknown(notHeld), rest: plain };
  }

  /** A name that differs from those of all held laws: a near miss, or the name of a law that is not in the data. */
  #unknown(name: string): Omit<NamedLaws, "rest"> {
    const near = this.#others.has(name) ? undefined : this.#nearest(name);
    return near === undefined ? { laws: [], notHeld: name } : { laws: [near], readAs: { name, law: near } };
  }

  /**
   * Finds the only law whose name contains nearly all characters of the given name, in order: 未成年保护法. For an
   * interpretation, the full name must contain all of them: 民法典担保制度解释.
   */
  #nearest(name: string): string | undefined {
    if (/解释(?:\(.+\))?$/.test(name)) {
      const full = [...this.#held].filter(
        (held) =>
          (!held.includes("关于修改") || name.includes("修改")) && commonLength(name, held) === name.length,
      );
      return full.length === 1 && name.length >= shortestInterpretation ? full[0] : undefined;
    }
    if (name.length < shortestNear || !name.endsWith("法")) return undefined;
    const enough = Math.ceil(name.length * nearShare);
    const near = [...this.#held]
      .filter((held) => held[0] === name[0] && held.endsWith("法") && held.length <= 2 * name.length)
      .map((held) => ({ held, common: commonLength(name, held) }))
      .filter(({ common }) => common >= enough)
      .sort((a, b) => b.common - a.common || a.held.length - b.held.length);
    const [first, second] = near;
    const isOnly = second === undefined || second.common < (first?.common ?? 0);
    return isOnly ? first?.held : undefined;
  }

  /** The key of a name. An interpretation may be named by the short name of its law: 民诉法解释. */
  keyOf(name: string): string {
    const key = lawKey(name);
    if (this.#held.has(key)) return key;
    const amendment = this.#amendments.get(key);
    if (amendment !== undefined) return amendment;
    const inFull = this.#inFull.get(shortened(key));
    if (inFull !== undefined) return inFull;
    const ofLaw = /^(.{2,}?)(?:司法解释|解释)$/.exec(key)?.[1];
    if (ofLaw === undefined) return key;
    const law = lawKey(ofLaw);
    const full = `最高人民法院关于适用中华人民共和国${law}的解释`;
    return this.#held.has(full) ? full : `${law}解释`;
  }

  /** The longest name of a law that starts at a place of the text and is not part of a longer word. */
  nameAt(text: string, at: number): string | undefined {
    return this.namesAt(text, at).findLast((name) => {
      const end = at + name.length;
      // In 公司法人 and 刑法学 the name is part of another word; 民诉法解释 is another text.
      const isCutShort = text[end] === "法" && !/[法典]$/.test(name);
      const isOtherCode = /^[通总]则/.test(text.slice(end, end + 2)) && !name.endsWith("典");
      return !isCutShort && !isOtherCode && !notAfterName.test(text.slice(end, end + 14));
    });
  }

  /** All names that start at a place of the text, shortest first. */
  namesAt(text: string, at: number): string[] {
    const names: string[] = [];
    let branch: Branch | undefined = this.#names;
    for (let end = at; branch !== undefined; end++) {
      if (branch.name !== undefined) names.push(branch.name);
      branch = branch.next.get(text.charAt(end));
    }
    return names;
  }

  /** Finds a word, or the text before an article number, that can only be the name of a law. */
  #otherLaw(text: string): { readonly name: string; readonly key: string } | undefined {
    for (const [written, name = "", number] of text.matchAll(word)) {
      const isLaw = number === undefined ? lawAlone.test(name) : isLawName(name);
      if (!isLaw || name.length < 3 || notALaw.test(name)) continue;
      return { name: number === undefined ? written : name, key: this.keyOf(name) };
    }
    return undefined;
  }
}

/**
 * Quotes titles that contain the quoted name of a law, because they name another text: 《公司法》解释(三),
 * 关于修改《公司法》的决定.
 */
function quoteTitles(text: string): string {
  const quoted = text.replace(/〈/g, "《").replace(/〉/g, "》");
  return quoted.replace(titles, (title) => `《${title.replace(/[《》]/g, "")}》`);
}

function amendmentNames(name: string): [string, string][] {
  const [, start = "", ordinal = ""] = /^(.+修正案)\(([一二三四五六七八九十]+)\)$/.exec(name) ?? [];
  const digits = readNumber(ordinal);
  return digits === undefined
    ? []
    : [ordinal, `${digits}`, `(${digits})`].map((written) => [start + written, name]);
}

function shortened(name: string): string {
  return name.replaceAll("中华人民共和国", "");
}

const ordinal = "(?:\\([一二三四五六七八九十]+\\)|[一二三四五六七八九十]+(?=\\s|$|第))?";
const issuer = "(?:最高|全国人|国务院)[\\p{Script=Han}、]*关于";
const quoting = "\\p{Script=Han}*(?:关于|实施)\\p{Script=Han}*《";
const titles = new RegExp(
  `(?:${issuer}|${quoting})[\\p{Script=Han}《》、]*?(?:规定|解释|批复|决定|决议|办法|意见|通知|答复)${ordinal}(?=\\s|$|第)` +
    `|《[^《》]{1,60}》(?:(?:司法)?解释|修正案|实施(?:条例|细则|办法))${ordinal}`,
  "gu",
);
const quoted = /《([^《》]{1,60})》/g;
const notAfterName =
  /^(?:[人院官庭定治学律制医]|规(?!定)|实施|修正案|\p{Script=Han}{0,8}解释(?:\(|[一二三四五六七八九十第\s]|$))/u;
const anArticle = /^\s*(?:第\s*)?[0-9零〇一二三四五六七八九十百千]+\s*条/;
/** Characters before a name that make it part of a longer name. Words that lead to a name, such as 根据, do not. */
export const otherLawStart =
  /(?<!\p{Script=Han})(?!\p{Script=Han}*(?:根据|依据|[依按参]照|违反|适用|援引|引用|关于|查询?|请问|[我中]国|现行|最新|[新的和与及或在对之罪]))\p{Script=Han}{1,5}$/u;
/** A word, with or without an article number after it. */
const word = /([\p{Script=Han}()]+?)(?=\s*(第?\s?[0-9零〇一二三四五六七八九十百千]+\s?(?:条|\s|$))|\s|$)/gu;
/** Names that are recognised without an article number. */
const lawAlone = /(?:法|法典|条例|法实施细则|法(?:司法)?解释|法[通总]则)$/;
/** Words that end like the name of a law but are not one. */
export const notALaw =
  /(?:[违非合守执司立犯枉用书疗算手历语设依方办做说看想无措新旧军按乱得不讲写打玩]法|条例规定|法律规定)$/;

const shortestNear = 5;
const shortestInterpretation = 7;
const nearShare = 0.8;

/** Length of the longest common subsequence. */
function commonLength(a: string, b: string): number {
  let row = new Array<number>(b.length + 1).fill(0);
  for (const character of a) {
    const next = [0];
    for (let at = 0; at < b.length; at++)
      next.push(
        b[at] === character ? (row[at] as number) + 1 : Math.max(row[at + 1] as number, next[at] as number),
      );
    row = next;
  }
  return row[b.length] as number;
}
