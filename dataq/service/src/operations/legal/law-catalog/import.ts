import { day, text } from "../../../importer/field.ts";
import { FieldCounts } from "../../../importer/field-counts.ts";
import { readRows } from "../../../importer/format/read-rows.ts";
import { ImportError } from "../../../importer/import-error.ts";
import type { ImportOptions } from "../../../importer/import-file.ts";
import type { WholeImport, WholeResult } from "../../../importer/import-whole.ts";
import { type Message, say } from "../../../importer/message.ts";
import type { LocalFile } from "../../../importer/origin/origin.ts";
import { type Publication, provenanceOf } from "../../../importer/provenance.ts";
import type { PostingIndex } from "../../../search/postings/posting-index.ts";
import { storedEntries } from "../laws/import/import-laws.ts";
import { lawEntriesCorpus, lawEntryDocument } from "./corpus.ts";

export const catalogImport: WholeImport = { name: "legal_law_catalog", run: importCatalog };

/** Adds laws to the catalogue. Articles that are imported later take their law's facts from it. */
async function importCatalog(
  index: PostingIndex,
  file: LocalFile,
  publication: Publication,
  options: ImportOptions,
): Promise<WholeResult> {
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
  if (options.dryRun === true) return { rows, size: 0, badRows, fields: counts.report() };
  const documents = async function* () {
    for (const entry of entries.values()) yield lawEntryDocument(entry);
  };
  const { size } = await index.refresh(lawEntriesCorpus, documents(), { dataset: "laws", mode: "replace" });
  return { rows, size, badRows, fields: counts.report() };
}
