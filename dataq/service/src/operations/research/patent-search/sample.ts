import { patentCheck } from "@dataq/contract";
import { sampleCompany } from "../../../sample/companies.ts";
import { personName } from "../../../sample/names.ts";
import { asSample } from "../../../sample/provenance.ts";
import { Random } from "../../../sample/random.ts";
import { institutions, type Topic, topics } from "../../../sample/topics.ts";

export const patentCount = 800;

const kinds = [
  ["invention", "1", "一种", "方法及系统"],
  ["utility_model", "2", "一种", "装置"],
  ["design", "3", "", "（外观设计）"],
] as const;

export function samplePatent(number: number) {
  const random = new Random(`patent ${number}`);
  const topic = topics[number % topics.length] as Topic;
  const [type, digit, start, end] = random.pick([kinds[0], kinds[0], kinds[1], kinds[1], kinds[2]]);
  const object = random.pick(topic.objects);
  const title = `${start}${random.pick(topic.aims).replace(/^(提高|提升|降低|增强|抑制|改善)/, "可$1")}的${object}${end}`;
  const applied = random.day(2012, 2024);
  const twelve = `${applied.slice(0, 4)}${digit}${String(9_000_000 + number).slice(0, 7)}`;
  const application = `${twelve}.${patentCheck(twelve)}`;
  const publication = `CN${type === "invention" ? "199" : type === "utility_model" ? "299" : "399"}${String(number).padStart(6, "0")}${type === "invention" ? "A" : type === "utility_model" ? "U" : "S"}`;
  const isGranted = type !== "invention" || random.chance(0.5);
  const published = `${Number(applied.slice(0, 4)) + 1}${applied.slice(4)}`;
  const applicant = random.chance(0.7)
    ? sampleCompany(random.whole(0, 1_999)).name
    : random.pick(institutions);
  const [status, text] = isGranted
    ? random.pick([
        ["granted", "授权"],
        ["granted", "授权"],
        ["lapsed", "未缴年费专利权终止"],
      ] as const)
    : random.pick([
        ["pending", "实质审查的生效"],
        ["rejected", "驳回"],
        ["withdrawn", "视为撤回"],
      ] as const);
  return asSample({
    id: `sample-patent-${number}`,
    patent_id: `sample-patent-${number}`,
    application_no: application,
    publication_no: publication,
    grant_no: isGranted ? publication.replace(/A$/, "B") : null,
    title: `${title}（样例）`,
    abstract: `本申请公开了${title}，涉及${topic.discipline}技术领域。所述方案包括采集单元、处理单元和执行单元，采用${random.pick(topic.methods)}对${object}进行处理，能够${random.pick(topic.aims)}。`,
    type,
    applicants: [applicant],
    inventors: Array.from({ length: random.whole(1, 4) }, () => personName(random)),
    agency: random.chance(0.7) ? "示例专利代理事务所" : null,
    ipc: [`${topic.ipc}${random.whole(1, 20)}/${String(random.whole(0, 60)).padStart(2, "0")}`],
    cpc: null,
    application_date: applied,
    publication_date: published,
    grant_date: isGranted ? `${Number(applied.slice(0, 4)) + 2}${applied.slice(4)}` : null,
    priority: null,
    legal_status: status,
    legal_status_text: text,
    first_claim: `1.${title}，其特征在于，包括：获取与${object}有关的数据；对所述数据进行${random.pick(topic.methods)}处理；输出处理结果。`,
    citation_count: random.whole(0, 20),
  });
}
