import { day, text } from "../../../importer/field.ts";
import { say } from "../../../importer/message.ts";
import type { Mapped, RowTarget } from "../../../importer/target.ts";
import { keyedDocument } from "../../../search/keyed-document.ts";
import { cataloguePacksCorpus, lawFold } from "../laws/import/packs.ts";

/**
 * Imports laws for the catalogue. Articles whose pack has only the law's name take the law's facts from here.
 */
export const catalogImport: RowTarget = {
  name: "legal_law_catalog",
  corpus: cataloguePacksCorpus,
  document: (record) => keyedDocument(record, []),
  fold: lawFold,
  map(fields): Mapped {
    const lawId = text(fields, "law_id");
    const name = text(fields, "law_name");
    if (lawId === null || name === null)
      return { problem: say("row_lacks", { fields: ["law_id", "law_name"] }) };
    return {
      record: {
        id: lawId,
        law_id: lawId,
        law_name: name,
        level_text: text(fields, "level"),
        issuing_body: text(fields, "issuing_body"),
        promulgated_date: day(fields, "publish_date"),
        effective_date: day(fields, "effective_date"),
        version_date: day(fields, "version_date"),
        status_text: text(fields, "status"),
        department: text(fields, "law_department"),
      },
    };
  },
};
