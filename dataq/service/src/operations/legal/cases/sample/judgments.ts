import { companyBrand, industries, maskedName, personName } from "../../../../sample/names.ts";
import { asSample } from "../../../../sample/provenance.ts";
import { Random } from "../../../../sample/random.ts";
import { writeNumber } from "../../question/chinese-number.ts";
import { type Cause, causes } from "./causes.ts";
import { appealCourt, basicCourt, type Court, courtDistricts, highCourt } from "./courts.ts";
import { evidence, generalReasoning, goods, jobs, purposes } from "./sentences.ts";

/**
 * A generated judgment. The same number always gives the same document. Courts, causes, articles and the form are
 * real; people, companies, sums and events are invented.
 */
export function sampleJudgment(number: number) {
  const random = new Random(`judgment ${number}`);
  const cause = pickCause(random);
  const district = random.pick(courtDistricts);
  const instance = pickInstance(cause, random);
  const court = { first: basicCourt, second: appealCourt, retrial: highCourt, enforcement: basicCourt }[
    instance
  ](district);
  const date = random.day(2021, 2025);
  const caseNo = `（${date.slice(0, 4)}）${court.code}${caseLetters(cause, instance)}${number + 1}号`;
  const parties = partiesOf(cause, random);
  const judges = judgesOf(court, random);
  const fill = filler(parties, court, random);
  const documentType = cause.kind === "enforcement" ? "执行裁定书" : `${kindWord[cause.kind]}判决书`;
  const length = Math.min(14_000, Math.max(600, Math.exp(7.75 + 0.55 * random.normal())));
  const sections = sectionsOf(cause, fill, random, length);
  const basis = random.several(cause.basis, random.whole(1, Math.min(4, cause.basis.length))).map((entry) => {
    const [law, article] = entry.split("|") as [string, string];
    return { law_name: `中华人民共和国${law}`, article_no: `第${writeNumber(Number(article))}条` };
  });
  const cited = basis.map(({ law_name, article_no }) => `《${law_name}》${article_no}`).join("、");
  const ruling = `${sections.ruling}\n如不服本判决，可以在判决书送达之日起十五日内，向本院递交上诉状。`;
  const full = [
    `${court.name}\n${documentType}\n${caseNo}`,
    parties.all.map((party) => `${party.title}：${party.name}。`).join("\n"),
    `${parties.all[0]?.title}${parties.first}与${parties.all[1]?.title}${parties.second}${cause.name}一案，本院立案后，依法适用${random.pick(["普通程序", "简易程序"])}公开开庭进行了审理。本案现已审理终结。`,
    sections.claims,
    sections.facts,
    sections.reasoning,
    `依照${cited}的规定，${cause.kind === "enforcement" ? "裁定" : "判决"}如下：`,
    cause.kind === "enforcement" ? sections.ruling : ruling,
    judges.map(({ name, role }) => `${role}　${name}`).join("\n"),
    `${date.slice(0, 4)}年${Number(date.slice(5, 7))}月${Number(date.slice(8))}日`,
  ].join("\n");
  return asSample({
    id: `sample-${number}`,
    case_id: `sample-${number}`,
    case_no: caseNo,
    title: `${parties.first}与${parties.second}${cause.name}${instanceWord[instance]}${documentType}（样例）`,
    court_name: court.name,
    court_level: court.level,
    province: court.province,
    city: court.city,
    case_type: cause.kind,
    case_type_text: caseTypeText[cause.kind],
    document_type: documentType.slice(-3),
    trial_procedure: instanceWord[instance],
    cause_of_action: cause.name,
    judgment_date: date,
    published_date: null,
    judges,
    parties: parties.all.map(({ name, role, type }) => ({ name, role, type })),
    legal_basis: basis,
    result: sections.ruling,
    summary: null,
    full_text: full,
    sections,
  });
}

const kindWord = { civil: "民事", criminal: "刑事", administrative: "行政", enforcement: "执行" };
const caseTypeText = {
  civil: "民事案件",
  criminal: "刑事案件",
  administrative: "行政案件",
  enforcement: "执行案件",
};
const instanceWord = { first: "一审", second: "二审", retrial: "再审", enforcement: "执行" };
type Instance = keyof typeof instanceWord;

const totalWeight = causes.reduce((sum, { weight }) => sum + weight, 0);

function pickCause(random: Random): Cause {
  let left = random.next() * totalWeight;
  for (const cause of causes) {
    left -= cause.weight;
    if (left < 0) return cause;
  }
  return causes[0] as Cause;
}

function pickInstance(cause: Cause, random: Random): Instance {
  if (cause.kind === "enforcement") return "enforcement";
  const chance = random.next();
  return chance < 0.8 ? "first" : chance < 0.98 ? "second" : "retrial";
}

function caseLetters(cause: Cause, instance: Instance): string {
  if (instance === "enforcement") return "执";
  const word = { civil: "民", criminal: "刑", administrative: "行", enforcement: "执" }[cause.kind];
  return `${word}${{ first: "初", second: "终", retrial: "再" }[instance]}`;
}

function partiesOf(cause: Cause, random: Random) {
  const company = () => `${companyBrand(random)}${random.pick(industries).word}有限公司`;
  const isCompany = () => random.chance(cause.name.includes("离婚") || cause.name.includes("继承") ? 0 : 0.4);
  const side = (title: string, role: string, asCompany: boolean) => ({
    name: asCompany ? company() : maskedName(random),
    title,
    role,
    type: asCompany ? ("company" as const) : ("person" as const),
  });
  const all =
    cause.kind === "criminal"
      ? [side("公诉机关", "prosecutor", false), side("被告人", "defendant", false)]
      : cause.kind === "enforcement"
        ? [side("申请执行人", "applicant", isCompany()), side("被执行人", "respondent", isCompany())]
        : [side("原告", "plaintiff", isCompany()), side("被告", "defendant", isCompany())];
  const [first, second] = all as [(typeof all)[number], (typeof all)[number]];
  if (cause.kind === "criminal") first.name = "示例人民检察院";
  if (cause.kind === "administrative")
    second.name = random.pick(["示例人力资源和社会保障局", "示例街道办事处", "示例市场监督管理局"]);
  return { all, first: first.name, second: second.name };
}

/** Picks judges of a court from six names per court. */
function judgesOf(court: Court, random: Random) {
  const panel = new Random(`judges ${court.name}`);
  const names = Array.from({ length: 6 }, () => personName(panel));
  const sitting = random.several(names, random.chance(0.5) ? 3 : 1);
  return [
    ...sitting.map((name, place) => ({
      name,
      role: sitting.length === 1 ? "审判员" : place === 0 ? "审判长" : place === 1 ? "审判员" : "人民陪审员",
    })),
    { name: personName(random), role: "书记员" },
  ];
}

function filler(parties: { first: string; second: string }, court: Court, random: Random) {
  const values: Record<string, () => string> = {
    P: () => parties.first,
    D: () => parties.second,
    A: () => `${random.whole(5, 900) * 1_000}`,
    a: () => `${random.whole(10, 900) * 100}`,
    m: () => `${random.whole(8, 150) * 100}`,
    n: () => `${random.whole(3, 260)}`,
    N: () => `${random.whole(1_000_000, 69_999_999)}`,
    R: () => `${random.whole(4, 14)}`,
    T: () => dayInWords(random.day(2018, 2024)),
    W: () => random.pick(purposes),
    G: () => random.pick(goods),
    J: () => random.pick(jobs),
    Z: () => maskedName(random),
    C: () => `${companyBrand(random)}${random.pick(industries).word}有限公司`,
    L: () =>
      `${court.city ?? court.province}${random.pick(["人民路", "解放街", "滨河大道", "工业园区", "火车站广场", "新城商贸中心", "东湖花园", "城南物流园"])}`,
    y: () => random.pick(["八个月", "一年", "一年六个月", "二年", "三年", "三年六个月"]),
  };
  return (template: string) =>
    template.replace(/\{(\w)\}/g, (whole, name: string) => values[name]?.() ?? whole);
}

function sectionsOf(cause: Cause, fill: (template: string) => string, random: Random, length: number) {
  const claims = `${cause.kind === "criminal" ? "公诉机关指控并请求" : "向本院提出诉讼请求"}：${numbered(cause.claims.map(fill))}`;
  const facts = random.several(cause.facts, cause.facts.length).map(fill);
  const reasoning = cause.reasoning.map(fill);
  const ruling = numbered(cause.ruling.map(fill));
  let size = claims.length + ruling.length + [...facts, ...reasoning].join("").length + 400;
  while (size < length) {
    const isFact = random.chance(0.65);
    const sentence = fill(random.pick(isFact ? evidence : generalReasoning));
    (isFact ? facts : reasoning).push(sentence);
    size += sentence.length + 1;
  }
  return {
    facts: `经审理查明：${paragraphs(facts)}`,
    claims,
    reasoning: `本院认为：${paragraphs(reasoning)}`,
    ruling,
  };
}

function numbered(items: readonly string[]): string {
  return items
    .map((item, place) => `${"一二三四五六"[place]}、${item}；`)
    .join("")
    .replace(/；$/, "。");
}

function paragraphs(sentences: readonly string[]): string {
  return sentences
    .map((sentence, place) => `${sentence}。${place % 4 === 3 ? "\n" : ""}`)
    .join("")
    .trim();
}

function dayInWords(day: string): string {
  return `${day.slice(0, 4)}年${Number(day.slice(5, 7))}月${Number(day.slice(8))}日`;
}
