import type { OperationName } from "@dataq/contract";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Database } from "../src/database/database.ts";
import { createSources } from "../src/operations/sources.ts";
import { embeddedIndex } from "../src/search/open-index.ts";
import type { SearchIndex } from "../src/search/search-index.ts";
import { WrittenRecord } from "../src/sources/written-record.ts";
import { makeDataFolder, openFolder, removeDataFolder } from "./data-folder.ts";
import { importRowsInto } from "./pack.ts";
import { told } from "./told.ts";

const article = (law: string, number: string, text: string) => ({
  law_id: law,
  law_name: `中华人民共和国${law}`,
  article_no: `第${number}条`,
  article_text: text,
});

const judgment = (id: string, charge: string, text: string, more: object = {}) => ({
  id,
  court: "上海市奉贤区人民法院",
  case_no: `（2019）沪0120刑初${id.length}${id.charCodeAt(0)}号`,
  case_type: "刑事案件",
  date: "2019-06-28",
  charges: [charge],
  text,
  ...more,
});

const rows: Partial<Record<OperationName, readonly object[]>> = {
  legal_laws: [
    article("民法典", "五百七十七", "当事人一方不履行合同义务的，应当承担违约责任。"),
    article("民法典", "五百七十八", "当事人一方明确表示不履行合同义务的，对方可以请求其承担违约责任。"),
    article("民法典", "五百八十四", "当事人一方不履行合同义务，造成对方损失的，损失赔偿额应当相当于损失。"),
    article("民法典", "四百六十九", "当事人订立合同，可以采用书面形式。合同书是书面形式。"),
    article("民法典", "一千二百一十九", "医务人员在诊疗活动中应当向患者说明病情和医疗措施。"),
    article("刑法", "一百三十三", "违反交通运输管理法规，因而发生重大事故的，处三年以下有期徒刑。"),
    article("刑法", "二百六十四", "盗窃公私财物，数额较大的，处三年以下有期徒刑、拘役或者管制。"),
    article("刑法", "二百六十六", "诈骗公私财物，数额较大的，处三年以下有期徒刑、拘役或者管制。"),
    article("劳动合同法", "三十", "用人单位应当向劳动者及时足额支付劳动报酬。"),
    article("劳动合同法", "四十六", "有下列情形之一的，用人单位应当向劳动者支付经济补偿。"),
    article("未成年人保护法", "三十九", "学校应当建立学生欺凌防控工作制度。"),
    ...["一", "二", "十", "二十二"].map((item) => ({
      law_id: "刑法修正案（十一）",
      law_name: "中华人民共和国刑法修正案（十一）",
      article_no: `条目${item}`,
      article_text: `将刑法第${item}条修改为新的文字。`,
    })),
  ],
  legal_cases: [
    judgment("theft", "盗窃罪", "被告人窃取他人停放的电动自行车一辆。审判长 王 刚"),
    judgment("drunk", "危险驾驶罪", "被告人醉酒后驾驶小型轿车，被民警查获。", {
      court: "浙江省杭州市西湖区人民法院",
    }),
    judgment("fraud", "诈骗罪", "被告人虚构事实，骗取被害人财物。"),
    judgment("fraud2018", "诈骗罪", "被告人隐瞒真相，骗取被害人财物。", { date: "2018-01-02" }),
    judgment("fraud-undated", "诈骗罪", "被告人冒充他人，骗取被害人财物。", { date: null }),
    judgment("receiving", "掩饰、隐瞒犯罪所得罪", "被告人明知是赃物而予以收购，被害人丁成相报案。"),
  ],
  research_journal_search: [
    { title: "Nature Communications", issn: "2041-1723" },
    { title: "Journal of Tests", issn: "1000-0003" },
    { title: "Journal of Test and Journal of Trial", issn: "1000-0011" },
  ],
  research_paper_search: [
    { id: "arxiv:1908.0910399999998", title: "Deep cities", authors: ["Ann Lee"] },
    { id: "arxiv:cs/9902021", title: "計算機視覺綜述", authors: [] },
  ],
  research_scholar_search: [
    {
      id: "a1",
      title: "One",
      authors: ["Wei Wang", "Ann Lee"],
      categories: "cs.IR",
      published: "2010-01-01",
    },
    {
      id: "a2",
      title: "Two",
      authors: ["Wei Wang", "Bo Li"],
      categories: "math.AG",
      published: "2011-01-01",
    },
    {
      id: "a3",
      title: "Three",
      authors: ["Wei Wang", "Ann Lee"],
      categories: "cs.DL",
      published: "2012-01-01",
    },
  ],
};

let folder: string;
let database: Database;
let index: SearchIndex;

beforeAll(async () => {
  folder = await makeDataFolder("tables");
  await importRowsInto(folder, rows);
  database = await openFolder(folder);
  index = embeddedIndex(database);
}, 120_000);
afterAll(async () => {
  await database.close();
  await removeDataFolder(folder);
});

async function ask(operation: OperationName, query: string, now = new Date("2026-03-01")) {
  const source = createSources({ index, samples: false }).find(operation)!;
  const params = { [operation === "research_scholar_search" ? "name" : "query"]: query };
  await source.check?.(params, false);
  const context = { signal: new AbortController().signal, now, sandbox: false };
  const answer = await source.run(params, { page: 1, pageSize: 50 }, context);
  const records = (answer.records ?? []).map((record) =>
    record instanceof WrittenRecord ? record.parse() : record,
  ) as { id: string; works_count?: number }[];
  return { ...answer, warnings: told(answer.warnings), ids: records.map(({ id }) => id), records };
}

describe("laws", () => {
  test("records with any word are found; those with all words come first", async () => {
    const { ids, relaxed } = await ask("legal_laws", "违约责任 对方");
    expect(ids[0]).toBe("民法典:578");
    expect(ids).toContain("民法典:577");
    expect(relaxed).toBeUndefined();
  });

  test("a word that no record contains does not affect the others, and is named", async () => {
    const { ids, relaxed, warnings } = await ask("legal_laws", "违约责任 望远镜");
    expect(ids[0]).toMatch(/^民法典:57[78]$/);
    expect(relaxed).toBe(true);
    expect(warnings.join()).toContain("No record has 望远镜");
  });

  test("rare characters that no record has are named, and the answer is relaxed", async () => {
    for (const [query, named] of [
      ["违约责任 鱻犇羴", "鱻犇羴"],
      ["鱻 违约责任 犇羴", "鱻, 犇羴"],
      ["𠮷野违约责任", "𠮷"],
      ["違約責任 羴", "羴"],
    ] as const) {
      const { ids, relaxed, warnings } = await ask("legal_laws", query);
      expect([query, ids[0]]).toEqual([query, expect.stringMatching(/^民法典:57[78]$/)]);
      expect([query, relaxed]).toEqual([query, true]);
      expect(warnings.join()).toContain(`No record has ${named}`);
    }
    // These characters stand in the records, if only inside longer words.
    for (const query of ["违约责任 担", "合同义务 履", "违约责任 的 不"])
      expect([query, (await ask("legal_laws", query)).warnings]).toEqual([query, []]);
  });

  test("a page says relaxed, with the reason, if a word is missing or only related words were found", async () => {
    const words =
      "老板 工资 偷 违约责任 合同 盗窃 东西 赔偿 用人单位 欠钱 打人 房东 押金 鱻犇羴 望远镜 凹凸曼".split(
        " ",
      );
    const seen = new Set<string>();
    const drawn = fc.uniqueArray(fc.constantFrom(...words), { minLength: 1, maxLength: 4 });
    const property = fc.asyncProperty(drawn, async (asked) => {
      const { records, relaxed, warnings } = await ask("legal_laws", asked.join(" "));
      if (records.length === 0) return;
      const page = JSON.stringify(records);
      const hasOwn = asked.some((word) => page.includes(word));
      const hasNonsense = asked.some((word) => ["鱻犇羴", "望远镜", "凹凸曼"].includes(word));
      seen.add(`${hasOwn} ${hasNonsense} ${relaxed}`);
      if (!hasOwn || hasNonsense) expect(relaxed).toBe(true);
      if (relaxed) expect(warnings.length).toBeGreaterThan(0);
    });
    await fc.assert(property, { seed: 35, numRuns: 150 });
    // Draws that decide nothing would prove nothing.
    expect([...seen].sort()).toEqual(
      expect.arrayContaining(["false false true", "true false undefined", "true true true"]),
    );
    const { warnings } = await ask("legal_laws", "老板");
    expect(warnings).toEqual(["None of these records has 老板; they were found by related words."]);
  });

  test("question words have no weight, and alone they are no_words", async () => {
    expect((await ask("legal_laws", "怎么办违约责任怎么办")).ids[0]).toMatch(/^民法典:57[78]$/);
    await expect(ask("legal_laws", "怎么办")).rejects.toMatchObject({ code: "no_words" });
  });

  test("people's words find the law's", async () => {
    expect((await ask("legal_laws", "老板不给工资怎么办")).ids[0]).toBe("劳动合同法:30");
    expect((await ask("legal_laws", "偷东西会判几年")).ids[0]).toBe("刑法:264");
  });

  test("words that mean something together rank above records that have each known word", async () => {
    // 签字 alone means a contract, and no record has 做手术.
    expect((await ask("legal_laws", "做手术没让我签字")).ids[0]).toBe("民法典:1219");
    expect((await ask("legal_laws", "签字")).ids[0]).not.toBe("民法典:1219");
  });

  test.each(["做了手术 签了字", "做完手术没签字", "做过手术没签字"])(
    "%s: a verb with a particle before its object is the same verb",
    async (query) => {
      expect((await ask("legal_laws", query)).ids[0]).toBe("民法典:1219");
    },
  );

  test.each([
    ["刑法 盗窃罪", "刑法:264"],
    ["刑法诈骗", "刑法:266"],
    ["民法典 五百七十七", "民法典:577"],
    ["民法典五七七条", "民法典:577"],
    ["民法典第五百七十七條", "民法典:577"],
    ["勞動合同法第三十條", "劳动合同法:30"],
    ["civil code article 577", "民法典:577"],
    ["xingfa 264", "刑法:264"],
    ["未成年保护法第39条", "未成年人保护法:39"],
    ["民法典　第５７７条", "民法典:577"],
  ])("%s: %s alone or first", async (query, id) => {
    expect((await ask("legal_laws", query)).ids[0]).toBe(id);
  });

  test.each([
    ["民法典577-580", ["民法典:577", "民法典:578"]],
    ["民法典第577条和第584条", ["民法典:577", "民法典:584"]],
    ["刑法264、266", ["刑法:264", "刑法:266"]],
  ])("%s: those articles and no others", async (query, ids) => {
    expect((await ask("legal_laws", query)).ids).toEqual(ids);
  });

  test("a question about a law that is not in the data is free, and a warning names the law", async () => {
    for (const query of ["民诉法解释 第九十条", "工伤保险条例 工伤认定", "旅游法 退款"]) {
      const answer = await ask("legal_laws", query);
      expect(answer).toMatchObject({ outcome: "empty", notHeld: true });
      expect(answer.warnings.join()).toContain("This service does not have ");
    }
  });

  test("an article that a held law cannot have is said so, and is free", async () => {
    for (const query of ["民法典(2020) 第1261条", "2021年民法典第1261条"])
      expect([query, (await ask("legal_laws", query)).notHeld]).toEqual([query, true]);
    for (const query of [
      "民法典第1261条",
      "民法典 第九千九百九十九条",
      "《民法典》第1220条之三",
      "刑法 268",
    ]) {
      const answer = await ask("legal_laws", query);
      expect(answer).toMatchObject({ outcome: "empty", notHeld: true, ids: [] });
      expect(answer.warnings.join()).toMatch(
        /^(民法典 has no article .*ends at article 1219|刑法 has no article 268; it ends at article 266)/,
      );
    }
  });

  test("of a list, the articles that a law has are answered, and a warning names those that it cannot have", async () => {
    const ends = "it ends at article 1219.";
    for (const [query, ids, told] of [
      ["民法典第1219-1225条", ["民法典:1219"], `民法典 has no article 1220 to 1225; ${ends}`],
      ["第一千二百一十九条至第一千二百二十条 民法典", ["民法典:1219"], `民法典 has no article 1220; ${ends}`],
      ["民法典第577、1261条", ["民法典:577"], `民法典 has no article 1261; ${ends}`],
      [
        "民法典第1300条、第578条和第1219条之一、第1301条",
        ["民法典:578"],
        `民法典 has no article 1300, 1219-1, 1301; ${ends}`,
      ],
      ["刑法264、300", ["刑法:264"], "刑法 has no article 300; it ends at article 266."],
    ] as const) {
      const answer = await ask("legal_laws", query);
      expect([query, answer.ids]).toEqual([query, ids]);
      expect([query, answer.warnings[0]]).toEqual([query, told]);
      expect([query, answer.notHeld]).toEqual([query, undefined]);
    }
    // Of several laws, an article is missing only where none has it.
    expect((await ask("legal_laws", "民法典和刑法第264、577条")).warnings).toEqual([]);
    const beyond = await ask("legal_laws", "民法典第1261条至第1265条");
    expect(beyond.notHeld).toBe(true);
    expect(beyond.warnings[0]).toBe(`民法典 has no article 1261 to 1265; ${ends}`);
  });

  test("amendments are found by name and by article, however both are written", async () => {
    const names = [
      "刑法修正案（十一）",
      "《刑法修正案(十一)》",
      "刑法修正案十一",
      "刑法修正案11",
      "中华人民共和国刑法修正案（11）",
    ];
    for (const name of names) {
      for (const item of ["第一条", " 第1条", "第十条", "第22条"])
        expect([name, item, (await ask("legal_laws", name + item)).ids.length]).toEqual([name, item, 1]);
      expect([name, (await ask("legal_laws", name)).ids.length]).toEqual([name, 4]);
      expect((await ask("legal_laws", `${name}第三条`)).notHeld).toBe(true);
    }
    const check = createSources({ index, samples: false }).find("legal_citation_check")!;
    const context = { signal: new AbortController().signal, now: new Date("2026-03-01"), sandbox: false };
    const text =
      "依据《刑法修正案（十一）》第一条、刑法修正案十一第二十二条，不依据刑法修正案(十一)第三百条。";
    const checked = await check.run({ text, date: "2026-03-01" }, { page: 1, pageSize: 50 }, context);
    expect((checked.records as { verdict: string }[]).map(({ verdict }) => verdict)).toEqual([
      "exists",
      "exists",
      "no_such_article",
    ]);
    // An article without a law is never the item of an amendment.
    expect((await ask("legal_laws", "第二十二条")).ids).toEqual([]);
  });

  test("a law that ended is named with its successor, whose articles answer the words", async () => {
    for (const [law, words] of [
      ["合同法", " 违约责任"],
      ["物权法", "书面形式"],
      ["侵权责任法", " 医务人员说明病情"],
      ["《担保法》", "承担违约责任"],
      ["民法通则", " 赔偿损失"],
    ] as const) {
      const answer = await ask("legal_laws", law + words);
      expect(answer.ids.length).toBeGreaterThan(0);
      expect(answer.ids.every((id) => id.startsWith("民法典:"))).toBe(true);
      const name = law.replace(/[《》]/g, "");
      expect(answer.warnings[0]).toBe(
        `${name} ended on 2021-01-01; 民法典 replaced it. The articles are those of 民法典.`,
      );
    }
    // No number of an article is mapped without an official table.
    for (const query of [
      "合同法第577条",
      "婚姻法",
      "《继承法》第二条第一款",
      "外资企业法第六条",
      "合同法（1999）第107条",
      "1999年合同法第107条",
    ]) {
      const answer = await ask("legal_laws", query);
      expect(answer).toMatchObject({ outcome: "empty", notHeld: true, ids: [] });
      expect(answer.warnings[0]).toMatch(
        / ended on (2021-01-01; 民法典|2020-01-01; 外商投资法) replaced it[.,]/,
      );
    }
    // It ends on 2026-08-15, after the day of these questions.
    expect((await ask("legal_laws", "环境保护法第六条")).warnings).toEqual([
      "This service does not have the law 环境保护法.",
      expect.stringMatching(/^Held here: /),
    ]);
    const later = await ask("legal_laws", "环境保护法第六条", new Date("2026-08-15T04:00:00Z"));
    expect(later).toMatchObject({ notHeld: true, ids: [] });
    expect(later.warnings[0]).toBe(
      "环境保护法 ended on 2026-08-15; 生态环境法典 replaced it, which this service does not have.",
    );
    // The law that replaced it ended, too.
    const twice = await ask("legal_laws", "经济合同法 违约责任");
    expect(twice.ids[0]).toMatch(/^民法典:57[78]$/);
    expect(twice.warnings.slice(0, 2)).toEqual([
      "经济合同法 ended on 1999-10-01; 合同法 replaced it.",
      "合同法 ended on 2021-01-01; 民法典 replaced it. The articles are those of 民法典.",
    ]);
    // Names that only contain that of a law that ended.
    for (const query of ["劳动合同法 劳动报酬", "合同法律 书面形式"])
      expect((await ask("legal_laws", query)).warnings.join()).not.toContain("ended on");
  });

  test("a source that is not held and that alone would answer is named, and the answer is free", async () => {
    for (const [query, title] of [
      ["上班路上被车撞算工伤吗", "工伤保险条例"],
      ["下班+车祸 是不是 工伤 劳动报酬".replace("+", ""), "工伤保险条例"],
      ["没休的年休假怎么办 经济补偿", "职工带薪年休假条例"],
      ["彩禮能退嗎 合同", "涉彩礼"],
      ["民间借贷的利率上限 有期徒刑", "民间借贷"],
    ] as const) {
      const answer = await ask("legal_laws", query);
      expect([query, answer.notHeld, answer.warnings[0]]).toEqual([
        query,
        true,
        expect.stringMatching(new RegExp(`^Not held here: .*${title}.*; .*The call is free\\.$`)),
      ]);
    }
    const partly = await ask("legal_laws", "人身损害赔偿误工费 赔偿损失");
    expect(partly).toMatchObject({ outcome: "found" });
    expect(partly.notHeld).toBeUndefined();
    expect(partly.warnings[0]).toMatch(/^Not held here: .*人身损害赔偿.*; these articles answer a part\.$/);
    for (const query of [
      "民通意见",
      "民通意见 第168条",
      "劳动争议司法解释一第四十三条",
      "医疗事故处理条例规定的程序",
      "婚姻法解释二第24条",
    ])
      expect([query, await ask("legal_laws", query)]).toMatchObject([
        query,
        { outcome: "empty", notHeld: true },
      ]);
    // Words of a source do not count inside other questions.
    expect((await ask("legal_laws", "盗窃 有期徒刑")).warnings).toEqual([]);
    for (const query of [
      "未成年假释 有期徒刑",
      "合同 订单休业",
      "最低保修期 合同",
      "虚假宣传销售 合同",
      "服务期限高于一年 合同",
    ])
      expect([query, (await ask("legal_laws", query)).warnings.join()]).toEqual([
        query,
        expect.not.stringContaining("Not held here"),
      ]);
  });

  test("a missing article is not replaced by its neighbours", async () => {
    expect(await ask("legal_laws", "民法典 第九百条")).toMatchObject({ outcome: "empty", ids: [] });
  });

  test.each([
    [["勞動合同法  第三十條", "劳动合同法 第三十条", " 劳动合同法30", "Labor Contract Law article 30"], 1],
    [["民法典577", "民法典 第577条", "《民法典》第五百七十七条", "minfadian 577", "民法典五七七条"], 1],
    [["盗窃怎么判", "盗窃 怎么办"], 1],
    [["民法典577", "民法典578", "民法典577-578", "第577条", "民法典 577条 违约"], 4],
    [["工伤保险条例 工伤认定", "旅游法 退款", "未成年保护法第39条", "未成年人保护法第39条"], 4],
    [["2019年刑法264", "1997年刑法264", "刑法264"], 3],
  ])("the cache tells apart of %j: %i", async (queries, different) => {
    const source = createSources({ index, samples: false }).find("legal_laws")!;
    const forms = queries.map((query) => source.normalised?.({ query }, false, new Date()));
    expect(new Set((await Promise.all(forms)).map((form) => JSON.stringify(form))).size).toBe(different);
  });
});

describe("judgments", () => {
  test.each([
    ["偷窃", "theft"],
    ["醉驾", "drunk"],
    ["cause:盗窃", "theft"],
    ["案由:诈骗罪 date:2018", "fraud2018"],
    ["案由:掩饰、隐瞒犯罪所得罪", "receiving"],
    ["杭州 危险驾驶", "drunk"],
    ["法官 王 刚", "theft"],
    ["王 刚", "theft"],
    ["王刚", "theft"],
  ])("%s: %s first", async (query, id) => {
    expect((await ask("legal_cases", query)).ids[0]).toBe(id);
  });

  test("a place, a cause and a year; undated judgments that are left out are counted", async () => {
    const { ids, warnings } = await ask("legal_cases", "上海 诈骗 2019年");
    expect(ids[0]).toBe("fraud");
    expect(ids).not.toContain("drunk");
    expect(ids).not.toContain("fraud2018");
    expect(warnings.join()).toContain("1 record without a date was left out");
  });

  test("a place or a year that no record has only affects the rank, and is named", async () => {
    const place = await ask("legal_cases", "杭州 诈骗");
    expect(place).toMatchObject({ relaxed: true, total: 3 });
    expect(place.warnings.join()).toContain("No record has 杭州");
    const year = await ask("legal_cases", "诈骗 2011年");
    expect(year.ids).toEqual(["fraud-undated"]);
    expect(year.warnings.join()).toContain("No record has 2011年");
    const both = await ask("legal_cases", "上海 诈骗 2011年");
    expect(both.ids).toEqual(["fraud-undated"]);
    expect(both.warnings.join()).not.toContain("上海");
    const elsewhere = await ask("legal_cases", "杭州 诈骗 2019年");
    expect(elsewhere.ids).toEqual(["fraud"]);
    expect(elsewhere.warnings.join()).toContain("No record has 杭州;");
    const nothing = await ask("legal_cases", "杭州 掩饰、隐瞒犯罪所得 2011年");
    expect(nothing.ids).toEqual([]);
    // A filter by name remains a filter.
    expect(await ask("legal_cases", "诈骗 date:2011")).toMatchObject({ outcome: "empty", notHeld: true });
  });

  test("a party is found by the characters of the name", async () => {
    expect((await ask("legal_cases", "被害人丁成相")).ids).toEqual(["receiving"]);
  });

  test("a case number without brackets is found first and alone", async () => {
    const { ids } = await ask("legal_cases", `2019沪0120刑初5${"t".charCodeAt(0)}号`);
    expect(ids).toEqual(["theft"]);
  });
});

describe("journals, papers and scholars", () => {
  test.each([
    ["research_journal_search", "ISSN: 2041-1723", "Nature Communications"],
    ["research_journal_search", "ISSN：2041-1723", "Nature Communications"],
    ["research_journal_search", "nature communication", "Nature Communications"],
    ["research_journal_search", "Natrue", "Nature Communications"],
    ["research_journal_search", "Journal of Test", "Journal of Tests"],
    ["research_paper_search", "arXiv:1908.09104", "Deep cities"],
    ["research_paper_search", "https://arxiv.org/abs/cs/9902021v2", "計算機視覺綜述"],
    ["research_paper_search", "city", "Deep cities"],
    ["research_paper_search", "计算机视觉", "計算機視覺綜述"],
    ["research_paper_search", "計算機視覺", "計算機視覺綜述"],
  ] as const)("%s %s: %s", async (operation, query, title) => {
    expect((await ask(operation, query)).records[0]).toMatchObject(
      operation === "research_journal_search" ? { name: title } : { title },
    );
  });

  test("a typing error is corrected, and the answer says so", async () => {
    const { warnings, relaxed } = await ask("research_journal_search", "Natrue");
    expect(warnings.join()).toContain("nature was searched");
    expect(relaxed).toBe(true);
  });

  test("authors who share a name, and neither an author nor a field, are kept apart", async () => {
    const { records } = await ask("research_scholar_search", "Wei Wang");
    expect(
      records
        .slice(0, 2)
        .map(({ works_count: count }) => count)
        .sort(),
    ).toEqual([1, 2]);
  });
});
