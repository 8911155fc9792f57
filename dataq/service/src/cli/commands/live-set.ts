import { counted } from "@dataq/contract";
import type { Config } from "../../config.ts";
import type { Database } from "../../database/database.ts";
import type { LiveSet } from "../../importer/open-data/sets.ts";
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
  readonly local?: boolean;
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
  for (const { target, records, badRows, outcome, size } of await readNationalLaws(needs, set, wishes))
    console.log(
      outcome === "unchanged"
        ? `${set.name}: ${target} has it already.`
        : `${set.name}: ${target}: ${counted(records, "record")} imported, ${counted(badRows, "row")} refused; ${counted(size ?? 0, "article")} served.`,
    );
}

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

/** Throws if it is not a number of texts. */
export function readMost(text: string): number {
  const most = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(most))
    throw new Error(`--most is ${text}; write a number of texts, such as 100.`);
  return most;
}
