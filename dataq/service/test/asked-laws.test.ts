import { existsSync, readFileSync } from "node:fs";
import { type Params, warningText } from "@dataq/contract";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Random } from "../../../fuzz/random.ts";
import type { Database } from "../src/database/database.ts";
import { createSources } from "../src/operations/sources.ts";
import { embeddedIndex } from "../src/search/open-index.ts";
import type { SearchIndex } from "../src/search/search-index.ts";
import { WrittenRecord } from "../src/sources/written-record.ts";
import { makeDataFolder, openFolder, removeDataFolder } from "./data-folder.ts";
import { importPack } from "./pack.ts";
import { articlesFor, sayOtherwise } from "./said-otherwise.ts";
import { told } from "./told.ts";

const packs = process.env["TEST_DATA"];
const hasPacks = packs !== undefined && existsSync(packs);

let folder: string;
let database: Database;
let index: SearchIndex;

/** The laws of a first start, all of them: what is found first depends on all. */
beforeAll(async () => {
  if (!hasPacks) return;
  folder = await makeDataFolder("tables");
  database = await openFolder(folder);
  index = embeddedIndex(database);
  for (const [target, pack] of [
    ["legal_law_catalog", "law_catalog"],
    ["legal_laws", "law_articles"],
  ] as const) {
    const report = await importPack({ database, index, folder, packs }, pack, target);
    expect(report).toMatchObject({ outcome: "imported" });
  }
}, 300_000);

afterAll(async () => {
  if (!hasPacks) return;
  await database.close();
  await removeDataFolder(folder);
});

async function ask(asked: string | Params, day = "2026-11-27") {
  const source = createSources({ index, samples: false }).find("legal_laws")!;
  const params = typeof asked === "string" ? { query: asked } : asked;
  const context = { signal: AbortSignal.timeout(20_000), now: new Date(`${day}T04:00:00Z`), sandbox: false };
  const answer = await source.run(params, { page: 1, pageSize: 10 }, context);
  const records = (answer.records ?? []).map((record) =>
    record instanceof WrittenRecord ? record.parse() : record,
  ) as { id: string; status: string }[];
  return {
    isFree: answer.notHeld === true,
    ids: records.map(({ id }) => id),
    records,
    warnings: told(answer.warnings),
    chinese: (answer.warnings ?? []).map((each) => warningText(each, "zh")),
  };
}

const environmental = [
  "环境保护法",
  "环境影响评价法",
  "海洋环境保护法",
  "大气污染防治法",
  "水污染防治法",
  "土壤污染防治法",
  "固体废物污染环境防治法",
  "噪声污染防治法",
  "放射性污染防治法",
  "清洁生产促进法",
];

test.skipIf(!hasPacks)(
  "the ten laws that the Ecological and Environmental Code replaced: words are answered by the code, their own articles say so (needs TEST_DATA)",
  async () => {
    for (const law of environmental) {
      const start = `${law} ended on 2026-08-15; 生态环境法典 replaced it.`;
      for (const asked of [`${law} 罚款`, { law, query: "罚款" }]) {
        const words = await ask(asked);
        expect([asked, words.warnings[0]]).toEqual([
          asked,
          `${start} The articles are those of 生态环境法典.`,
        ]);
        expect(words.ids.length).toBeGreaterThan(0);
        expect(words.ids.filter((id) => !id.startsWith("生态环境法典:"))).toEqual([]);
      }
      for (const asked of [`${law}第一条`, law, { law, article: "1" }]) {
        const own = await ask(asked);
        expect([asked, own.warnings[0]]).toEqual([asked, start]);
        expect([asked, own.ids[0]]).toEqual([asked, `${law}:1`]);
        expect([asked, own.records[0]?.status]).toEqual([asked, "repealed"]);
      }
      // Until then it is the law.
      const before = await ask(`${law} 罚款`, "2026-08-14");
      expect([law, before.warnings.join().includes("生态环境法典")]).toEqual([law, false]);
      expect(before.ids.filter((id) => !id.startsWith(`${law}:`))).toEqual([]);
    }
    expect((await ask("环境保护法 罚款")).chinese[0]).toBe(
      "《环境保护法》已于 2026-08-15 失效，由《生态环境法典》取代。以下是《生态环境法典》的条文。",
    );
  },
);

test.skipIf(!hasPacks)(
  "a list that reaches beyond the end of the Civil Code answers the part that it has (needs TEST_DATA)",
  async () => {
    const beyond = await ask("民法典第1250-1265条");
    expect(beyond).toMatchObject({
      isFree: false,
      warnings: ["民法典 has no article 1261 to 1265; it ends at article 1260."],
      chinese: ["《民法典》没有第1261条至第1265条，最后一条是第1260条。"],
    });
    expect(beyond.ids).toHaveLength(10);
    for (const query of ["民法典第1259条至第1262条", "民法典第1259、1260、1261条"]) {
      const some = await ask(query);
      expect([query, some.ids]).toEqual([query, ["民法典:1259", "民法典:1260"]]);
      expect(some.warnings.join()).toContain("民法典 has no article 1261");
    }
    const apart = await ask("民法典第1258、1261条");
    expect(apart).toMatchObject({ isFree: false, ids: ["民法典:1258"] });
    expect(await ask("民法典第1261-1270条")).toMatchObject({ isFree: true, ids: [] });
    expect((await ask("民法典(2020)第1261、1258条")).ids).toEqual(["民法典:1258"]);
  },
);

test.skipIf(!hasPacks)(
  "questions of how long something lasts find the article that says it among the first five (needs TEST_DATA)",
  async () => {
    const missed: string[] = [];
    for (const [query, ...right] of durations) {
      const { ids, isFree } = await ask(query);
      if (isFree || !right.some((id) => ids.slice(0, 5).includes(id)))
        missed.push(`${query}: ${ids.slice(0, 5).join(" ")}`);
    }
    expect(missed).toEqual([]);
  },
);

test.skipIf(!hasPacks)(
  "questions said otherwise find the same article among the first five (needs TEST_DATA; more: npm run proof -- metamorphic)",
  async () => {
    const questions = durations.map(([query, ...right]) => ({ query, right }));
    const ask = articlesFor(createSources({ index, samples: false }), 10);
    const { rows, held } = await sayOtherwise(questions, ask, new Random(3), 1);
    expect(held).toBe(questions.length);
    for (const { way, kept, times, bar, lost } of rows)
      expect([way, kept >= Math.floor(bar * times), lost]).toEqual([way, true, lost]);
  },
);

/** A question, and the articles that answer it. */
const durations: readonly (readonly [question: string, ...right: string[]])[] = [
  ["发明专利能保护多少年", "专利法:42"],
  ["实用新型的保护期是几年", "专利法:42"],
  ["外观设计专利有效期多长时间", "专利法:42"],
  // The version in force until the end of 2026.
  ["商标有效期多久", "商标法:39", "商标法:40"],
  ["注册商标能用多少年", "商标法:39", "商标法:40"],
  ["著作权保护多少年", "著作权法:23"],
  ["小说版权的期限有多长", "著作权法:23"],
  ["诉讼时效几年", "民法典:188"],
  ["试用期最长多久", "劳动合同法:19"],
  ["身份证有效期", "居民身份证法:5"],
  ["身份证多少年要换", "居民身份证法:5"],
  ["护照有效期几年", "护照法:7"],
  ["竞业限制最长多久", "劳动合同法:24"],
  ["离婚冷静期有多少天", "民法典:1077"],
  ["取保候审最长多长时间", "刑事诉讼法:79"],
  ["逮捕后最多羁押几个月", "刑事诉讼法:156"],
  ["劳动仲裁时效多久", "劳动争议调解仲裁法:27"],
  ["判决下来申请强制执行的期限", "民事诉讼法:250"],
  ["国家赔偿的时效有几年", "国家赔偿法:39"],
  ["保证期间是多少个月", "民法典:692"],
  ["土地承包期限多少年", "农村土地承包法:21", "民法典:332"],
  ["租房合同最长能签几年", "民法典:705"],
  ["认缴出资的期限是几年", "公司法:47"],
  ["刑事犯罪过多少年不再追诉", "刑法:87"],
  ["失踪多少年可以宣告死亡", "民法典:46"],
  ["缓刑考验期多长", "刑法:73"],
];

test.skipIf(!hasPacks)(
  "ordinary questions are answered by held laws and never free; those that only an unheld source answers are, and name it (needs TEST_DATA)",
  async () => {
    const answered = readFileSync(new URL("answered-questions.txt", import.meta.url), "utf8")
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"));
    const free: string[] = [];
    for (const query of answered) {
      const { isFree, ids } = await ask(query);
      if (isFree || ids.length === 0) free.push(query);
    }
    expect(answered.length).toBeGreaterThanOrEqual(60);
    expect(free).toEqual([]);
    for (const [query, title] of [
      ["彩礼", "最高人民法院关于审理涉彩礼纠纷案件适用法律若干问题的规定"],
      ["公积金怎么提取", "住房公积金管理条例"],
      ["工伤认定要几天", "工伤认定办法"],
      ["21.75天怎么来的", "关于职工全年月平均工作时间和工资折算问题的通知"],
      ["几岁退休", "国务院关于工人退休、退职的暂行办法"],
      ["演员假唱", "营业性演出管理条例"],
      ["公租房申请条件", "公共租赁住房管理办法"],
      ["经营异常名录怎么移除", "企业信息公示暂行条例"],
    ] as const) {
      const { isFree, warnings } = await ask(query);
      expect([query, isFree]).toEqual([query, true]);
      expect(warnings[0]).toMatch(/^Not held here: .*The call is free\.$/);
      expect(warnings[0]).toContain(title);
    }
    // Who names a law asks that law, whether in the text or as a filter.
    for (const asked of ["社会保险法 工伤认定", { law: "社会保险法", query: "工伤认定" }]) {
      const { isFree, warnings, ids } = await ask(asked);
      expect([asked, isFree, warnings]).toEqual([asked, false, []]);
      expect(ids).toContain("社会保险法:36");
    }
    for (const query of [
      "上班路上被车撞算工伤吗",
      "年休假",
      "民间借贷利率",
      "民通意见",
      "民法通则意见第一条",
    ])
      expect([query, (await ask(query)).isFree]).toEqual([query, true]);
    for (const [query, title, article] of [
      ["要彩礼违法吗", "涉彩礼纠纷案件", "民法典:1042"],
      ["低保户怎么申请", "社会救助暂行办法", "社会救助法:37"],
      ["帮信罪流水多少立案", "帮助信息网络犯罪活动", "刑法:287-2"],
    ] as const) {
      const { isFree, warnings, ids } = await ask(query);
      expect([query, isFree]).toEqual([query, false]);
      expect(warnings[0]).toMatch(/^Not held here: .*; these articles answer a part\.$/);
      expect(warnings[0]).toContain(title);
      expect([query, ids.slice(0, 5).join(" ")]).toEqual([query, expect.stringContaining(article)]);
    }
  },
);
