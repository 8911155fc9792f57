import { expect, test } from "vitest";
import { articleOf, foldPacks, inEveryOrder, readPack } from "../../../../../test/law-packs.ts";
import { articleRecord } from "../record.ts";

const now = new Date("2026-06-01T00:00:00Z");

/** A law with the articles 第一条 … 第N条. */
function text(count: number, changed: Readonly<Record<number, string>> = {}): string {
  const numbers = "一二三四五六七八九十";
  return Array.from({ length: count }, (_, at) => {
    const words = changed[at + 1] ?? `本条规定第${numbers[at]}件事情，任何人都应当遵守这一项规定。`;
    return words === "" ? "" : `第${numbers[at]}条 ${words}`;
  })
    .filter((line) => line !== "")
    .join("\n\n");
}

const passed = "2010年5月1日 第十一届全国人民代表大会常务委员会第十四次会议通过";
const inForce = "本法自2010年7月1日起施行。";
const first = {
  category: "经济法",
  title: "中华人民共和国测试法",
  name: "测试法",
  version_date: "2010-05-01",
  revision_history: [passed],
  text: text(10, { 10: inForce }),
};
const second = {
  ...first,
  version_date: "2020-08-01",
  revision_history: [
    passed,
    "2020年8月1日 第十三届全国人民代表大会常务委员会第二十一次会议修订",
    "2021年1月1日 施行",
  ],
  text: text(10, { 2: "第二件事情改由主管部门另行规定，并向社会公布。", 10: inForce }),
};

test.each([
  [{ ...first, category: "案例/民法典", title: "高空坠物由侵权人承担赔偿责任" }, "law_case"],
  [{ ...first, title: "附件一", name: "附件一" }, "law_annex"],
  [{ ...first, title: "第三编　合同", name: "第三编　合同" }, "law_part"],
  [{ ...first, title: "附则", name: "附则" }, "law_part"],
  [{ ...first, title: "修正案", name: "修正案" }, "law_part"],
  [{ ...first, title: "中华人民共和国测试法", name: "合同编" }, "law_part"],
  [{ ...first, title: "劳动仲裁和劳动诉讼的攻略", name: "攻略" }, "law_guide"],
  [{ ...first, title: "民事起诉状格式", name: "格式" }, "law_form"],
  [{ ...first, title: "人体损伤程度鉴定标准", text: "1 范围\n本标准规定了鉴定的方法。" }, "not_a_law"],
  [{ ...first, text: "## 第一章 总则\n\n第一条 为了测试。\n\n第二条 适用范围。" }, "law_cut_off"],
  [{ ...first, text: "2010年5月1日通过" }, "law_without_text"],
  [
    { law_id: "a", law_name: "附则", article_no: "第一条", article_text: "本法自公布之日起施行。" },
    "law_part",
  ],
])("rejects a row that is not a whole law, with the reason: %#", async (row, code) => {
  const { laws, refused } = await readPack("pack", [row]);
  expect(laws).toEqual([]);
  expect(refused).toEqual([{ row: "line 1", code }]);
});

test("combines parts of a law in one folder when they are complete", async () => {
  const folder = "civil/code";
  const rows = [
    {
      path: `${folder}/README.md`,
      domain: "social",
      title: "中华人民共和国分编法",
      text: "# 中华人民共和国分编法\n\n2020年5月28日第十三届全国人民代表大会第三次会议通过",
    },
    {
      path: `${folder}/02.md`,
      domain: "social",
      title: "第二编　分则",
      text: "**第三条**　三。\n\n**第三条之一**　三之一。",
    },
    {
      path: `${folder}/01.md`,
      domain: "social",
      title: "第一编　总则",
      text: "**第一条**　一。\n\n**第二条**　二。",
    },
    {
      path: `${folder}/00.md`,
      domain: "social",
      title: "附则",
      text: "**第四条**　本法自2021年1月1日起施行。",
    },
    { path: `${folder}/09.md`, domain: "social", title: "修正案", text: "**第一条**　第一条增加规定。" },
  ];
  const whole = await readPack("pack", rows);
  expect(whole.refused).toEqual([{ row: "line 5", code: "law_part" }]);
  expect(whole.laws.map(({ facts }) => facts.law_name)).toEqual(["中华人民共和国分编法"]);
  expect(whole.laws[0]?.articles.map(({ articleNo }) => articleNo)).toEqual([
    "第一条",
    "第二条",
    "第三条",
    "第三条之一",
    "第四条",
  ]);
  const gap = await readPack(
    "pack",
    rows.filter((row) => row.title !== "第二编　分则"),
  );
  expect(gap.laws).toEqual([]);
  expect(gap.refused.map(({ code }) => code).sort()).toEqual([
    "law_part",
    "law_part",
    "law_part",
    "law_without_text",
  ]);
});

test("of two versions the newer applies from its own day, and only articles whose words changed are amended", async () => {
  const marks = {
    ...second,
    text: second.text.replaceAll("，", ",").replaceAll("第一件事情", "“第一件”　事情"),
  };
  for (const packs of inEveryOrder([await readPack("a", [first]), await readPack("b", [marks])])) {
    const folded = foldPacks(packs);
    const changes = (id: string) =>
      articleRecord(articleOf(folded, id), now).revisions.map((each) => [each.version_date, each.change]);
    expect(changes("测试法:1")).toEqual([
      ["2010-05-01", "original"],
      ["2020-08-01", "unchanged"],
    ]);
    expect(changes("测试法:2")).toEqual([
      ["2010-05-01", "original"],
      ["2020-08-01", "amended"],
    ]);
    expect(articleRecord(articleOf(folded, "测试法:1"), now).effective_date).toBe("2010-07-01");
    expect(articleRecord(articleOf(folded, "测试法:2"), now).effective_date).toBe("2021-01-01");
    const before = articleRecord(articleOf(folded, "测试法:2"), new Date("2020-12-31T00:00:00Z"));
    expect(before).toMatchObject({ effective_date: "2010-07-01", expired_date: "2021-01-01" });
  }
});

test("adds an inserted article, and keeps those after it under new numbers", async () => {
  const inserted = text(10, { 10: inForce }).split("\n\n");
  inserted.splice(2, 0, "新增的一条全然不同，涉及数据跨境流动与个人同意。");
  const numbers = "一二三四五六七八九十";
  const renumbered = inserted.map(
    (line, at) => `第${at < 10 ? numbers[at] : "十一"}条 ${line.replace(/^第.+?条 /, "")}`,
  );
  const folded = foldPacks([
    await readPack("a", [first]),
    await readPack("b", [{ ...second, text: renumbered.join("\n\n") }]),
  ]);
  const revisions = (id: string) =>
    articleRecord(articleOf(folded, id), now).revisions.map((each) => [each.change, each.former_article_no]);
  expect(revisions("测试法:3")).toEqual([["added", null]]);
  expect(revisions("测试法:4")).toEqual([
    ["original", null],
    ["renumbered", "第三条"],
  ]);
  expect(articleRecord(articleOf(folded, "测试法:4"), now)).toMatchObject({
    effective_date: "2010-07-01",
    status: "unknown",
  });
});

test("holds back and reports a version that omits more than a tenth, in any order, until it is accepted", async () => {
  const cut = { ...second, text: text(10, { 3: "", 4: "", 10: inForce }) };
  const tenth = { ...second, text: text(10, { 3: "", 10: inForce }) };
  const old = await readPack("a", [first]);
  for (const packs of inEveryOrder([old, await readPack("b", [cut])])) {
    const { heldBack, articles } = foldPacks(packs);
    expect(heldBack).toEqual([
      { source: "b", law: "中华人民共和国测试法", versionDate: "2020-08-01", dropped: 2, of: 10 },
    ]);
    expect(articles.map(({ versions }) => versions.length)).toEqual(Array(10).fill(1));
    // A newer text is known, so it is unclear whether the old one is in force.
    expect(articleRecord(articles[0]!, now)).toMatchObject({ status: "unknown" });
  }
  expect(foldPacks([old, await readPack("b", [tenth])]).heldBack).toEqual([]);
  const accepted = foldPacks([old, await readPack("b", [cut], { accepted: true })]);
  expect(accepted.heldBack).toEqual([]);
  expect(articleRecord(articleOf(accepted, "测试法:3"), now)).toMatchObject({ status: "repealed" });
});

test("a version without a date never repeals the others", async () => {
  const undated = {
    ...first,
    version_date: null,
    revision_history: [],
    text: "第一条 只有这一条。\n\n第二条 还有一条。\n\n第三条 末条。",
  };
  const { heldBack, articles } = foldPacks([await readPack("a", [first]), await readPack("b", [undated])]);
  expect(heldBack).toMatchObject([{ versionDate: null, source: "b" }]);
  expect(articles.every(({ versions }) => versions.every(({ content }) => content !== null))).toBe(true);
});

test("amending acts date each article, even if no version between them is in the data", async () => {
  const law = {
    ...first,
    title: "中华人民共和国样罪法",
    name: "样罪法",
    version_date: "2020-12-26",
    revision_history: [
      "1979年7月1日 第五届全国人民代表大会第二次会议通过",
      "1997年3月14日 第八届全国人民代表大会第五次会议修订",
      "2011年2月25日 第十一届全国人民代表大会常务委员会第十九次会议通过的《中华人民共和国样罪法修正案（一）》",
      "2020年12月26日 第十三届全国人民代表大会常务委员会第二十四次会议通过的《中华人民共和国样罪法修正案（二）》",
    ],
    text: `${text(9)}\n\n第九条之一 增加的一条。\n\n第十条 本法自1997年10月1日起施行。`,
  };
  const act = (name: string, date: string, items: string) => ({
    ...first,
    title: `中华人民共和国样罪法${name}`,
    name: `样罪法${name}`,
    version_date: date,
    revision_history: [],
    text: items,
  });
  const acts = [
    act(
      "修正案（一）",
      "2011-02-25",
      "一、在样罪法第九条后增加一条，作为第九条之一：“增加的一条。”\n\n二、本修正案自2011年5月1日起施行。",
    ),
    act(
      "修正案（二）",
      "2020-12-26",
      "一、将样罪法第五条修改为：“本条违反第六条的规定的，依照第七条处罚。”\n\n二、本修正案自2021年3月1日起施行。",
    ),
  ];
  const folded = foldPacks([await readPack("a", [law, ...acts])]);
  const record = (id: string) => articleRecord(articleOf(folded, id), now);
  expect(record("样罪法:1")).toMatchObject({
    effective_date: "1997-10-01",
    revisions: [{ change: "unchanged" }],
  });
  expect(record("样罪法:5")).toMatchObject({
    effective_date: "2021-03-01",
    revisions: [{ change: "amended" }],
  });
  expect(record("样罪法:6").effective_date).toBe("1997-10-01");
  expect(record("样罪法:9-1")).toMatchObject({
    effective_date: "2011-05-01",
    revisions: [
      { version_date: "2011-02-25", change: "added", content: null, by: "样罪法修正案（一）" },
      { version_date: "2020-12-26", change: "unchanged" },
    ],
  });
});

test("a law repealed by another is repealed from that day", async () => {
  const repealing = {
    ...first,
    title: "中华人民共和国新法",
    name: "新法",
    version_date: "2026-01-01",
    revision_history: ["2026年1月1日 第十四届全国人民代表大会第四次会议通过"],
    text: text(3, { 3: "本法自2026年5月1日起施行。《中华人民共和国测试法》同时废止。" }),
  };
  const article = articleOf(foldPacks([await readPack("a", [repealing, first])]), "测试法:1");
  const before = articleRecord(article, new Date("2026-04-30T00:00:00Z"));
  expect(before).toMatchObject({ status: "in_force", expired_date: "2026-05-01" });
  expect(before.status_basis).toMatch(/^in force until 2026-05-01, when 《.+》 repeals it$/);
  expect(before.status_basis_zh).toMatch(/^自 2026-05-01 起被《.+》废止，此前有效$/);
  const after = articleRecord(article, now);
  expect(after).toMatchObject({ status: "repealed", expired_date: "2026-05-01" });
  expect(after.status_basis).toMatch(/^repealed on 2026-05-01 by 《.+》$/);
  expect(after.status_basis_zh).toMatch(/^已于 2026-05-01 被《.+》废止$/);
});

test("a catalogue that denies a law without evidence is quoted, and the status is unknown", async () => {
  const entry = {
    law_id: "x",
    law_name: "中华人民共和国测试法",
    version_date: "2010-05-01",
    publish_date: "2010-05-01",
    effective_date: "2010-07-01",
  };
  const law = await readPack("a", [first]);
  const statusWith = async (...rows: object[]) => {
    const packs = [law, ...(rows.length === 0 ? [] : [await readPack("catalogue", rows)])];
    return articleRecord(articleOf(foldPacks(packs), "测试法:1"), now).status;
  };
  expect(await statusWith()).toBe("unknown");
  expect(await statusWith({ ...entry, status: "现行有效" })).toBe("in_force");
  expect(await statusWith({ ...entry, status: "已废止" })).toBe("unknown");
  expect(await statusWith({ ...entry, status: "已被修改" })).toBe("unknown");
  // The catalogue knows a newer version whose text is not in the data.
  const newer = { ...entry, law_id: "y", version_date: "2024-05-01", status: "现行有效" };
  expect(await statusWith({ ...entry, status: "历史版本" }, newer)).toBe("unknown");
});

test("packs give the same result in any order, once or twice", async () => {
  const rows = second.text.split("\n\n").map((line) => {
    const [articleNo = "", ...words] = line.split(" ");
    return { law_id: "t20", law_name: second.title, article_no: articleNo, article_text: words.join(" ") };
  });
  const catalogue = {
    law_id: "t20",
    law_name: second.title,
    version_date: "2020-08-01",
    publish_date: "2020-08-01",
    effective_date: "2010-07-01",
    status: "现行有效",
    level: "法律",
  };
  const current = {
    path: "social/test-law/README.md",
    domain: "social",
    title: second.title,
    text: `# ${second.title}\n\n2010年5月1日第十一届全国人民代表大会常务委员会第十四次会议通过\n\n2020年8月1日第十三届全国人民代表大会常务委员会第二十一次会议修订\n\n${second.text}`,
  };
  const packs = await Promise.all([
    readPack("articles", rows),
    readPack("catalogue", [catalogue]),
    readPack("current", [current, { ...current, path: "x/y.md", title: "附则", text: "第十一条 附则。" }]),
    readPack("versions", [first, second, { ...first, version_date: "2015-01-01", text: text(4) }]),
  ]);
  const expected = foldPacks(packs);
  expect(expected.articles).toHaveLength(10);
  expect(expected.heldBack).toHaveLength(1);
  for (const order of inEveryOrder(packs)) {
    expect(foldPacks(order)).toEqual(expected);
    // Imports the same packs twice.
    expect(foldPacks([...order, ...order])).toEqual({ ...expected, heldBack: expected.heldBack });
  }
});
