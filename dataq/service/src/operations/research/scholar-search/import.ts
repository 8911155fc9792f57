import { createHash } from "node:crypto";
import { day, list, text } from "../../../importer/field.ts";
import { say } from "../../../importer/message.ts";
import { hasFields, ownForm } from "../../../importer/own-form.ts";
import type { Draft, Gatherer, Mapped, RowTarget } from "../../../importer/target.ts";
import { personTerm } from "../person-term.ts";
import { type ScholarRecord, scholarDocument, scholarsCorpus } from "./corpus.ts";

/**
 * Imports scholars in our own form, or from papers with authors. Papers under the same name belong to one
 * person if they share another author or a field. Papers that share neither belong to another person of that
 * name.
 */
export const scholarImport: RowTarget = {
  name: "research_scholar_search",
  corpus: scholarsCorpus,
  document: (record) => scholarDocument(record as unknown as ScholarRecord),
  map(fields): Mapped {
    if (hasFields(fields, "scholar_id")) return own(fields);
    const id = text(fields, "id");
    const title = text(fields, "title");
    if (id === null || title === null)
      return { problem: say("row_lacks", { fields: [id === null ? "id" : "title"] }) };
    const authors = list(fields, "authors");
    if (authors.length === 0) return { problem: say("row_lacks", { fields: ["authors"] }) };
    const published = day(fields, "published");
    const year = published === null ? null : Number(published.slice(0, 4));
    return {
      record: {
        id,
        title,
        authors,
        year,
        areas: (text(fields, "categories") ?? "").split(" ").filter(Boolean),
      },
    };
  },
  gather: () => new AuthorsOfPapers(),
};

const own = ownForm("research_scholar_search", (record) => record["scholar_id"]);

interface Work {
  readonly paper_id: string;
  readonly title: string;
  readonly year: number | null;
  readonly venue: null;
  readonly citation_count: null;
}

/** One person with their papers. */
interface Author {
  readonly name: string;
  readonly works: Work[];
  readonly coauthors: Set<string>;
  readonly areas: Map<string, number>;
}

class AuthorsOfPapers implements Gatherer {
  /** People by name. Several people may have the same name. */
  readonly #authors = new Map<string, Author[]>();
  readonly #ready: Draft[] = [];

  add(record: Draft): void {
    if (record["scholar_id"] !== undefined) {
      this.#ready.push(record);
      return;
    }
    const paper = record as Draft & {
      title: string;
      authors: string[];
      year: number | null;
      areas: string[];
    };
    for (const name of paper.authors) {
      const key = personTerm(name);
      const work = {
        paper_id: paper.id,
        title: paper.title,
        year: paper.year,
        venue: null,
        citation_count: null,
      };
      const others = paper.authors.filter((other) => other !== name);
      const namesakes = this.#authors.get(key) ?? [];
      const isSame = ({ coauthors, areas }: Author) =>
        others.some((other) => coauthors.has(other)) || paper.areas.some((area) => areas.has(area));
      const same = namesakes.filter(isSame);
      const author = joined(name, same);
      author.works.push(work);
      for (const other of others) author.coauthors.add(other);
      for (const area of paper.areas) author.areas.set(area, (author.areas.get(area) ?? 0) + 1);
      this.#authors.set(key, [...namesakes.filter((each) => !same.includes(each)), author]);
    }
  }

  *records(): Generator<Draft> {
    yield* this.#ready;
    const people = [...this.#authors].flatMap(([key, namesakes]) =>
      namesakes
        .toSorted((a, b) => b.works.length - a.works.length)
        .map((author, place) => ({ ...author, key, place })),
    );
    for (const { name, works, coauthors, areas, key, place } of people) {
      works.sort((a, b) => (b.year ?? 0) - (a.year ?? 0) || (a.paper_id < b.paper_id ? -1 : 1));
      const person = place === 0 ? key : `${key} ${works.at(-1)?.paper_id}`;
      const id = `author:${createHash("sha256").update(person).digest("hex").slice(0, 16)}`;
      yield {
        id,
        scholar_id: id,
        name,
        name_en: null,
        affiliations: [],
        titles: [],
        research_areas: [...areas].sort((a, b) => b[1] - a[1]).map(([area]) => area),
        works_count: works.length,
        citation_count: null,
        h_index: null,
        orcid: null,
        publications: works.slice(0, 20),
        publications_total: works.length,
        coauthors: [...coauthors].slice(0, 50),
        homepage: null,
      };
    }
  }
}

/** Merges authors who turned out to be the same person. */
function joined(name: string, authors: readonly Author[]): Author {
  const areas = new Map<string, number>();
  for (const author of authors)
    for (const [area, count] of author.areas) areas.set(area, (areas.get(area) ?? 0) + count);
  return {
    name,
    works: authors.flatMap(({ works }) => works),
    coauthors: new Set(authors.flatMap(({ coauthors }) => [...coauthors])),
    areas,
  };
}
