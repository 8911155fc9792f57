import { readFileSync } from "node:fs";
import { lawKey } from "../question/law-reference.ts";

/** A national law or regulation by name; its text need not be held. */
export interface KnownLaw {
  readonly key: string;
  /** Set if it was repealed. */
  readonly repealed?: { readonly date: string; readonly by: string | null };
}

/** Laws by key. The list is in a file in this folder and is read once. */
export const knownLaws: ReadonlyMap<string, KnownLaw> = readList(new URL("known-laws.txt", import.meta.url));

function readList(file: URL): Map<string, KnownLaw> {
  const laws = new Map<string, KnownLaw>();
  const lines = readFileSync(file, "utf8").split("\n");
  for (const line of lines) {
    if (line === "" || line.startsWith("#")) continue;
    const [names = "", date, by = ""] = line.split("\t");
    for (const name of names.split(" ")) {
      const key = lawKey(name);
      laws.set(key, { key, ...(date !== undefined && { repealed: { date, by: by === "" ? null : by } }) });
    }
  }
  return laws;
}
