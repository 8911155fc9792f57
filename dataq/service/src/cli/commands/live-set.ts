import { counted } from "@dataq/contract";
import type { Config } from "../../config.ts";
import type { Database } from "../../database/database.ts";
import type { LiveSet } from "../../importer/open-data/sets.ts";
import { foldHeld } from "../../operations/legal/laws/import/packs.ts";
import type { Difference } from "../../operations/legal/laws/official/differences.ts";
import {
  type NationalLawsPlan,
  paceMs,
  planNationalLaws,
  readNationalLaws,
} from "../../operations/legal/laws/official/national-laws.ts";
import type { SearchIndex } from "../../search/search-index.ts";
import { confirm } from "../confirm.ts";
import { tell } from "../parent.ts";

/** How much of a live set to read, on the command line. */
export interface LiveOptions {
  readonly yes?: boolean;
  readonly listOnly?: boolean;
  readonly most?: number;
  readonly local?: readonly string[];
  readonly whole?: boolean;
}

/** Says whom it will ask, how often and how long, and asks nobody before the operator agrees. */
export async function askLive(
  set: LiveSet,
  database: Database,
  index: SearchIndex,
  config: Config,
  options: LiveOptions,
): Promise<void> {
  const { yes, ...wishes } = options;
  const { dataFolder, nationalLaws: standIn } = config;
  const needs = { database, index, dataFolder, standIn, progress: tell };
  const plan = await planNationalLaws(needs, set, wishes);
  for (const line of planLines(set, plan, standIn?.paceMs ?? paceMs)) console.error(line);
  if (yes !== true && !(await confirm(`Ask ${new URL(set.address).host} now?`)))
    throw new Error(`${set.name}: nobody was asked. Pass --yes to ask without a question at the terminal.`);
  const reports = await readNationalLaws(needs, set, wishes);
  for (const { target, records, badRows, outcome, size } of reports)
    console.log(
      outcome === "unchanged"
        ? `${set.name}: ${target} has it already.`
        : `${set.name}: ${target}: ${counted(records, "record")} imported, ${counted(badRows, "row")} refused; ${counted(size ?? 0, "article")} served.`,
    );
  // The last import knows all of them.
  for (const { note } of reports.findLast(({ notes }) => notes.length > 0)?.notes ?? []) console.log(note);
}

/** Where the official list and what is held differ, from what is held now. */
export async function reportDifferences(index: SearchIndex, json: boolean): Promise<void> {
  const { official } = await foldHeld(index);
  if (json) return console.log(JSON.stringify(official));
  const { listed_on: day, differences, settled, agreeing } = official;
  if (day === null)
    throw new Error('There is no official list here. Read it with "dataq data get national-laws".');
  console.log(
    `Official list of ${day}: ${counted(agreeing, "held version agrees", "held versions agree")}, ${settled} have a state that only the list knows, ${counted(differences.length, "difference")}.`,
  );
  for (const { what, law, version_date, here, listed, source } of differences)
    console.log(
      `${law} ${version_date ?? "(no day)"} (${source}): ${saidOfKind[what]}${here === null || listed === null ? "" : `: here ${here}; listed ${listed}`}`,
    );
}

const saidOfKind: Readonly<Record<Difference["what"], string>> = {
  state: "another state",
  in_force_from: "another day of effect",
  promulgated: "another day of promulgation",
  version_not_listed: "the list has the law and not this version",
  not_listed: "the list does not have the law",
};

function planLines(set: LiveSet, { list, texts }: NationalLawsPlan, pace: number): string[] {
  const requests = list + 2 * texts;
  const each = pace === paceMs ? "one a second" : `one in ${pace} ms`;
  return [
    `${set.name}: ${set.title.zh}, ${set.title.en}, ${set.address}`,
    `Licence: ${set.licence.en}. ${set.duties?.en ?? ""}`,
    `It will be asked about ${counted(list, "time")} for its list${
      texts === 0 ? "" : `, then up to ${2 * texts} times for ${counted(texts, "text")}`
    }; ${each}, about ${durationOf((requests * pace) / 60_000)}.`,
    "Stop it at any time: what was read is kept, and the same command goes on.",
  ];
}

function durationOf(minutes: number): string {
  if (minutes < 90) return counted(Math.max(1, Math.round(minutes)), "minute");
  return counted(Math.round(minutes / 60), "hour");
}

export function liveLines(set: LiveSet): string[] {
  const { list, texts } = set.requests;
  return [
    `Read live from ${set.address}: about ${list} requests for the list and ${texts.toLocaleString("en")} for texts, one a second, when you run "dataq data get ${set.name}".`,
    `Its calls are as others described them on ${set.described}; never run against the real publisher.`,
  ];
}

export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

/** Throws if it is not a number of texts. */
export function readMost(text: string): number {
  const most = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(most))
    throw new Error(`--most is ${text}; write a number of texts, such as 100.`);
  return most;
}
