import type { Sources } from "../src/sources/source.ts";
import { WrittenRecord } from "../src/sources/written-record.ts";

/**
 * A query, and the IDs of which one must be among its first ten results. For articles it must be the first result.
 */
export interface JudgedQuery {
  readonly operation: "legal_laws" | "legal_cases" | "research_paper_search" | "research_journal_search";
  readonly query: string;
  readonly expected: readonly string[];
}

/** Written from the packs before the search was run on them. */
export const judgedQueries: readonly JudgedQuery[] = [
  ...articles([
    ["民法典 第五百七十七条", "民法典:577"],
    ["民法典577", "民法典:577"],
    ["民法典第577条", "民法典:577"],
    ["《中华人民共和国民法典》第一千二百五十四条", "民法典:1254"],
    ["民法典 1254", "民法典:1254"],
    ["民法典第一条", "民法典:1"],
    ["刑法第二百六十四条", "刑法:264"],
    ["刑法 第264条", "刑法:264"],
    ["刑法第一百二十条之二", "刑法:120-2"],
    ["刑法 第120条之二", "刑法:120-2"],
    ["中华人民共和国刑法第二百六十六条", "刑法:266"],
    ["公司法 第二十条", "公司法:20"],
    ["公司法20", "公司法:20"],
    ["劳动合同法第八十七条", "劳动合同法:87"],
    ["民诉法 第十条", "民事诉讼法:10"],
    ["刑诉法第七十九条", "刑事诉讼法:79"],
    ["个保法第十三条", "个人信息保护法:13"],
    ["《商标法》第五十七条", "商标法:57"],
    ["专利法 第二条", "专利法:2"],
    ["消法第五十五条", "消费者权益保护法:55"],
    ["道路交通安全法第76条", "道路交通安全法:76"],
    ["宪法第三十三条", "宪法:33"],
    ["反不正当竞争法第6条", "反不正当竞争法:6"],
    ["行政处罚法 第九条", "行政处罚法:9"],
  ]),
  ...of("legal_cases", [
    ["工业松香 加工 鸭子", "JuDGE-ab58174f-2ada-4c24-8cc7-16d35e12e4d3"],
    ["滴滴 乘客 司机 互殴 鼻骨骨折", "JuDGE-e05ae310-5b5d-4f29-9cc6-90817b8a035a"],
    ["烟头 山火 附带民事公益诉讼", "LeCaRDv2-741"],
    ["拒不执行判决 民间借贷 自诉人", "JuDGE-685425b7-b1ba-40e1-b160-861437797f5e"],
    ["超细粉 单位行贿", "JuDGE-4e1cae7a-e115-4f70-85b1-4a24658c44e6"],
    ["开锁师傅 更换门锁 债务 母亲", "LeCaRDv2-687"],
    ["红色雨衣 摩托车 背包 抢夺", "LeCaRDv2-691"],
    ["（2016）黔0103刑初2060号", "JuDGE-34f56e49-ab68-4fcf-979a-dfcc8c69fd81"],
    ["(2018)苏0582刑初268号", "JuDGE-e057e0d9-b877-466f-9a58-d7c75a3c8b0a"],
    ["court:五华县人民法院 失火", "LeCaRDv2-741"],
    ["court:瑞安法院 有毒有害食品 松香", "JuDGE-ab58174f-2ada-4c24-8cc7-16d35e12e4d3"],
    ["妨害公务 派出所 医院 住院费", "LeCaRDv2-701"],
    ["休闲会所 容留卖淫 吉首", "LeCaRDv2-540"],
    ["纺织路 闲置地块 街道办事处", "LeCaRDv2-612"],
    ["慢性病防治站 公交车站 贩卖毒品", "JuDGE-50c1cc45-8baf-424a-9060-6a8c7fc4c9b5"],
    ["type:危险驾驶罪 南骏大道", "JuDGE-28c1880f-03cd-4fbf-a61a-0dda1f86816d"],
  ]),
  ...of("research_paper_search", [
    ["泥水盾构 泥膜 闭气性", "csl-1176"],
    ["脉动热管 传热特性", "csl-1498"],
    ["王老吉 商标 商誉", "csl-1561"],
    ["蝴蝶兰原球茎", "csl-798"],
    ["客家武术", "csl-1877"],
    ["滑子菇 营养成分", "csl-1777"],
    ["沥青路面 平整度", "csl-309"],
    ["Fe3Al 涂层", "csl-1569"],
    ["hashtag crisis visualization", "arxiv:1801.05906"],
    ["10.1145/3308558.3313614", "arxiv:1908.0910399999998"],
    ["Lanbo Zhang", "arxiv:1501.00744"],
  ]),
  ...of("research_journal_search", [
    ["中国社会科学", "journal:1002-4921"],
    ["1002-5936", "journal:1002-5936"],
    ["马克思主义研究", "journal:1006-5199"],
    ["心理科学进展", "journal:1671-3710"],
    ["现代国际关系", "journal:1000-6192"],
    ["Journal of Applied Biomedicine", "journal:1214-021X"],
    ["22964185", "journal:2296-4185"],
    ["金融研究", "journal:1002-7264"],
    ["中国农业大学学报", "journal:1007-4333"],
  ]),
];

/**
 * The queries that miss what they should find, with the first results. An article must be the first result, the others
 * must be among the first ten.
 */
export async function missedQueries(sources: Sources): Promise<{ articles: string[]; others: string[] }> {
  const missed = { articles: [] as string[], others: [] as string[] };
  for (const { operation, query, expected } of judgedQueries) {
    const context = { signal: AbortSignal.timeout(10_000), now: new Date(), sandbox: false };
    const answer = await sources.find(operation)?.run({ query }, { page: 1, pageSize: 10 }, context);
    const ids = (answer?.records ?? []).map((record) => {
      const fields = record instanceof WrittenRecord ? record.parse() : record;
      return (fields as { id: string }).id;
    });
    const line = `${operation} ${query}: ${ids.slice(0, 3).join(", ")}`;
    if (operation === "legal_laws") {
      if (ids[0] !== expected[0]) missed.articles.push(line);
    } else if (!expected.every((id) => ids.includes(id))) missed.others.push(line);
  }
  return missed;
}

function articles(list: readonly (readonly [string, string])[]): JudgedQuery[] {
  return of("legal_laws", list);
}

function of(
  operation: JudgedQuery["operation"],
  list: readonly (readonly [string, string])[],
): JudgedQuery[] {
  return list.map(([query, id]) => ({ operation, query, expected: [id] }));
}
