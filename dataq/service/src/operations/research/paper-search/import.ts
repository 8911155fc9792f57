import { day, list, text } from "../../../importer/field.ts";
import { say } from "../../../importer/message.ts";
import { hasFields, ownForm } from "../../../importer/own-form.ts";
import type { Mapped, RowTarget } from "../../../importer/target.ts";
import { type PaperRecord, paperDocument, papersCorpus } from "./corpus.ts";

/** Papers: our own form, or rows with ID, title and any other known fields. */
export const paperImport: RowTarget = {
  name: "research_paper_search",
  corpus: papersCorpus,
  document: (record) => paperDocument(record as unknown as PaperRecord),
  map(fields): Mapped {
    if (hasFields(fields, "paper_id")) return own(fields);
    const id = text(fields, "id");
    const title = text(fields, "title");
    if (id === null || title === null)
      return { problem: say("row_lacks", { fields: [id === null ? "id" : "title"] }) };
    const published = day(fields, "published");
    const isPreprint = id.startsWith("arxiv:");
    const discipline = text(fields, "discipline") ?? text(fields, "category");
    return {
      record: {
        id,
        paper_id: id,
        doi: text(fields, "doi"),
        title,
        title_en: null,
        authors: list(fields, "authors").map((name) => ({
          name,
          scholar_id: null,
          affiliation: null,
          orcid: null,
          corresponding: false,
        })),
        abstract: text(fields, "abstract"),
        keywords: [...list(fields, "keywords"), ...(discipline === null ? [] : [discipline])],
        publication_date: published,
        year: published === null ? null : Number(published.slice(0, 4)),
        journal: null,
        citation_count: null,
        references_count: null,
        type: isPreprint ? "preprint" : "journal_article",
        language: /\p{Script=Han}/u.test(title) ? "zh" : "en",
        indexed_in: [],
        open_access: isPreprint ? { is_oa: true, url: null } : null,
        retracted: false,
      },
    };
  },
};

const own = ownForm("research_paper_search", (record) => record["paper_id"]);
