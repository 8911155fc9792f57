import { asSample } from "../../../sample/provenance.ts";
import { Random } from "../../../sample/random.ts";
import { scholarCount, scholarName } from "../../../sample/scholars.ts";
import { type Topic, topics } from "../../../sample/topics.ts";
import { journalName } from "../journal-search/sample.ts";

export const paperCount = 1_500;

export type SamplePaper = ReturnType<typeof samplePaper>;

export function samplePaper(number: number) {
  const random = new Random(`paper ${number}`);
  const place = number % topics.length;
  const topic = topics[place] as Topic;
  const [object, method, aim] = [
    random.pick(topic.objects),
    random.pick(topic.methods),
    random.pick(topic.aims),
  ];
  const title = random.pick([
    `基于${method}的${object}研究`,
    `${object}中${method}的应用与${aim}`,
    `面向${aim}的${object}${method}方法`,
    `${object}研究进展与展望`,
  ]);
  const date = random.day(2012, 2025);
  // Every eighth scholar has the same topic, so the authors of a paper are chosen among them.
  const authors = random
    .several(
      Array.from({ length: scholarCount / topics.length }, (_, row) => row),
      random.whole(1, 5),
    )
    .map((row) => scholarName(row * topics.length + place))
    .map(({ id, name, affiliation }, order) => ({
      name,
      scholar_id: id,
      affiliation,
      orcid: null,
      corresponding: order === 0,
    }));
  const id = `sample-paper-${number}`;
  return asSample({
    id,
    paper_id: id,
    doi: null,
    title: `${title}（样例）`,
    title_en: null,
    authors,
    abstract: `针对${object}在${random.pick(topic.aims)}方面存在的不足，本文采用${method}开展研究。首先分析了${object}的关键影响因素，然后建立了相应的模型，并通过${random.pick(topic.methods)}进行验证。结果表明，所提方法能够${aim}，相关指标较对照组改善${random.whole(5, 40)}%。研究可为${object}的工程应用提供参考。`,
    keywords: [...new Set([object, method, aim, topic.discipline])],
    publication_date: date,
    year: Number(date.slice(0, 4)),
    journal: {
      name: journalName(random.whole(0, 299)),
      issn: null,
      volume: String(random.whole(1, 60)),
      issue: String(random.whole(1, 12)),
      pages: `${random.whole(1, 80)}-${random.whole(81, 160)}`,
    },
    citation_count: Math.floor(Math.exp(1.6 + 1.2 * random.normal())),
    references_count: random.whole(12, 60),
    type: "journal_article",
    language: "zh",
    indexed_in: random.several(["CSSCI", "北大核心", "CSCD", "EI"], random.whole(0, 2)),
    open_access: null,
    retracted: false,
  });
}
