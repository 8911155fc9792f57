import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { rename } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { chinaDate } from "@dataq/contract";
import type { Database } from "../../../../database/database.ts";
import { tryLock } from "../../../../database/locks.ts";
import { ImportError } from "../../../../importer/import-error.ts";
import { type ImportReport, importFile } from "../../../../importer/import-file.ts";
import { type Message, say } from "../../../../importer/message.ts";
import type { ListedLaw } from "../../../../importer/national-laws/list-page.ts";
import { ListStore, type OfficialList } from "../../../../importer/national-laws/list-store.ts";
import { readList } from "../../../../importer/national-laws/read-list.ts";
import { readText } from "../../../../importer/national-laws/read-text.ts";
import { type OfficialText, TextStore } from "../../../../importer/national-laws/text-store.ts";
import { type LiveSet, publishersOf } from "../../../../importer/open-data/sets.ts";
import type { LocalFile } from "../../../../importer/origin/local-file.ts";
import { PoliteClient } from "../../../../importer/origin/polite-client.ts";
import type { Target } from "../../../../importer/target.ts";
import type { SearchIndex } from "../../../../search/search-index.ts";
import { lawImport } from "../import/import-laws.ts";
import { lawLines } from "./law-paragraphs.ts";
import { officialListImport } from "./official-list.ts";
import { inOrderOfUse, isAskedMost, levelOfKind } from "./text-order.ts";

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
  /** Places whose local regulations are read, too: 上海市. */
  readonly local?: readonly string[];
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
  { dataFolder, now = () => new Date() }: Pick<NationalLawsNeeds, "dataFolder" | "now">,
  set: LiveSet,
  { whole, listOnly, most = Number.POSITIVE_INFINITY, local }: NationalLawsWishes,
): Promise<NationalLawsPlan> {
  const folder = join(dataFolder, set.name);
  const had = await new ListStore(folder).read();
  const list = had === undefined || whole === true ? set.requests.list : updateRequests;
  if (listOnly === true) return { list, texts: 0 };
  const lacking =
    had === undefined
      ? Math.ceil(set.requests.texts / 2)
      : (await lackingTexts(new TextStore(folder), had, chinaDate(now()), local ?? [])).length;
  return { list, texts: Math.min(most, lacking) };
}

/** Where little changed. */
const updateRequests = 10;

/**
 * Reads the official list from its publisher and imports it, then texts in the order of their use. What was read before
 * is not asked again. Where texts cannot be read any more, those that were are imported before the error is told.
 */
export async function readNationalLaws(
  needs: NationalLawsNeeds,
  set: LiveSet,
  wishes: NationalLawsWishes = {},
): Promise<readonly ImportReport[]> {
  const { database, dataFolder, signal, progress, standIn, now = () => new Date() } = needs;
  const name = set.publishers[0]?.name ?? set.name;
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
    const folder = join(dataFolder, set.name);
    const today = chinaDate(now());
    const { list, unseen } = await readList(
      { client, publisher: set.title, store: new ListStore(folder), today, progress },
      wishes.whole,
    );
    progress(say("list_read", { name, laws: list.laws.length, requests: client.asked }));
    if (unseen > 0) progress(say("list_unseen", { name, unseen }));
    const ofList = await importList(needs, set, list);
    const texts = new TextStore(folder);
    const reading = new TextReading(needs, set, client, texts, list, today);
    if (wishes.listOnly !== true) await reading.run(wishes);
    const ofTexts = await importTexts(needs, set, texts, list);
    return ofTexts === undefined ? [ofList] : [ofList, ofTexts];
  } finally {
    client.close();
    await turn.end();
  }
}

export const paceMs = 1_000;

/** Laws whose texts are not here, those first that people ask for most. */
async function lackingTexts(
  texts: TextStore,
  list: OfficialList,
  today: string,
  local: readonly string[],
): Promise<ListedLaw[]> {
  const lacking: ListedLaw[] = [];
  for (const law of inOrderOfUse(list.laws, local)) if (!(await texts.has(law, today))) lacking.push(law);
  return lacking;
}

class TextReading {
  readonly #needs: NationalLawsNeeds;
  readonly #set: LiveSet;
  readonly #client: PoliteClient;
  readonly #texts: TextStore;
  readonly #list: OfficialList;
  readonly #today: string;
  /** Kept back until a text is found: where none is, the calls have changed. */
  #lacking: OfficialText[] = [];

  constructor(
    needs: NationalLawsNeeds,
    set: LiveSet,
    client: PoliteClient,
    texts: TextStore,
    list: OfficialList,
    today: string,
  ) {
    this.#needs = needs;
    this.#set = set;
    this.#client = client;
    this.#texts = texts;
    this.#list = list;
    this.#today = today;
  }

  async run({ most = Number.POSITIVE_INFINITY, local }: NationalLawsWishes): Promise<void> {
    const wanted = (await lackingTexts(this.#texts, this.#list, this.#today, local ?? [])).slice(0, most);
    const asked = wanted.filter(isAskedMost).length;
    try {
      await this.#readAll(wanted.slice(0, asked));
      // People ask for these, so they are served before the rest is read.
      if (asked > 0 && asked < wanted.length)
        await importTexts(this.#needs, this.#set, this.#texts, this.#list);
      await this.#readAll(wanted.slice(asked));
      if ((await this.#texts.ids()).size > 0) await this.#putLacking();
    } catch (error) {
      this.#needs.signal?.throwIfAborted();
      await importTexts(this.#needs, this.#set, this.#texts, this.#list);
      throw error;
    }
  }

  async #putLacking(): Promise<void> {
    for (const lack of this.#lacking) await this.#texts.put(lack);
    this.#lacking = [];
  }

  async #readAll(wanted: readonly ListedLaw[]): Promise<void> {
    const { progress } = this.#needs;
    const begunMs = performance.now();
    let toldMs = 0;
    for (const [done, law] of wanted.entries()) {
      this.#needs.signal?.throwIfAborted();
      const text = await readText(this.#client, this.#set.title, law, this.#today);
      if (text.lacks === undefined) {
        await this.#texts.put(text);
        await this.#putLacking();
      } else if (this.#lacking.push(text) >= mostLacking)
        throw new ImportError("publisher_without_texts", {
          publisher: this.#set.title,
          texts: this.#lacking.length,
        });
      const now = performance.now();
      if (now - toldMs < tellEveryMs) continue;
      toldMs = now;
      const eachMs = (now - begunMs) / (done + 1);
      progress(
        say("reading_texts", {
          done: done + 1,
          texts: wanted.length,
          title: law.title,
          minutes: Math.ceil(((wanted.length - done - 1) * eachMs) / 60_000),
        }),
      );
    }
  }
}

/** So many in a row are no accident. */
const mostLacking = 20;
const tellEveryMs = 5_000;

async function importList(needs: NationalLawsNeeds, set: LiveSet, list: OfficialList): Promise<ImportReport> {
  const rows = function* () {
    for (const { inForceFrom, ...law } of list.laws)
      yield { ...law, in_force_from: inForceFrom, listed_on: list.day };
  };
  return importRows(
    needs,
    set,
    officialListImport,
    await fileOf(needs, set, "list", list.day, rows()),
    list.day,
  );
}

/** Imports all texts that are here; undefined if there is none. */
async function importTexts(
  needs: NationalLawsNeeds,
  set: LiveSet,
  texts: TextStore,
  list: OfficialList,
): Promise<ImportReport | undefined> {
  const ids = await texts.ids();
  let newest = "";
  let count = 0;
  const lacks = new Map<string, number>();
  const rows = async function* () {
    for (const law of list.laws) {
      const text = ids.has(law.id) ? await texts.get(law.id) : undefined;
      if (text?.lacks !== undefined) lacks.set(text.lacks, (lacks.get(text.lacks) ?? 0) + 1);
      if (text?.paragraphs === undefined) continue;
      count++;
      if (text.read > newest) newest = text.read;
      yield {
        law_id: law.id,
        title: law.title,
        level: levelOfKind(law.kind),
        category: law.kind,
        issuing_body: law.issuer,
        promulgated_date: law.promulgated,
        effective_date: law.inForceFrom,
        version_date: law.promulgated,
        text: lawLines(text.paragraphs),
      };
    }
  };
  const file = await fileOf(needs, set, "texts", list.day, rows());
  for (const [reason, number] of lacks)
    needs.progress(say(`text_lacks_${reason}` as "text_lacks_no_file", { number }));
  return count === 0 ? undefined : importRows(needs, set, lawImport, file, newest);
}

/** A file of rows, which the import reads as any other. It is there whole or not at all. */
async function fileOf(
  { dataFolder }: NationalLawsNeeds,
  set: LiveSet,
  name: string,
  day: string,
  rows: AsyncIterable<object> | Iterable<object>,
): Promise<LocalFile> {
  const path = join(dataFolder, set.name, `${name}.jsonl`);
  const hash = createHash("sha256");
  await pipeline(
    async function* () {
      for await (const row of rows) {
        const line = `${JSON.stringify(row)}\n`;
        hash.update(line);
        yield line;
      }
    },
    createWriteStream(`${path}.partial`, { flush: true }),
  );
  await rename(`${path}.partial`, path);
  return {
    path,
    origin: `live:${set.name}/${name}`,
    name: set.name,
    sha256: hash.digest("hex"),
    publishers: publishersOf(set, day),
  };
}

function importRows(
  { database, index, signal, progress }: NationalLawsNeeds,
  set: LiveSet,
  target: Target,
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
