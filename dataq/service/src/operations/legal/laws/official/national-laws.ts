import { createHash } from "node:crypto";
import { join } from "node:path";
import { chinaDate } from "@dataq/contract";
import writeFileAtomic from "write-file-atomic";
import type { Database } from "../../../../database/database.ts";
import { tryLock } from "../../../../database/locks.ts";
import { ImportError } from "../../../../importer/import-error.ts";
import { type ImportReport, importFile } from "../../../../importer/import-file.ts";
import { type Message, say } from "../../../../importer/message.ts";
import { ListStore, type OfficialList } from "../../../../importer/national-laws/list-store.ts";
import { readList } from "../../../../importer/national-laws/read-list.ts";
import { type LiveSet, publishersOf } from "../../../../importer/open-data/sets.ts";
import type { LocalFile } from "../../../../importer/origin/local-file.ts";
import { PoliteClient } from "../../../../importer/origin/polite-client.ts";
import type { SearchIndex } from "../../../../search/search-index.ts";
import { officialListImport } from "./official-list.ts";

export interface NationalLawsNeeds {
  readonly database: Database;
  readonly index: SearchIndex;
  readonly dataFolder: string;
  /** A stand-in on loopback; undefined for the publisher itself. */
  readonly standIn?: { readonly address: string; readonly paceMs: number } | undefined;
  readonly now?: () => Date;
  readonly signal?: AbortSignal;
  readonly progress: (message: Message) => void;
}

/** How much of it to read. */
export interface NationalLawsWishes {
  readonly listOnly?: boolean;
  /** No more texts than this. */
  readonly most?: number;
  /** Also the texts of local regulations. */
  readonly local?: boolean;
  /** Reads the whole list again, not only what changed. */
  readonly whole?: boolean;
}

/** About how much will be asked. */
export interface NationalLawsPlan {
  /** Requests. */
  readonly list: number;
  /** Texts, of two requests each. */
  readonly texts: number;
}

export async function planNationalLaws(
  { dataFolder }: Pick<NationalLawsNeeds, "dataFolder">,
  set: LiveSet,
  { whole }: NationalLawsWishes,
): Promise<NationalLawsPlan> {
  const had = await new ListStore(join(dataFolder, set.name)).read();
  return { list: had === undefined || whole === true ? set.requests.list : updateRequests, texts: 0 };
}

/** Where little changed. */
const updateRequests = 10;

/** Reads the official list from its publisher and imports it. What was read before is not asked again. */
export async function readNationalLaws(
  needs: NationalLawsNeeds,
  set: LiveSet,
  wishes: NationalLawsWishes = {},
): Promise<readonly ImportReport[]> {
  const { database, dataFolder, signal, progress, standIn, now = () => new Date() } = needs;
  const [publisher] = set.publishers;
  const name = publisher?.name ?? set.name;
  const turn = await database.connect();
  const client = new PoliteClient({
    publisher: set.title,
    address: standIn?.address ?? set.address,
    referer: set.address,
    paceMs: standIn?.paceMs ?? paceMs,
    ...(signal && { signal }),
    progress,
  });
  try {
    // The pace is that of the installation: two at once would ask twice as fast.
    if (!(await tryLock(turn, "corpus", `live ${set.name}`)))
      throw new ImportError("publisher_is_read", { publisher: set.title });
    const store = new ListStore(join(dataFolder, set.name));
    const { list, unseen } = await readList(
      { client, publisher: set.title, store, today: chinaDate(now()), progress },
      wishes.whole,
    );
    progress(say("list_read", { name, laws: list.laws.length, requests: client.asked }));
    if (unseen > 0) progress(say("list_unseen", { name, unseen }));
    return [await importList(needs, set, list)];
  } finally {
    client.close();
    await turn.end();
  }
}

export const paceMs = 1_000;

async function importList(needs: NationalLawsNeeds, set: LiveSet, list: OfficialList): Promise<ImportReport> {
  const rows = list.laws.map(({ inForceFrom, ...law }) => ({
    ...law,
    in_force_from: inForceFrom,
    listed_on: list.day,
  }));
  const file = await fileOf(needs, set, "list", list.day, rows);
  return importRows(needs, set, officialListImport, file, list.day);
}

/** A file of rows, which the import reads as any other. */
async function fileOf(
  { dataFolder }: NationalLawsNeeds,
  set: LiveSet,
  name: string,
  day: string,
  rows: readonly object[],
): Promise<LocalFile> {
  const path = join(dataFolder, set.name, `${name}.jsonl`);
  const text = rows.map((row) => `${JSON.stringify(row)}\n`).join("");
  await writeFileAtomic(path, text);
  return {
    path,
    origin: `live:${set.name}/${name}`,
    name: set.name,
    sha256: createHash("sha256").update(text).digest("hex"),
    publishers: publishersOf(set, day),
  };
}

function importRows(
  { database, index, signal, progress }: NationalLawsNeeds,
  set: LiveSet,
  target: Parameters<typeof importFile>[2],
  file: LocalFile,
  day: string,
): Promise<ImportReport> {
  return importFile(database, index, target, file, {
    dataset: set.name,
    kind: set.kind,
    licence: set.licence.en,
    retrieved: day,
    // The publisher decides what its list has.
    yes: true,
    ...(signal && { signal }),
    progress,
  });
}
