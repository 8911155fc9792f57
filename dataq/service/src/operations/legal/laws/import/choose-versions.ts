import { canonicalJson } from "../../../../importer/provenance.ts";
import type { LawEvent } from "../corpus.ts";
import type { AmendingAct } from "./amending-act.ts";
import { byKnowledge, compare, filled } from "./catalogue.ts";
import { type DatedText, datedText, droppedFrom, hasSameWords, isRepeated } from "./dated-text.ts";
import type { LawPack } from "./law-version.ts";

export interface HeldVersion {
  /** Name of the version's source. */
  readonly source: string;
  readonly law: string;
  /** Null if nothing dates the version, so that it cannot be ordered among the others. */
  readonly versionDate: string | null;
  readonly dropped: number;
  /** Number of articles in the previous version. */
  readonly of: number;
}

/** A version may drop this share of a law's articles. A version that drops more is often a truncated text. */
const mostDropped = 0.1;

/** Picks one text for each version date, oldest first, and lists the versions that are held back. */
export function chooseVersions(
  key: string,
  texts: readonly LawPack[],
  acts: readonly AmendingAct[],
): { readonly kept: DatedText[]; readonly held: HeldVersion[] } {
  const history = texts.map((text) => text.history).reduce(fuller, []);
  const days = new Map<string, DatedText>();
  for (const text of [...texts].sort(byCompleteness)) {
    const day = text.facts.version_date ?? "";
    const chosen = days.get(day);
    const isAccepted = text.accepted === true || chosen?.accepted === true;
    days.set(
      day,
      chosen === undefined
        ? datedText(key, text, history, acts)
        : { ...chosen, facts: filled(chosen.facts, text.facts), accepted: isAccepted },
    );
  }
  const undated = days.get("");
  days.delete("");
  const dated = [...days].sort(([a], [b]) => compare(a, b)).map(([, text]) => text);
  if (undated !== undefined && dated.length === 0) return { kept: [undated], held: [] };
  const kept: DatedText[] = [];
  const held: HeldVersion[] = [];
  for (const text of dated) {
    const before = kept.at(-1);
    if (before !== undefined && isRepeated(before, text)) {
      // One date is the day of passing; the other is the day of publication.
      kept[kept.length - 1] = { ...text, facts: filled(text.facts, before.facts) };
      continue;
    }
    const dropped = before === undefined ? 0 : droppedFrom(before, text);
    if (before === undefined || text.accepted === true || dropped <= mostDropped * before.labels.size)
      kept.push(text);
    else held.push(heldVersion(text, dropped, before.labels.size));
  }
  const isKnown = undated === undefined || kept.some((text) => hasSameWords(text, undated));
  if (!isKnown) held.push(heldVersion(undated, 0, undated.labels.size));
  return { kept, held };
}

function heldVersion(text: LawPack, dropped: number, of: number): HeldVersion {
  const { law_name: law, version_date: versionDate } = text.facts;
  return { source: text.source.name, law, versionDate, dropped, of };
}

/**
 * The text with more articles comes first, then the text with more known facts. Ties are broken by content.
 */
function byCompleteness(a: LawPack, b: LawPack): number {
  return (
    b.articles.length - a.articles.length ||
    byKnowledge(a, b) ||
    compare(canonicalJson(a.articles), canonicalJson(b.articles))
  );
}

/** Returns the history with the later last event; if both end on the same day, the longer one. */
function fuller(a: readonly LawEvent[], b: readonly LawEvent[]): readonly LawEvent[] {
  const [lastA, lastB] = [a.at(-1)?.date ?? "", b.at(-1)?.date ?? ""];
  if (lastA !== lastB) return lastA > lastB ? a : b;
  if (a.length !== b.length) return a.length > b.length ? a : b;
  return canonicalJson(a) <= canonicalJson(b) ? a : b;
}
