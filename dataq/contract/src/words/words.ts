import type { Bilingual } from "../bilingual.ts";
import type { Operation } from "../operation.ts";
import { content } from "./content.ts";
import { enterprise } from "./enterprise.ts";
import { everyRecord } from "./every-record.ts";
import { legal } from "./legal.ts";
import { research } from "./research.ts";
import type { Words } from "./word.ts";

/** The meanings that the operations of a domain share, and the meanings that all operations share. */
export const words: Readonly<Partial<Record<Operation["domain"], Words>> & { every: Words }> = {
  legal,
  enterprise,
  content,
  research,
  every: everyRecord,
};

/**
 * Finds the meaning of a record field by the longest known part of its path. The operation's own words come
 * first.
 */
export function wordFor(operation: Operation, path: string): Bilingual | undefined {
  const names = path.replaceAll("[]", "").split(".");
  for (let from = 0; from < names.length; from++) {
    const name = names.slice(from).join(".");
    const found = operation.words?.[name] ?? words[operation.domain]?.[name] ?? words.every[name];
    if (found) return found;
  }
  return undefined;
}
