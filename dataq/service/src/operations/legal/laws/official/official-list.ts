import { day, text, whole } from "../../../../importer/field.ts";
import { say } from "../../../../importer/message.ts";
import type { Mapped, RowTarget } from "../../../../importer/target.ts";
import { keyedDocument } from "../../../../search/keyed-document.ts";
import { lawFold, officialListCorpus } from "../import/packs.ts";

/** Imports the official list: state and dates of laws, whatever pack their texts are from. */
export const officialListImport: RowTarget = {
  name: "official_law_list",
  corpus: officialListCorpus,
  servedIn: "legal_laws",
  document: (record) => keyedDocument(record, []),
  fold: lawFold,
  map(fields): Mapped {
    const [id, title, listedOn] = [text(fields, "id"), text(fields, "title"), day(fields, "listed_on")];
    if (id === null || title === null || listedOn === null)
      return { problem: say("row_lacks", { fields: ["id", "title", "listed_on"] }) };
    const state = whole(fields, "state");
    return {
      record: {
        id,
        title,
        kind: text(fields, "kind"),
        issuer: text(fields, "issuer"),
        promulgated: day(fields, "promulgated"),
        in_force_from: day(fields, "in_force_from"),
        state: state !== null && state >= 1 && state <= 4 ? state : null,
        listed_on: listedOn,
      },
    };
  },
};
