import { lawKey } from "../question/law-reference.ts";
import type { LawNames } from "../question/named-laws.ts";
import { LawNames as Names } from "../question/named-laws.ts";
import { type KnownLaw, knownLaws } from "./known-laws.ts";
import { NearNames } from "./near-names.ts";

const interpretation = /^(.{2,}?)(?:司法)?解释(\([一二三四五六七八九十]+\))?$/;
const onLaw =
  /^最高人民法院关于(?:贯彻执行|适用)(.{2,30}?)(?:若干问题)?的(?:规定|解释|意见)(?:\(试行\))?(\([一二三四五六七八九十]+\))?$/;

/** 最高法关于… is 最高人民法院关于…. */
function withIssuer(name: string): string {
  const short = /^(?:最高[法检]|全国人大(?:常委会)?)(?=关于)/.exec(name)?.[0] ?? "";
  return (issuers.get(short) ?? short) + name.slice(short.length);
}

const issuers = new Map([
  ["最高法", "最高人民法院"],
  ["最高检", "最高人民检察院"],
  ["全国人大", "全国人民代表大会"],
  ["全国人大常委会", "全国人民代表大会常务委员会"],
]);

/** The laws that a citation may mean: those whose text is in the data, and national laws known by name. */
export class LawRegister {
  readonly #held: LawNames;
  readonly #all: LawNames;
  readonly #near: NearNames;
  /** Held acts by their title without the issuing body: 关于…的决定. */
  readonly #byTitle = new Map<string, string>();
  /** Held interpretations of a whole law by its key and their number: 公司法(三). */
  readonly #interpretations = new Map<string, string>();

  constructor(held: LawNames) {
    this.#held = held;
    const keys = new Set([...held.keys, ...knownLaws.keys()]);
    this.#all = new Names(keys);
    this.#near = new NearNames(keys);
    for (const each of held.keys) {
      const about = each.indexOf("关于");
      if (about > 0) this.#byTitle.set(each.slice(about), each);
      const [, law, ordinal = ""] = onLaw.exec(each) ?? [];
      if (law !== undefined) this.#interpretations.set(`${lawKey(law)}${ordinal}`, each);
    }
  }

  isHeld(key: string): boolean {
    return this.#held.has(key);
  }

  known(key: string): KnownLaw | undefined {
    return knownLaws.get(key);
  }

  isKnown(key: string): boolean {
    return this.#all.has(key);
  }

  /** The name of a held or known law that starts here. */
  nameAt(text: string, at: number): string | undefined {
    return this.#all.nameAt(text, at);
  }

  /** The longest name that starts here, even if the text goes on like another name. */
  longestNameAt(text: string, at: number): string | undefined {
    return this.#all.namesAt(text, at).at(-1);
  }

  /**
   * The key of a name. An interpretation may be named by the short name of its law, and an act without the body that
   * issued it.
   */
  keyOf(name: string): string {
    const key = this.#all.keyOf(withIssuer(name));
    if (this.#all.has(key)) return key;
    const [, law, ordinal = ""] = interpretation.exec(key) ?? [];
    if (law !== undefined) {
      const short = `${lawKey(law)}${ordinal}`;
      return this.#interpretations.get(short) ?? this.#held.find(`《${name}》`).laws[0] ?? key;
    }
    return this.#byTitle.get(key) ?? key;
  }

  /** Held laws that a careless writer may mean instead: 劳动合同法 for 劳动法. */
  alike(key: string): string[] {
    const isAlike = (other: string) =>
      other !== key && other.slice(0, 2) === key.slice(0, 2) && /[法例]$/.test(other);
    return [...this.#held.keys].filter(isAlike).slice(0, mostAlike);
  }

  nearest(name: string): string | undefined {
    return this.#near.find(name);
  }
}

const mostAlike = 8;
