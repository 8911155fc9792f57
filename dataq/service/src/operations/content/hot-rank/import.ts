import { problemZh, readPlatform } from "@dataq/contract";
import { day, text } from "../../../importer/field.ts";
import { type Message, say } from "../../../importer/message.ts";
import type { Mapped, RowTarget } from "../../../importer/target.ts";
import { hotRanksCorpus, rankingDocument, type StoredRanking } from "./corpus.ts";

/**
 * Imports rankings: platform, date, and items in rank order, each [title, heat?, reads?, discussions?] or
 * {title, heat}.
 */
export const rankImport: RowTarget = {
  name: "content_hot_rank",
  corpus: hotRanksCorpus,
  document: (record) => rankingDocument(record as unknown as StoredRanking),
  map(fields): Mapped {
    const platform = readPlatform(text(fields, "platform") ?? "");
    const date = day(fields, "date");
    if ("problem" in platform) return { problem: platformProblem(platform.problem) };
    if (date === null) return { problem: say("row_no_day") };
    if (!Array.isArray(fields["items"])) return { problem: say("row_no_list") };
    // Some places are missing in archives. The places after a gap move up.
    const items = fields["items"].map(itemOf).filter((item) => item !== null);
    if (items.length === 0) return { problem: say("row_no_titles") };
    return { record: { id: `${platform.value}:${date}`, platform: platform.value, date, items } };
  },
};

function platformProblem({ code, message }: { readonly code: string; readonly message: string }): Message {
  const field = "platform";
  return say("row_field", { field, reason: { en: message, zh: problemZh({ param: field, code }) } });
}

function itemOf(item: unknown) {
  const [title, heat, reads, discussions] = Array.isArray(item)
    ? item
    : typeof item === "string"
      ? [item]
      : [(item as { title?: unknown })?.title, (item as { heat?: unknown })?.heat];
  if (typeof title !== "string" || title.trim() === "") return null;
  return { title: title.trim(), heat: number(heat), reads: number(reads), discussions: number(discussions) };
}

function number(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}
