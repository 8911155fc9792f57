import { appendFile, mkdir, readFile, rm, truncate } from "node:fs/promises";
import { dirname, join } from "node:path";
import writeFileAtomic from "write-file-atomic";
import type { ListedLaw, ListPage } from "./list-page.ts";

/** The official list as it was read last. */
export interface OfficialList {
  /** The day in China on which it was read or found unchanged. */
  readonly day: string;
  /** The day on which all of it was read last. */
  readonly wholeOn: string;
  /** How many documents the publisher counted. */
  readonly total: number;
  /** The same for each state. */
  readonly counts: readonly (readonly [state: number, total: number])[];
  readonly laws: readonly ListedLaw[];
}

/** The list on disk. It is there whole or not at all. */
export class ListStore {
  readonly #path: string;
  readonly journal: Journal;

  constructor(folder: string) {
    this.#path = join(folder, "list.json");
    this.journal = new Journal(join(folder, "reading.jsonl"));
  }

  get path(): string {
    return this.#path;
  }

  async read(): Promise<OfficialList | undefined> {
    const text = await readFile(this.#path, "utf8").catch(() => undefined);
    return text === undefined ? undefined : (JSON.parse(text) as OfficialList);
  }

  async write(list: OfficialList): Promise<void> {
    await mkdir(dirname(this.#path), { recursive: true });
    await writeFileAtomic(this.#path, JSON.stringify(list));
    await this.journal.clear();
  }
}

/**
 * The pages of a reading that is not finished, a line each. A reading that was killed goes on with the pages that it
 * has; half a line at the end is of a page that is asked again.
 */
export class Journal {
  readonly #path: string;
  #pages: Map<string, ListPage> | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** Forgets a reading of another day: the list has changed since. */
  async open(day: string): Promise<number> {
    const bytes = await readFile(this.#path).catch(() => Buffer.alloc(0));
    const whole = bytes.lastIndexOf("\n") + 1;
    const pages = new Map<string, ListPage>();
    let isOfDay = true;
    for (const line of bytes.subarray(0, whole).toString("utf8").split("\n").filter(Boolean)) {
      const { key, page, day: readOn } = JSON.parse(line) as { key: string; page: ListPage; day: string };
      isOfDay &&= readOn === day;
      pages.set(key, page);
    }
    if (!isOfDay) await this.clear();
    else if (whole < bytes.length) await truncate(this.#path, whole);
    this.#pages = isOfDay ? pages : new Map();
    return this.#pages.size;
  }

  get(key: string): ListPage | undefined {
    return this.#pages?.get(key);
  }

  async add(key: string, day: string, page: ListPage): Promise<void> {
    await mkdir(dirname(this.#path), { recursive: true });
    await appendFile(this.#path, `${JSON.stringify({ key, day, page })}\n`, { flush: true });
    this.#pages?.set(key, page);
  }

  async clear(): Promise<void> {
    await rm(this.#path, { force: true });
    this.#pages = new Map();
  }
}
