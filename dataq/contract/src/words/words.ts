import type { Bilingual } from "../bilingual.ts";
import type { Operation } from "../operation.ts";
import { cloud } from "./cloud.ts";
import { content } from "./content.ts";
import { enterprise } from "./enterprise.ts";
import { everyRecord } from "./every-record.ts";
import { legal } from "./legal.ts";
import { research } from "./research.ts";
import type { Words } from "./word.ts";

/** The words of each domain, and those that all share. */
export const words: Readonly<Record<Operation["domain"] | "every", Words>> = {
  legal,
  enterprise,
  content,
  cloud,
  research,
  every: everyRecord,
};

/** What a field of a record means: by as much of its path as is known, in its domain first. */
export function wordFor(domain: Operation["domain"], path: string): Bilingual | undefined {
  const names = path.replaceAll("[]", "").split(".");
  for (let from = 0; from < names.length; from++) {
    const name = names.slice(from).join(".");
    const found = words[domain][name] ?? words.every[name];
    if (found) return found;
  }
  return undefined;
}
