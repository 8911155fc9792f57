import type { Provenance } from "@dataq/contract";
import { canonicalJson } from "../../../../importer/provenance.ts";
import { lawKey } from "../../question/law-reference.ts";
import type { LawFacts } from "../corpus.ts";
import type { CataloguePack, LawPack } from "./law-version.ts";

/** Facts of laws, by id and by name and version date. */
export class Catalogue {
  readonly #byId = new Map<string, LawFacts>();
  readonly #byDay = new Map<string, LawFacts>();
  readonly #days = new Map<string, string[]>();
  readonly entries: readonly Sourced[];

  constructor(packs: readonly CataloguePack[]) {
    this.entries = packs.map(({ id: _, source, ...facts }) => ({ facts, source })).sort(byKnowledge);
    for (const { facts: known } of this.entries) {
      if (!this.#byId.has(known.law_id)) this.#byId.set(known.law_id, known);
      const day = dayKey(known);
      if (!this.#byDay.has(day)) this.#byDay.set(day, known);
      const key = lawKey(known.law_name);
      if (known.version_date !== null)
        this.#days.set(key, [...(this.#days.get(key) ?? []), known.version_date]);
    }
  }

  /** Dates of the versions of a law that the catalogues list. */
  daysOf(key: string): readonly string[] {
    return this.#days.get(key) ?? [];
  }

  /** Fills gaps in the version's facts from the catalogue. */
  complete(version: LawPack): LawPack {
    const known = this.#byId.get(version.facts.law_id);
    const facts = known === undefined ? version.facts : filled(version.facts, known);
    const sameDay = this.#byDay.get(dayKey(facts));
    return { ...version, facts: sameDay === undefined ? facts : filled(facts, sameDay) };
  }
}

export function dayKey(facts: LawFacts): string {
  return `${lawKey(facts.law_name)} ${facts.version_date ?? ""}`;
}

export function filled(facts: LawFacts, known: LawFacts): LawFacts {
  const own = Object.entries(facts).filter(([, value]) => value !== null);
  return { ...known, ...Object.fromEntries(own) };
}

/** Sorts the entry with more known facts first. Ties are broken by content, never by the order of imports. */
export function byKnowledge(a: Sourced, b: Sourced): number {
  const more = knowledge(b.facts) - knowledge(a.facts);
  return more !== 0 ? more : compare(orderOf(a), orderOf(b));
}

interface Sourced {
  readonly facts: LawFacts;
  readonly source: Provenance;
}

function orderOf({ facts, source }: Sourced): string {
  return `${source.name} ${canonicalJson(facts)}`;
}

function knowledge(facts: LawFacts): number {
  return Object.values(facts).filter((fact) => fact !== null).length;
}

export function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
