import { list, text, whole } from "../../../importer/field.ts";
import { say } from "../../../importer/message.ts";
import { hasFields, ownForm } from "../../../importer/own-form.ts";
import type { Mapped, RowTarget } from "../../../importer/target.ts";
import { type JournalRecord, journalDocument, journalsCorpus } from "./corpus.ts";

/** Journals: our own form, or a list with title and ISSN. */
export const journalImport: RowTarget = {
  name: "research_journal_search",
  corpus: journalsCorpus,
  document: (record) => journalDocument(record as unknown as JournalRecord),
  map(fields): Mapped {
    if (hasFields(fields, "journal_id")) return own(fields);
    const name = text(fields, "title") ?? text(fields, "name");
    if (name === null) return { problem: say("row_lacks", { fields: ["title"] }) };
    const issn = issnOf(text(fields, "issn"));
    const eissn = issnOf(text(fields, "eissn"));
    const id = `journal:${issn ?? eissn ?? name}`;
    const isOpen = text(fields, "source") === "DOAJ";
    return {
      record: {
        id,
        journal_id: id,
        name,
        name_en: text(fields, "alt_title"),
        issn,
        eissn,
        cn_no: text(fields, "cn_no"),
        sponsor: text(fields, "sponsor"),
        publisher: text(fields, "publisher"),
        frequency: text(fields, "frequency"),
        founded_year: whole(fields, "start_year"),
        language: text(fields, "language"),
        subjects: [...new Set([...list(fields, "subjects"), ...list(fields, "field")])],
        impact_factor: null,
        indexed_in: isOpen ? ["DOAJ"] : [],
        is_oa: isOpen ? true : null,
        homepage: text(fields, "url"),
        works_count: null,
        citation_count: null,
      },
    };
  },
};

const own = ownForm("research_journal_search", (record) => record["journal_id"]);

function issnOf(value: string | null): string | null {
  const found = /^(\d{4})-?(\d{3}[\dXx])$/.exec(value ?? "");
  return found === null ? null : `${found[1]}-${found[2]?.toUpperCase()}`;
}
