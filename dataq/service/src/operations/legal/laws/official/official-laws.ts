import type { Provenance } from "@dataq/contract";
import { lawKey } from "../../question/law-reference.ts";
import type { LawFacts, OfficialFact } from "../corpus.ts";
import { levelOf } from "../status.ts";
import type { OfficialLaw } from "./official-law.ts";

/** A version of a law that is held. */
type Held = Pick<LawFacts, "version_date" | "promulgated_date">;

/** The official list by the names of laws. */
export class OfficialLaws {
  readonly #byKey = new Map<string, OfficialLaw[]>();

  constructor(laws: readonly OfficialLaw[]) {
    for (const law of laws) {
      const key = officialKey(law.title);
      this.#byKey.set(key, [...(this.#byKey.get(key) ?? []), law]);
    }
  }

  /** What is listed under the name of a law. */
  named(key: string): readonly OfficialLaw[] {
    return this.#byKey.get(key) ?? [];
  }

  /**
   * The listed laws of the whole country, by the names that are wanted, with the versions of each, oldest first. Local
   * regulations are many times more, and are left out.
   */
  nationalUnder(isWanted: (key: string) => boolean): ReadonlyMap<string, readonly Listed[]> {
    const found = [...this.#byKey].flatMap(([key, laws]) => {
      if (!isWanted(key)) return [];
      const national = laws.filter(({ kind }) => kind !== null && levelOf(kind) !== "local");
      return national.length === 0 ? [] : [[key, national.map(listedVersion).toSorted(byDay)] as const];
    });
    return new Map(found);
  }

  /** The only listed law of the same name and day. */
  ofDay(key: string, held: Held): OfficialLaw | undefined {
    const found = this.named(key).filter(({ promulgated }) =>
      daysOf(held).some((day) => day === promulgated),
    );
    return found.length === 1 ? found[0] : undefined;
  }

  /**
   * The listed law of each held version with the same name: that of the same day. Some packs give the day on which a
   * law was passed and not that of its promulgation, so days that are a few weeks apart are the same where no other
   * version on either side could be meant. A version without a day is meant only where there is one on both sides.
   */
  match(key: string, held: readonly Held[]): readonly (OfficialLaw | undefined)[] {
    const listed = this.named(key);
    if (listed.length === 1 && held.length === 1 && daysOf(held[0] as Held).length === 0) return [listed[0]];
    const same = held.map((version) => this.ofDay(key, version));
    return held.map((version, place) => {
      if (same[place] !== undefined) return same[place];
      const near = listed.filter((law) => isNear(version, law));
      const [only] = near;
      const isOnly =
        near.length === 1 &&
        !same.includes(only) &&
        held.filter((other) => isNear(other, only as OfficialLaw)).length === 1;
      return isOnly ? only : undefined;
    });
  }
}

/** A version of which only the list knows. */
export interface Listed {
  readonly facts: LawFacts;
  readonly source: Provenance;
}

function listedVersion(law: OfficialLaw): Listed {
  const { id, title, kind, issuer, promulgated, in_force_from, source } = law;
  const fact = factOf(law);
  const facts = {
    law_id: `listed:${id}`,
    law_name: title,
    level_text: kind,
    issuing_body: issuer,
    promulgated_date: promulgated,
    effective_date: in_force_from,
    version_date: promulgated,
    status_text: null,
    department: null,
    ...(fact && { official: fact }),
  };
  return { facts, source };
}

function byDay({ facts: a }: Listed, { facts: b }: Listed): number {
  return (a.version_date ?? "") < (b.version_date ?? "") ? -1 : 1;
}

/** What the list says of a version. */
export function factOf({ state, listed_on: on }: OfficialLaw): OfficialFact | undefined {
  return state === null ? undefined : { state, on };
}

/** The list writes 中华人民共和国宪法（2018年修正文本） where people write 宪法. */
export function officialKey(title: string): string {
  return lawKey(title.normalize("NFKC").replace(/\((?:19|20)\d{2}年?(?:修正|修订)文本\)$/, ""));
}

function daysOf({ version_date, promulgated_date }: Held): string[] {
  return [version_date, promulgated_date].filter((day) => day !== null);
}

function isNear(held: Held, { promulgated }: OfficialLaw): boolean {
  return (
    promulgated !== null &&
    daysOf(held).some((day) => Math.abs(Date.parse(day) - Date.parse(promulgated)) <= nearDays * dayMs)
  );
}

const nearDays = 60;
const dayMs = 86_400_000;
