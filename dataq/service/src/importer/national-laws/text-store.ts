import { mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import writeFileAtomic from "write-file-atomic";
import type { DocxProblemCode } from "../docx/document-xml.ts";
import type { ListedLaw } from "./list-page.ts";

/** The text of a listed law as it was read, or why there is none. */
export interface OfficialText {
  readonly id: string;
  /** Title and day for which it was read: if the list changes them, the text is read again. */
  readonly of: string;
  readonly read: string;
  readonly paragraphs?: readonly string[];
  readonly lacks?: TextLack;
}

/** `no_file`: the publisher has no Word file of it. */
export type TextLack = "no_file" | "too_large" | DocxProblemCode;

/** The texts that were read, a file each. A file is there whole or not at all. */
export class TextStore {
  readonly #folder: string;
  #ids: Set<string> | undefined;

  constructor(folder: string) {
    this.#folder = join(folder, "texts");
  }

  /** The texts that are here, also those that are lacking. */
  async ids(): Promise<ReadonlySet<string>> {
    if (this.#ids !== undefined) return this.#ids;
    const names = await readdir(this.#folder).catch(() => []);
    const found = names.flatMap((name) => (name.endsWith(".json") ? [name.slice(0, -".json".length)] : []));
    this.#ids = new Set(found);
    return this.#ids;
  }

  async get(id: string): Promise<OfficialText | undefined> {
    const text = await readFile(this.#pathOf(id), "utf8").catch(() => undefined);
    return text === undefined ? undefined : (JSON.parse(text) as OfficialText);
  }

  /** Whether the text of this law is here, or was found lacking in the last month. */
  async has(law: ListedLaw, today: string): Promise<boolean> {
    const text = (await this.ids()).has(law.id) ? await this.get(law.id) : undefined;
    if (text?.of !== textOf(law)) return false;
    return text.lacks === undefined || Date.parse(today) - Date.parse(text.read) < askAgainMs;
  }

  async put(text: OfficialText): Promise<void> {
    await mkdir(this.#folder, { recursive: true });
    await writeFileAtomic(this.#pathOf(text.id), JSON.stringify(text));
    this.#ids?.add(text.id);
  }

  #pathOf(id: string): string {
    return join(this.#folder, `${id}.json`);
  }
}

const askAgainMs = 30 * 86_400_000;

export function textOf({ title, promulgated }: ListedLaw): string {
  return `${title} ${promulgated ?? ""}`;
}
