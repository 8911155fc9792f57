import { asSample } from "../../../sample/provenance.ts";
import { Random } from "../../../sample/random.ts";
import { scholarCount, scholarName } from "../../../sample/scholars.ts";
import type { SamplePaper } from "../paper-search/sample.ts";

/** Scholars, with their papers among the given ones. */
export function sampleScholars(papers: readonly SamplePaper[]) {
  const works = new Map<string, SamplePaper[]>();
  for (const paper of papers) {
    for (const { scholar_id } of paper.authors)
      works.set(scholar_id, [...(works.get(scholar_id) ?? []), paper]);
  }
  return Array.from({ length: scholarCount }, (_, number) => {
    const { id, name, affiliation, topic } = scholarName(number);
    const own = (works.get(id) ?? []).sort((a, b) => b.citation_count - a.citation_count);
    const counts = own.map(({ citation_count }) => citation_count);
    const coauthors = new Set(own.flatMap(({ authors }) => authors.map((author) => author.name)));
    coauthors.delete(name);
    return asSample({
      id,
      scholar_id: id,
      name,
      name_en: null,
      affiliations: [{ name: affiliation, current: true }],
      titles: [new Random(`title ${number}`).pick(["教授", "副教授", "研究员", "讲师", "主任医师"])],
      research_areas: [topic.discipline, ...topic.objects.slice(0, 2)],
      works_count: own.length,
      citation_count: counts.reduce((sum, count) => sum + count, 0),
      h_index: counts.filter((count, place) => count > place).length,
      orcid: null,
      publications: own.slice(0, 20).map(({ paper_id, title, year, journal, citation_count }) => ({
        paper_id,
        title,
        year,
        venue: journal.name,
        citation_count,
      })),
      publications_total: own.length,
      coauthors: [...coauthors].slice(0, 20),
      homepage: null,
    });
  });
}
