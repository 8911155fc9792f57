import { issnCheck } from "@dataq/contract";
import { asSample } from "../../../sample/provenance.ts";
import { Random } from "../../../sample/random.ts";
import { institutions, type Topic, topics } from "../../../sample/topics.ts";

export const journalCount = 300;

export function journalName(number: number): string {
  const topic = topics[number % topics.length] as Topic;
  const random = new Random(`journal name ${number}`);
  const tail = ["学报", "研究", "进展", "评论", "前沿", "通报"][Math.floor(number / topics.length) % 6];
  return `示例${topic.discipline}${tail}${random.pick(["", "", "（自然科学版）", "（网络版）"])}${Math.floor(number / 48) || ""}`;
}

export function sampleJournal(number: number) {
  const random = new Random(`journal ${number}`);
  const topic = topics[number % topics.length] as Topic;
  // ISSNs from 9000 to 9999 are not in use.
  const first7 = `9${String(number * 7 + 100_000).padStart(6, "0")}`;
  const issn = `${first7.slice(0, 4)}-${first7.slice(4)}${issnCheck(first7)}`;
  const id = `sample-journal-${number}`;
  return asSample({
    id,
    journal_id: id,
    name: journalName(number),
    name_en: null,
    issn,
    eissn: null,
    cn_no: `CN99-${String(number).padStart(4, "0")}`,
    sponsor: random.pick(institutions),
    publisher: "示例期刊社",
    frequency: random.pick(["月刊", "双月刊", "季刊", "半月刊"]),
    founded_year: random.whole(1955, 2015),
    language: "中文",
    subjects: [topic.discipline],
    impact_factor: { value: random.whole(20, 500) / 100, year: 2024, kind: "sample" },
    indexed_in: random.several(["CSSCI", "北大核心", "CSCD"], random.whole(0, 2)),
    is_oa: random.chance(0.3),
    homepage: null,
    works_count: random.whole(500, 9_000),
    citation_count: random.whole(1_000, 90_000),
  });
}
