import type { LawNames } from "../question/named-laws.ts";
import { LawNames as Names } from "../question/named-laws.ts";
import { type KnownLaw, knownLaws } from "./known-laws.ts";
import { NearNames } from "./near-names.ts";

/** The laws that a citation may mean: those whose text is held, and national laws known by name. */
export class LawRegister {
  readonly #held: LawNames;
  readonly #all: LawNames;
  readonly #near: NearNames;

  constructor(held: LawNames) {
    this.#held = held;
    const keys = new Set([...held.keys, ...knownLaws.keys()]);
    this.#all = new Names(keys);
    this.#near = new NearNames(keys);
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

  /** The key of a name. An interpretation may be named by the short name of its law. */
  keyOf(name: string): string {
    const key = this.#all.keyOf(name);
    if (this.#all.has(key) || !/解释(?:\(.+\))?$/.test(key)) return key;
    return this.#held.find(`《${name}》`).laws[0] ?? key;
  }

  nearest(name: string): string | undefined {
    return this.#near.find(name);
  }
}
