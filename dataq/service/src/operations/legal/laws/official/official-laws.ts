import { lawKey } from "../../question/law-reference.ts";
import type { LawFacts, OfficialFact } from "../corpus.ts";
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
