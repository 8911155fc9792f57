import { personName } from "../names.ts";
import { asSample } from "../provenance.ts";
import { Random } from "../random.ts";
import type { SamplePaper } from "./papers.ts";
import { institutions, type Topic, topics } from "./topics.ts";

export const scholarCount = 400;

export interface ScholarName {
  readonly id: string;
  readonly name: string;
  readonly affiliation: string;
  readonly topic: Topic;
}

export function scholarName(number: number): ScholarName {
  const random = new Random(`scholar ${number}`);
  return {
    id: `sample-scholar-${number}`,
    name: number === 0 ? "陈明" : personName(random),
    affiliation: random.pick(institutions),
    topic: topics[number % topics.length] as Topic,
  };
}

/** Scholars with their papers among those given. */
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
