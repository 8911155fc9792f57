import type { LawTimeline } from "../corpus.ts";
import { lawStatus, levelOf, type Status } from "../status.ts";
import type { OfficialLaw } from "./official-law.ts";

/** Something that the official list and what is held tell otherwise. */
export interface Difference {
  /**
   * `state`: what packs and texts show is another state. `in_force_from`: another day of effect. `promulgated`: another
   * day, which is close enough to be the same version. `version_not_listed`: the list has the law and not this version.
   * `not_listed`: the list does not have the law.
   */
  readonly what: "state" | "in_force_from" | "promulgated" | "version_not_listed" | "not_listed";
  readonly law: string;
  readonly version_date: string | null;
  /** What would be said without the list. */
  readonly here: string | null;
  readonly listed: string | null;
  /** Who published the version that is held. */
  readonly source: string;
}

export interface Differences {
  /** The day of the list; null if none is held. */
  readonly listed_on: string | null;
  readonly differences: readonly Difference[];
  /** Versions whose state is known only by the list. */
  readonly settled: number;
  readonly agreeing: number;
}

/** A held version, beside the listed one that it is. */
export interface Compared {
  readonly law: string;
  readonly level_text: string | null;
  readonly version_date: string | null;
  readonly effective_date: string | null;
  readonly source: string;
  readonly place: number;
  /** The law as it would be without the list, and with it. */
  readonly plain: LawTimeline;
  readonly told: LawTimeline;
  readonly listed: OfficialLaw | undefined;
  readonly isNamed: boolean;
}

export function differencesIn(versions: readonly Compared[], listedOn: string | null): Differences {
  const differences: Difference[] = [];
  let settled = 0;
  let agreeing = 0;
  if (listedOn !== null)
    for (const version of versions) {
      const { law, version_date, source, listed } = version;
      const note = (what: Difference["what"], here: string | null, there: string | null) =>
        void differences.push({ what, law, version_date, here, listed: there, source });
      if (listed === undefined) {
        // Rules of ministries are not in the list.
        if (version.isNamed) note("version_not_listed", version_date, null);
        else if (isOfList.has(levelOf(version.level_text))) note("not_listed", version_date, null);
        continue;
      }
      const before = differences.length;
      const { promulgated, in_force_from: start } = listed;
      const plain = lawStatus(version.plain, listedOn, version.place);
      const told = lawStatus(version.told, listedOn, version.place);
      const isSettled = plain.status === "unknown" && told.status !== "unknown";
      if (isSettled) settled++;
      else if (plain.status !== told.status || !isImplied(listed, told))
        note("state", plain.status_basis, told.status_basis);
      if (start !== null && version.effective_date !== null && start !== version.effective_date)
        note("in_force_from", version.effective_date, start);
      if (promulgated !== null && version_date !== null && promulgated !== version_date)
        note("promulgated", version_date, promulgated);
      if (differences.length === before && !isSettled) agreeing++;
    }
  return { listed_on: listedOn, differences, settled, agreeing };
}

/** Whether a state is the list's own; its days may have gone before it. */
function isImplied({ state }: OfficialLaw, { status }: Status): boolean {
  if (state === null) return true;
  return impliedBy[state].includes(status);
}

const impliedBy: Readonly<Record<1 | 2 | 3 | 4, readonly Status["status"][]>> = {
  1: ["repealed"],
  // Until the newer text takes effect, the older one is in force.
  2: ["amended", "in_force"],
  3: ["in_force"],
  4: ["not_yet_effective"],
};
const isOfList = new Set(["constitution", "law", "administrative_regulation", "judicial_interpretation"]);
