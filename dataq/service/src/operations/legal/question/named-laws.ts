import { isLawName, lawAliases, lawKey } from "./law-reference.ts";

/** The laws that a text names, and the text without them. */
export interface NamedLaws {
  /** Keys, in the order of the text. */
  readonly laws: readonly string[];
  /** A name that can be nothing but a law's, of a law that is not among those held. */
  readonly notHeld?: string;
  readonly rest: string;
}

/** Finds the names of laws that are held wherever they stand: 刑法盗窃罪, 《民法典》第577条, 民诉法 管辖. */
export class LawNames {
  /** Names as they may stand in a text, by their first character, longest first. */
  readonly #names = new Map<string, string[]>();
  readonly #held: ReadonlySet<string>;

  constructor(held: ReadonlySet<string>) {
    this.#held = held;
    const aliases = [...lawAliases].flatMap(([alias, key]) => (held.has(key) ? [alias] : []));
    for (const name of new Set([...held, ...aliases])) {
      const start = name.charAt(0);
      this.#names.set(start, [...(this.#names.get(start) ?? []), name]);
    }
    for (const list of this.#names.values()) list.sort((a, b) => b.length - a.length);
  }

  find(text: string): NamedLaws {
    const laws: string[] = [];
    let notHeld: string | undefined;
    const withoutQuoted = text.replace(quoted, (_, name: string) => {
      const key = this.#keyOf(name);
      if (this.#held.has(key)) laws.push(key);
      else notHeld ??= key;
      return " ";
    });
    let rest = "";
    for (let at = 0; at < withoutQuoted.length; ) {
      const name = this.#nameAt(withoutQuoted, at);
      if (name === undefined) {
        rest += withoutQuoted.charAt(at++);
        continue;
      }
      laws.push(lawKey(name));
      rest = `${rest.replace(/中华人民共和国$/, "")} `;
      at += name.length;
    }
    if (laws.length === 0 && notHeld === undefined) {
      const other = this.#otherLaw(rest);
      if (other !== undefined) return { laws, notHeld: other.key, rest: rest.replace(other.name, " ").trim() };
    }
    return {
      laws: [...new Set(laws)],
      ...(laws.length === 0 && notHeld !== undefined && { notHeld }),
      rest: rest.replace(/\s+/g, " ").trim(),
    };
  }

  /** Interpretations are named after the law: 民诉法解释. */
  #keyOf(name: string): string {
    const key = lawKey(name);
    if (this.#held.has(key)) return key;
    const ofLaw = /^(.{2,}?)(?:司法解释|解释)$/.exec(key)?.[1];
    if (ofLaw === undefined) return key;
    const law = lawKey(ofLaw);
    const full = `最高人民法院关于适用中华人民共和国${law}的解释`;
    return this.#held.has(full) ? full : `${law}解释`;
  }

  #nameAt(text: string, at: number): string | undefined {
    return this.#names.get(text.charAt(at))?.find((name) => {
      const end = at + name.length;
      if (!text.startsWith(name, at)) return false;
      // 公司法人, 刑法学: the name is part of another word; 民诉法解释 is another text.
      return !notAfterName.test(text.slice(end, end + 3));
    });
  }

  /** A word, or what stands before an article's number, that can only be the name of a law. */
  #otherLaw(text: string): { readonly name: string; readonly key: string } | undefined {
    for (const [name] of text.matchAll(word)) {
      if (!isLawName(name) || notALaw.test(name) || name.length < 3) continue;
      return { name, key: this.#keyOf(name) };
    }
    return undefined;
  }
}

const quoted = /《([^《》]{1,60})》/g;
const notAfterName = /^(?:[人院官庭定规治学律制医]|(?:司法)?解释|实施|修正案)/;
const word = /[\p{Script=Han}()]+?(?=\s|$|第?[0-9零〇一二三四五六七八九十百千]+(?:条|\s|$))/gu;
/** Words that end as names of laws do. */
const notALaw =
  /(?:[违非合守执司立犯枉用书疗算手历语设依宪方办做说看想无措民新旧军按乱合得不讲写打玩]法|按规定|有规定|法律规定|的规定|规定|决定|[的了么吗]解释|解释|规则|办法)$/;
