import { lawEntriesCorpus, lawEntryDocument } from "../../search/corpora/law-entries.ts";
import type { PostingIndex } from "../../search/postings/posting-index.ts";
import { day, text } from "../field.ts";
import { FieldCounts } from "../field-counts.ts";
import { readRows } from "../format/read-rows.ts";
import { ImportError } from "../import-error.ts";
import { type Message, say } from "../message.ts";
import type { LocalFile } from "../origin/origin.ts";
import { type Publication, provenanceOf } from "../provenance.ts";
import { type LawImport, type LawImportOptions, storedEntries } from "./import-laws.ts";

/** Adds laws to the catalogue. Articles that are imported later take their law's facts from it. */
export async function importCatalog(
  index: PostingIndex,
  file: LocalFile,
  publication: Publication,
  options: LawImportOptions = {},
): Promise<LawImport> {
  const badRows: { row: string; problem: Message }[] = [];
  const entries = await storedEntries(index);
  const counts = new FieldCounts();
  let rows = 0;
  for await (const row of readRows(file.path)) {
    if ("problem" in row) {
      badRows.push({ row: `line ${row.line}`, problem: row.problem });
      continue;
    }
    const { fields } = row;
    counts.add(fields);
    const lawId = text(fields, "law_id");
    const name = text(fields, "law_name");
    if (lawId === null || name === null) {
      badRows.push({
        row: `line ${row.line}`,
        problem: say("row_lacks", { fields: ["law_id", "law_name"] }),
      });
      continue;
    }
    rows++;
    const facts = {
      law_id: lawId,
      law_name: name,
      level_text: text(fields, "level"),
      issuing_body: text(fields, "issuing_body"),
      promulgated_date: day(fields, "publish_date"),
      effective_date: day(fields, "effective_date"),
      version_date: day(fields, "version_date"),
      status_text: text(fields, "status"),
      department: text(fields, "law_department"),
    };
    entries.set(lawId, {
      ...facts,
      article_count: entries.get(lawId)?.article_count ?? 0,
      source: provenanceOf(publication, facts, lawId),
    });
  }
  if (rows === 0) throw new ImportError("no_law", { file: file.name });
  if (options.dryRun === true) return { rows, laws: rows, size: 0, badRows, fields: counts.report() };
  const documents = async function* () {
    for (const entry of entries.values()) yield lawEntryDocument(entry);
  };
  const { size } = await index.refresh(lawEntriesCorpus, documents(), { dataset: "laws", mode: "replace" });
  return { rows, laws: rows, size, badRows, fields: counts.report() };
}
