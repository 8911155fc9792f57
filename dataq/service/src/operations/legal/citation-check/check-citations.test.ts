import { expect, test } from "vitest";
import { HeldArticles } from "../../../../test/held-articles.ts";
import { Random } from "../../../sample/random.ts";
import type { ArticleVersion, StoredArticle } from "../laws/corpus.ts";
import { lawKey, readArticleNumber } from "../question/law-reference.ts";
import { checkCitations } from "./check-citations.ts";
import { agrees, differences, wordsOf } from "./compare.ts";
import { findCitations } from "./find-citations.ts";
import { LawRegister } from "./law-register.ts";
import { PlainText } from "./plain-text.ts";

const source = {
  name: "test",
  kind: "third_party" as const,
  url: "https://example.org/law",
  retrieved_at: "2026-01-01T08:00:00+08:00",
  content_sha256: "",
};

/** An article with its versions: date of the version, first day, words. */
function article(
  law: string,
  number: string,
  versions: readonly (readonly [passed: string, effective: string, content: string | null])[],
  facts: Partial<StoredArticle> = {},
): StoredArticle {
  return {
    id: `${lawKey(law)}:${number}`,
    law_name: law,
    article_no: number,
    article: readArticleNumber(number) ?? null,
    versions: versions.map(
      ([passed, effective, content], place): ArticleVersion => ({
        law_id: `${law}@${passed}`,
        law_name: law,
        level_text: "法律",
        issuing_body: null,
        promulgated_date: passed,
        effective_date: effective,
        version_date: passed,
        status_text: "现行有效",
        department: null,
        chapter: null,
        section: null,
        content,
        since: effective,
        change:
          content === null ? "repealed" : place === 0 ? (facts.newer ? "unknown" : "original") : "amended",
        source,
      }),
    ),
    ...facts,
  };
}

/** The newest version had another number before. */
function renumbered(stored: StoredArticle, former: string): StoredArticle {
  const versions = stored.versions.map((version, place) =>
    place === stored.versions.length - 1 ? { ...version, former_no: former } : version,
  );
  return { ...stored, versions };
}

const code = "中华人民共和国民法典";
const company = "中华人民共和国公司法";
const civil = (number: string, content: string) =>
  article(code, number, [["2020-05-28", "2021-01-01", content]]);
const breach =
  "当事人一方不履行合同义务或者履行合同义务不符合约定的，应当承担继续履行、采取补救措施或者赔偿损失等违约责任。";
const damages =
  "当事人一方不履行合同义务或者履行合同义务不符合约定，造成对方损失的，损失赔偿额应当相当于因违约所造成的损失，包括合同履行后可以获得的利益；但是，不得超过违约一方订立合同时预见到或者应当预见到的因违约可能造成的损失。";
const notice = "出卖人应当在三十日以内书面通知买受人，并且承担由此产生的全部费用。";
const repeals = "本法自2021年1月1日起施行。《中华人民共和国婚姻法》、《网络诚信促进法》同时废止。";
const held = new HeldArticles(
  [
    civil("第一千二百六十条", repeals),
    civil(
      "第五百六十三条",
      "有下列情形之一的，当事人可以解除合同：\n（一）因不可抗力致使不能实现合同目的；\n（二）在履行期限届满前，当事人一方明确表示不履行主要债务。\n以持续履行的债务为内容的不定期合同，当事人可以随时解除合同。",
    ),
    civil("第五百七十七条", breach),
    civil("第五百八十四条", damages),
    civil("第五百九十七条", notice),
    civil(
      "第五百九十六条",
      "买卖合同的内容一般包括标的物、数量、质量和价款，并且适用本法第五百六十三条的规定。",
    ),
    article(company, "第二十条", [
      ["2018-10-26", "2018-10-26", "公司股东应当遵守法律、行政法规和公司章程，依法行使股东权利。"],
      ["2023-12-29", "2024-07-01", "公司从事经营活动，应当充分考虑公司职工、消费者等利益相关者的利益。"],
    ]),
    renumbered(
      article(company, "第二十一条", [
        ["2018-10-26", "2018-10-26", "公司的控股股东不得利用其关联关系损害公司利益。"],
        [
          "2023-12-29",
          "2024-07-01",
          "公司股东应当遵守法律、行政法规和公司章程，依法行使股东权利，不得滥用。",
        ],
      ]),
      "第二十条",
    ),
    article(company, "第二十二条", [
      ["2018-10-26", "2018-10-26", "决议内容违反法律的无效。"],
      ["2023-12-29", "2024-07-01", null],
    ]),
    article("中华人民共和国旧税法", "第一条", [["2000-01-01", "2000-03-01", "为了规范旧税，制定本法。"]], {
      repealed: { date: "2020-01-01", by: "中华人民共和国新税法" },
    }),
    article("中华人民共和国新税法", "第一条", [["2025-12-01", "2027-01-01", "为了规范新税，制定本法。"]]),
  ],
  new Map([
    [
      "(2019)沪01刑终123号",
      { id: "1", title: "判决", court_name: "上海市第一中级人民法院", judgment_date: "2019-05-01", source },
    ],
  ]),
);
const register = new LawRegister(held.names);

async function check(text: string, date = "2026-11-22") {
  const plain = new PlainText(text);
  const citations = findCitations(plain, register);
  const now = new Date("2026-11-22T04:00:00Z");
  return checkCitations({ plain, citations, register, held, date, now });
}

test("an article that exists is given with its text, its place and its source", async () => {
  const text = "😀依据《民法典》第五百七十七条，";
  const [found, ...others] = await check(text);
  expect(others).toEqual([]);
  expect(found).toMatchObject({
    id: "1",
    kind: "article",
    cited: "《民法典》第五百七十七条",
    law_as_written: "民法典",
    law_name: code,
    article_no: "第五百七十七条",
    verdict: "exists",
    problems: [],
    in_force: true,
    status: "in_force",
    effective_date: "2021-01-01",
    content: breach,
    source,
  });
  const { start = 0, end = 0, start_utf16: from = 0, end_utf16: to = 0, cited } = found ?? {};
  expect([...text].slice(start, end).join("")).toBe(cited);
  expect(text.slice(from, to)).toBe(cited);
  expect(from).toBe(start + 1);
});

test.each([
  ["民法典第五百七十八条", "no_such_article", "第五百七十七条"],
  ["民法典第577条第二款", "no_such_paragraph", undefined],
  ["民法典第563条第一款第（三）项", "no_such_item", undefined],
  ["民法典第563条第二款第（一）项", "no_such_item", undefined],
  ["《公司发》第二十条、《公司法人法》第一条", "unknown_law", undefined],
])("%s: %s", async (text, verdict, nearest) => {
  const found = (await check(text)).at(-1);
  expect(found).toMatchObject({ verdict, problems: [verdict] });
  if (nearest !== undefined) expect(found?.nearest).toMatchObject({ law_name: code, article_no: nearest });
});

test.each(["民法典第563条第一款第（二）项", "民法典第563条第(二)项", "民法典第563条第二款"])(
  "%s has no problem",
  async (text) => {
    expect(await check(text)).toMatchObject([{ verdict: "exists", problems: [] }]);
  },
);

test("a law that is not in the data is never said not to exist", async () => {
  const [marriage, interpretation, local, injury] = await check(
    "《婚姻法》第三十二条、《公司法》司法解释（三）第三条、《上海市房屋租赁条例》第一条、《工伤保险条例》第14条",
  );
  expect(marriage).toMatchObject({
    verdict: "not_held",
    in_force: false,
    status: "repealed",
    expired_date: "2021-01-01",
    replaced_by: "民法典",
    problems: ["not_in_force"],
  });
  for (const other of [interpretation, local, injury])
    expect(other).toMatchObject({ verdict: "not_held", problems: [], in_force: null });
  expect(await check("《婚姻法》第三十二条", "2019-01-01")).toMatchObject([{ problems: [] }]);
});

test("an invented law is unknown, with the nearest real name", async () => {
  expect(await check("《网络诚信促进法》第十二条")).toMatchObject([
    { verdict: "unknown_law", nearest: null },
  ]);
  expect(await check("被告违反了网络诚信促进法第十二条")).toMatchObject([
    { verdict: "unknown_law", law_name: "网络诚信促进法", cited: "网络诚信促进法第十二条" },
  ]);
  expect(await check("《未成年保护法》第39条")).toMatchObject([{ nearest: { law_name: "未成年人保护法" } }]);
});

test("a repealed or unknown law in the right words of an article is no mistake of who quotes them", async () => {
  const quoted = async (words: string) =>
    (await check(`《民法典》第一千二百六十条规定：“${words}”据此适用《婚姻法》第三十二条。`)).map(
      ({ problems }) => problems,
    );
  expect(await quoted(repeals)).toEqual([[], [], [], ["not_in_force"]]);
  expect(await quoted(repeals.slice(repeals.indexOf("《")))).toEqual([[], [], [], ["not_in_force"]]);
  expect(await quoted(repeals.replace("同时废止", "继续有效"))).toEqual([
    ["quotation_differs"],
    ["not_in_force"],
    ["unknown_law"],
    ["not_in_force"],
  ]);
});

test("a whole law that was repealed is told with its day and its successor, and before that day with neither", async () => {
  const whole = (date?: string) => check("依照《旧税法》的规定", date);
  expect(await whole()).toMatchObject([
    {
      ...{ verdict: "exists", status: "repealed", in_force: false },
      ...{ expired_date: "2020-01-01", replaced_by: "中华人民共和国新税法" },
    },
  ]);
  expect(await whole("2019-12-31")).toMatchObject([
    { verdict: "exists", in_force: true, expired_date: null, replaced_by: null },
  ]);
});

test("the date decides which version applies and whether it is in force", async () => {
  const on = async (date: string, text = "公司法第二十条") => (await check(text, date))[0];
  expect(await on("2020-01-01")).toMatchObject({ in_force: true, version_date: "2018-10-26" });
  expect(await on("2024-06-30")).toMatchObject({ version_date: "2018-10-26" });
  expect(await on("2024-07-01")).toMatchObject({ in_force: true, version_date: "2023-12-29" });
  expect(await on("2025-01-01", "公司法第二十二条")).toMatchObject({
    verdict: "exists",
    in_force: false,
    status: "repealed",
    problems: ["not_in_force"],
  });
  expect(await on("2026-11-22", "公司法（2018修正）第二十条")).toMatchObject({
    as_of: "2018修正",
    in_force: false,
    version_date: "2018-10-26",
  });
  expect(await on("2026-11-22", "公司法（2013修正）第二十条")).toMatchObject({ verdict: "version_not_held" });
  expect(await on("2019-12-31", "旧税法第一条")).toMatchObject({ in_force: true });
  expect(await on("2020-01-01", "旧税法第一条")).toMatchObject({
    in_force: false,
    replaced_by: "中华人民共和国新税法",
  });
  expect(await on("2026-11-22", "新税法第一条")).toMatchObject({
    in_force: false,
    status: "not_yet_effective",
    effective_date: "2027-01-01",
  });
  expect(await on("2027-01-01", "新税法第一条")).toMatchObject({ in_force: true });
});

const quoted = (words: string) => `《民法典》第五百七十七条规定：“${words}”`;

test.each([
  ["the whole article", quoted(breach)],
  ["a part of it", quoted("应当承担继续履行、采取补救措施或者赔偿损失等违约责任")],
  [
    "omitted words",
    quoted("当事人一方不履行合同义务……应当承担继续履行、采取补救措施或者赔偿损失等违约责任。"),
  ],
  ["other punctuation, half width and line breaks", quoted(breach.replace(/、/g, ",\n").replace("。", "."))],
  [
    "traditional characters",
    "《民法典》第577條規定：「當事人一方不履行合同義務或者履行合同義務不符合約定的，應當承擔繼續履行」",
  ],
  ["the number in the quotation", quoted(`第五百七十七条　${breach}`)],
  ["straight quotation marks", `民法典第577条: "${breach}"`],
  ["the citation after it", `“${breach}”（《民法典》第577条）`],
  ["no quotation marks", `第一，《民法典》第五百七十七条规定：${breach}本案被告没有履行。`],
])("a quotation with %s agrees", async (_, text) => {
  const [found] = await check(text);
  expect(found).toMatchObject({ problems: [], quotations: [{ agrees: true, differences: [] }] });
});

test.each([
  ["不得超过百分之二十五。", "不得超过百分之二十", false],
  ["应当在二十五日内答复。", "五日内答复", false],
  ["应当在二十五日内答复。", "25日内答复", true],
  ["税率为25％。", "税率为20%", false],
  ["（三）十日内答复的；", "十日内答复", true],
  ["自行为发生之日起五年内，统一一致执行。", "一致执行", true],
])("in %s the words %s do not end inside a number: %s", (content, quotation, expected) => {
  expect(agrees(quotation, wordsOf(content))).toBe(expected);
});

test("changed words are named, and only these", async () => {
  const [found] = await check(quoted(breach.replace("或者赔偿损失等违约责任", "并且赔偿全部损失等违约责任")));
  expect(found?.problems).toEqual(["quotation_differs"]);
  const changes = found?.quotations[0]?.differences.filter(({ kind }) => kind !== "same");
  expect(
    changes
      ?.filter(({ kind }) => kind === "missing")
      .map(({ text }) => text)
      .join(""),
  ).toBe("或者");
  expect(
    changes
      ?.filter(({ kind }) => kind === "added")
      .map(({ text }) => text)
      .join(""),
  ).toBe("并且全部");
});

/** Differences as [words of the quotation|words of the article]. */
function marked(pieces: readonly { kind: string; text: string }[]): string {
  return pieces
    .map(({ kind, text }) => (kind === "same" ? text : kind === "added" ? `[+${text}]` : `[-${text}]`))
    .join("");
}

test.each([
  [
    "经济补偿按劳动者在本单位工作的年限，每满一年支付一个月工资的标准向劳动者支付。六个月以上不满一年的，按一年计算；不满六个月的，向劳动者支付半个月工资的经济补偿。",
    "经济补偿按劳动者在本单位工作的年限，每满一年支付半个月工资的标准向劳动者支付。",
    "经济补偿按劳动者在本单位工作的年限，每满一年支付[-一][+半]个月工资的标准向劳动者支付",
  ],
  [
    "劳动者提前三十日以书面形式通知用人单位，可以解除劳动合同。劳动者在试用期内提前三日通知用人单位，可以解除劳动合同。",
    "劳动者在试用期内提前十五日通知用人单位，可以解除劳动合同。",
    "劳动者在试用期内提前[-三][+十五]日通知用人单位，可以解除劳动合同",
  ],
  [
    "申请人应当在三十日内向人民法院提出，人民法院应当在十五日内作出裁定。",
    "申请人可以在十五日内向人民法院提出，人民法院应当在十五日内作出裁定。",
    "申请人[-应当在三十][+可以在十五]日内向人民法院提出，人民法院应当在十五日内作出裁定",
  ],
  [
    "公司应当设立股东会，由全体股东组成。公司应当设立董事会，由全体董事组成。",
    "公司应当设立董事会，由全部董事组成。",
    "公司应当设立董事会，由全[-体][+部]董事组成",
  ],
  [
    "股东可以要求查阅公司会计账簿。公司有合理根据认为有不正当目的的，可以拒绝提供查阅，并应当说明理由。",
    "股东可以要求查阅公司会计账簿……可以拒绝提供查阅，并必须说明理由。",
    "股东可以要求查阅公司会计账簿……可以拒绝提供查阅，并[-应当][+必须]说明理由",
  ],
  [
    "定金的数额由当事人约定；但是，不得超过主合同标的额的百分之二十，超过部分不产生定金的效力。",
    "定金的数额由当事人约定；但是，不得超过主合同标的额的百分之三十。",
    "定金的数额由当事人约定；但是，不得超过主合同标的额的百分之[-二][+三]十",
  ],
  [
    "劳动争议申请仲裁的时效期间为一年。仲裁时效期间从当事人知道之日起计算。",
    "劳动争议申请仲裁的时效期间为六个月。",
    "劳动争议申请仲裁的时效期间为[-一年][+六个月]",
  ],
  [
    "申请执行的期间为二年。申请执行时效的中止、中断，适用法律有关规定。",
    "申请强制执行时效的中止、中断，适用法律有关规定。",
    "申请[+强制]执行时效的中止、中断，适用法律有关规定",
  ],
  [
    "公司解散的，应当清算。董事为公司清算义务人，应当在解散事由出现之日起十五日内组成清算组。",
    "股东为公司清算义务人，应当在解散事由出现之日起十五日内组成清算组。",
    "[-董事][+股东]为公司清算义务人，应当在解散事由出现之日起十五日内组成清算组",
  ],
  [
    "依法成立的合同，自成立时生效，但是法律另有规定的除外。",
    "依法成立的合同，自成立时生效，当即履行完毕。",
    "依法成立的合同，自成立时生效[-但是法律另有规定的除外][+当即履行完毕]",
  ],
  // Where the quotation begins or ends, the article goes on.
  [
    "出卖人应当在三十日以内书面通知买受人，并且承担全部费用。",
    "应当在三十日以内口头通知买受人，并且承担全部费用",
    "应当在三十日以内[-书面][+口头]通知买受人，并且承担全部费用",
  ],
  [
    "出卖人应当在三十日以内书面通知买受人，并且承担由此产生的全部费用。",
    "出卖人应当在六十日以内书面通知",
    "出卖人应当在[-三][+六]十日以内书面通知",
  ],
  [
    "承租人应当支付租金，并赔偿出租人的损失。未经同意转租的，承租人应当支付租金，并赔偿出租人的损失，返还租赁物。",
    "承租人应当支付租金，返还租赁物。",
    "承租人应当支付租金[-并赔偿出租人的损失]返还租赁物",
  ],
  // An ellipsis stands for the words after a change.
  [
    "出租人应当按照约定将租赁物交付承租人，并在租赁期限内保持租赁物符合约定的用途。",
    "出租人应当按照约定把该租赁物……保持租赁物符合约定的用途。",
    "出租人应当按照约定[-将][+把该]租赁物……保持租赁物符合约定的用途",
  ],
  // A number in digits is one piece, as is a character of two units.
  [
    "出卖人应当在三十日以内书面通知买受人。",
    "出卖人应当在60",
    "出卖人应当在[-三十日以内书面通知买受人][+60]",
  ],
  [
    "出卖人应当在通知后三日内交付全部标的物。",
    "出卖人应当在通知后150日内交付全部标的物。",
    "出卖人应当在通知后[-三][+150]日内交付全部标的物",
  ],
  [
    "出卖人应当在通知后20日内交付全部标的物。",
    "出卖人应当在通知后150日内交付全部标的物。",
    "出卖人应当在通知后[-20][+150]日内交付全部标的物",
  ],
  [
    "出卖人应当在通知后三十日内交付全部标的物。",
    "出卖人应当在通知后３５日内交付全部标的物。",
    "出卖人应当在通知后[-三十][+３５]日内交付全部标的物",
  ],
  ["法律援助热线为12348。", "法律援助热线为12345", "法律援助热线为[-12348][+12345]"],
  ["公司注册资本为12345678元。", "公司注册资本为92345670元。", "公司注册资本为[-12345678][+92345670]元"],
  [
    "出卖人应当书面通知买受人，并且承担全部费用。",
    "出卖人应当书面通知买受人𠮷并且承担全部费用。",
    "出卖人应当书面通知买受人[+𠮷]并且承担全部费用",
  ],
])("a change is shown at its place: %s, %s", (content, quotation, shown) => {
  const { pieces } = differences(wordsOf(quotation), wordsOf(content), { cells: 1_000_000 });
  expect(marked(pieces)).toBe(shown);
});

test("the words of the quotation and of the article can be read from their differences", () => {
  const random = new Random("differences");
  const word = (length: number) =>
    Array.from({ length }, () => random.pick([..."甲乙丙丁一二三年月日"])).join("");
  for (let round = 0; round < 300; round++) {
    const content = word(random.whole(5, 60));
    const at = random.whole(0, content.length);
    const more = word(random.whole(0, 4));
    const quotation = content.slice(0, at) + more + content.slice(at + random.whole(0, 4));
    const { pieces } = differences(wordsOf(quotation), wordsOf(content), { cells: 1_000_000 });
    const of = (...kinds: string[]) =>
      pieces.flatMap(({ kind, text }) => (kinds.includes(kind) ? text : [])).join("");
    expect(of("same", "added")).toBe(quotation);
    expect(content).toContain(of("same", "missing"));
  }
});

test("an article that does not exist has no state, and one of a repealed law is repealed", async () => {
  const nothing = { in_force: null, status: null, status_text: null, effective_date: null };
  expect(await check("民法典第一千九百条")).toMatchObject([{ verdict: "no_such_article", ...nothing }]);
  expect(await check("旧税法第九条")).toMatchObject([
    { verdict: "no_such_article", in_force: false, status: "repealed" },
  ]);
});

test("a quotation of another article, paragraph or version says where it is from", async () => {
  const of584 = damages.slice(0, 60);
  expect((await check(quoted(of584)))[0]?.quotations).toMatchObject([
    { agrees: false, found_in: { law_name: code, article_no: "第五百八十四条" } },
  ]);
  expect((await check(`《民法典》第五百八十三条规定：“${of584}”`))[0]).toMatchObject({
    verdict: "no_such_article",
    nearest: { article_no: "第五百八十四条" },
  });
  const permanent = "以持续履行的债务为内容的不定期合同，当事人可以随时解除合同";
  expect((await check(`《民法典》第563条第一款规定：“${permanent}。”`))[0]?.quotations).toMatchObject([
    { agrees: false, found_in: { article_no: "第五百六十三条", paragraph: 2 } },
  ]);
  expect(
    (await check("《公司法》第二十条规定：“公司股东应当遵守法律、行政法规和公司章程”。"))[0]?.quotations,
  ).toMatchObject([{ agrees: false, agrees_with_version: "2018-10-26" }]);
  // Nothing says that it is quoted, but it is a sentence of another article.
  expect((await check(`根据《民法典》第五百六十三条，“${of584}”，故应赔偿。`))[0]?.quotations).toMatchObject([
    { agrees: false, found_in: { article_no: "第五百八十四条" } },
  ]);
  expect((await check("根据《民法典》第五百六十三条，“不可抗力”是解除的理由。"))[0]?.problems).toEqual([]);
});

test.each([
  [
    "other words at the start of a line",
    "民法典第597条要求出卖人书面通知买受人并且承担由此产生的全部费用。",
    [],
  ],
  ["a number in digits", "民法典第597条规定：“出卖人应当在30日以内书面通知买受人”。", []],
  [
    "another number in digits",
    "民法典第597条规定：“出卖人应当在15日以内书面通知买受人”。",
    ["quotation_differs"],
  ],
  [
    "another number without quotation marks",
    "民法典第597条规定出卖人应当在十日以内书面通知买受人，并且承担由此产生的全部费用。",
    ["quotation_differs"],
  ],
  ["a heading with other words", `民法典第597条　${notice.replace("全部", "部分")}`, ["quotation_differs"]],
])("%s: told as a difference or not", async (_, text, problems) => {
  expect(await check(text)).toMatchObject([{ problems }]);
});

test.each([
  "《民法典》第577条规定的“违约金条款”并不适用",
  "《民法典》第577条所称“不履行”，是指……。原告称：“我已经按照合同的约定履行了全部义务，被告没有付款。”",
  "依照《民法典》第577条，判决如下：一、被告于本判决生效之日起十日内支付货款。",
])("words beside a citation that do not quote it are no quotation: %s", async (text) => {
  expect((await check(text))[0]).toMatchObject({ problems: [] });
});

test.each([
  ["old", "依据公司法第20条，公司股东应当遵守法律、行政法规和公司章程，依法行使股东权利。", "第二十一条"],
  [
    "old, before the citation",
    "公司股东应当遵守法律、行政法规和公司章程（《公司法》第二十条）。",
    "第二十一条",
  ],
  ["wrong", `根据民法典第563条，${damages.slice(0, 60)}。`, "第五百八十四条"],
  ["none", `根据民法典第1300条，${damages.slice(0, 60)}。`, "第五百八十四条"],
])("a sentence with the words of another article names it: %s number", async (_, text, expected) => {
  const [found] = await check(text);
  expect(found?.problems).toContain("fits_other_article");
  expect(found?.fits_article).toMatchObject({ article_no: expected });
});

test.each([
  ["its own article", `依据民法典第577条，${breach}`],
  [
    "its own version",
    "依据公司法（2018修正）第20条，公司股东应当遵守法律、行政法规和公司章程，依法行使股东权利。",
  ],
  ["other words", "依据公司法第20条，公司应当关心职工和消费者，并且承担社会责任。"],
  [
    "facts that an article names",
    "被告没有履行合同义务，应当承担赔偿损失等违约责任，其辩称不能成立，依照民法典第563条处理。",
  ],
  ["two citations", `依据民法典第563条和公司法第20条，${breach}`],
  [
    "a reference of another article",
    "买卖合同的内容一般包括标的物、数量、质量和价款，并且适用民法典第563条的规定。",
  ],
  ["a few words", "依据公司法第20条，股东应当遵守法律。"],
])("a sentence with %s does not", async (_, text) => {
  for (const { fits_article: fits, problems } of await check(text)) {
    expect(fits).toBeNull();
    expect(problems).not.toContain("fits_other_article");
  }
});

test("old numbering was right at its time", async () => {
  const text = "依据公司法第20条，公司股东应当遵守法律、行政法规和公司章程，依法行使股东权利。";
  expect(await check(text, "2020-01-01")).toMatchObject([{ problems: [], fits_article: null }]);
});

test("a case number is compared with the judgments held", async () => {
  expect(await check("参见（2019）沪01刑终123号判决、（2020）京01民终9号")).toMatchObject([
    { kind: "case", case_no: "(2019)沪01刑终123号", verdict: "exists", judgment: { id: "1" }, source },
    { kind: "case", verdict: "not_held", problems: [], judgment: null },
  ]);
});

test("a law that was taken out of the data since its name was read is not held", async () => {
  const plain = new PlainText("公司法第二十条");
  const citations = findCitations(plain, register);
  const none = new HeldArticles([]);
  const now = new Date("2026-11-22T04:00:00Z");
  const records = await checkCitations({ plain, citations, register, held: none, date: "2026-11-22", now });
  expect(records).toMatchObject([{ verdict: "not_held", in_force: null, problems: [] }]);
});

test("a text without citations has no records", async () => {
  for (const text of [
    "",
    "  ",
    "你好，请问离婚怎么办？",
    "合同第五条约定：“违约金为三万元。”",
    "第一条 租赁物",
  ])
    expect(await check(text)).toEqual([]);
});

/** Laws with every kind of history, in few words. */
const rent = "出租人应当按照约定将租赁物交付承租人，并在租赁期限内保持租赁物符合约定的用途。";
const repairs = "承租人在租赁物需要维修时可以请求出租人在合理期限内维修，出租人不得拒绝。";
const deposits = "出租人收取的押金不得超过两个月租金，并应当在租赁期限届满后十日内退还承租人。";
const sublets = "承租人经出租人同意，可以将租赁物转租给第三人。";
const renewals = "出租人应当在租赁期限届满前三个月告知承租人是否续租该房屋。";
const filings = "订立租赁合同的双方应当向房屋所在地的房产管理部门办理备案手续。";
const histories = new HeldArticles([
  article("中华人民共和国租赁法", "第一条", [["2010-01-01", "2010-03-01", "为了规范租赁，制定本法。"]]),
  article("中华人民共和国租赁法", "第二条", [["2010-01-01", "2010-03-01", rent]]),
  article("中华人民共和国租赁法", "第二条之一", [
    ["2010-01-01", "2010-03-01", null],
    ["2020-01-01", "2020-03-01", repairs],
  ]),
  article("中华人民共和国租赁法", "第四条", [
    ["2010-01-01", "2010-03-01", deposits.replace("两个月", "三个月")],
    ["2020-01-01", "2020-03-01", deposits],
  ]),
  article("中华人民共和国租赁法", "第九条", [
    [
      "2010-01-01",
      "2010-03-01",
      `${sublets}\n有下列情形之一的，出租人可以解除合同：\n（一）承租人擅自转租；\n（二）承租人不支付租金。`,
    ],
  ]),
  article("中华人民共和国租赁法", "第五十条", [
    ["2010-01-01", "2010-03-01", renewals],
    ["2020-01-01", "2020-03-01", "承租人享有以同等条件优先承租的权利，但是应当在合理期限内行使。"],
  ]),
  article("中华人民共和国租赁法", "第五十一条", [
    [
      "2010-01-01",
      "2010-03-01",
      "出租人不得在租赁期限内提高租金，但是有下列情形之一的除外：\n（一）双方另有约定的；\n（二）出租人对租赁物进行改善的。",
    ],
  ]),
  // Of two that say the same, the first of the law is not the first that a search finds.
  article("中华人民共和国租赁法", "第六十一条", [["2010-01-01", "2010-03-01", filings]]),
  article("中华人民共和国租赁法", "第六十条", [["2010-01-01", "2010-03-01", filings]]),
  article(
    "中华人民共和国仓储法",
    "第一条",
    [
      ["2005-01-01", "2005-03-01", "仓库应当妥善保管货物。"],
      ["2015-01-01", "2015-03-01", "仓库应当妥善保管货物，并接受检查。"],
    ],
    { newer: "2024-05-01" },
  ),
  article(
    "中华人民共和国仓储法",
    "第九条",
    [["2005-01-01", "2005-03-01", "存货人或者仓单持有人可以随时提取仓储物，但是应当给予必要的准备时间。"]],
    { newer: "2024-05-01" },
  ),
  {
    ...article("中华人民共和国条款法", "序言", [["2010-01-01", "2010-03-01", "本法没有条号。"]]),
    article: null,
  },
  article("中华人民共和国租赁登记法", "第九条", [
    [
      "2010-01-01",
      "2010-03-01",
      "登记机关应当自收到申请之日起五个工作日内办理租赁登记，并颁发租赁登记证书。",
    ],
  ]),
  // Words of two articles, of which one refers to the article between them.
  article("中华人民共和国寄存法", "第三条", [
    ["2010-01-01", "2010-03-01", "寄存人应当在领取寄存物时当面清点，并且交还寄存凭证。"],
  ]),
  article("中华人民共和国寄存法", "第四条", [["2010-01-01", "2010-03-01", "寄存合同自寄存物交付时成立。"]]),
  article("中华人民共和国寄存法", "第五条", [
    [
      "2010-01-01",
      "2010-03-01",
      "依照本法第四条的规定，寄存人应当在领取寄存物时当面清点，并且交还寄存凭证。",
    ],
  ]),
  article("中华人民共和国租约法", "第九条", [
    ["2010-01-01", "2010-03-01", "租约应当采用书面形式订立，并载明租金的数额、支付期限和方式。"],
  ]),
]);
const historyRegister = new LawRegister(histories.names);

/** What is told of a citation, in a line: the verdict, its state, what is wrong, and what its words fit. */
async function told(text: string, date = "2026-11-22"): Promise<string[]> {
  const plain = new PlainText(text);
  const citations = findCitations(plain, historyRegister);
  const now = new Date("2026-11-22T04:00:00Z");
  const records = await checkCitations({
    plain,
    citations,
    register: historyRegister,
    held: histories,
    date,
    now,
  });
  return records.map((one) => {
    const state = [
      one.status,
      one.in_force,
      one.status_text,
      one.effective_date,
      one.expired_date,
      one.version_date,
    ];
    const place = [one.article_no, one.paragraph, one.item].filter((each) => each !== null).join("/");
    const quotations = one.quotations.map(
      (each) =>
        `${each.marked ? "“" : ""}${each.text}${each.agrees === null ? " ?" : each.agrees ? " =" : " ≠"}${each.agrees_with_version === null ? "" : ` @${each.agrees_with_version}`}${each.found_in === null ? "" : ` in ${each.found_in.article_no}/${each.found_in.paragraph}`}`,
    );
    return [
      `${one.cited}: ${one.law_name} ${place} ${one.verdict}`,
      state.map((each) => each ?? "–").join(" "),
      one.problems.join(),
      one.nearest === null ? "" : `near ${one.nearest.law_name} ${one.nearest.article_no}`,
      one.fits_article === null ? "" : `fits ${one.fits_article.law_name} ${one.fits_article.article_no}`,
      ...quotations,
    ]
      .filter((each) => each !== "")
      .join(" | ")
      .replaceAll("中华人民共和国", "");
  });
}

/** In the texts, capital letters stand for the words of articles. */
const verdicts: readonly (readonly [text: string, date: string, told: readonly string[]])[] = [
  [
    "租赁法第一条",
    "",
    ["租赁法第一条: 租赁法 第一条 exists | in_force true 现行有效 2010-03-01 – 2010-01-01"],
  ],
  [
    "租赁法第一条",
    "2010-02-28",
    [
      "租赁法第一条: 租赁法 第一条 exists | not_yet_effective false 尚未施行 2010-03-01 – 2010-01-01 | not_in_force",
    ],
  ],
  [
    "租赁法第一条",
    "2010-03-01",
    ["租赁法第一条: 租赁法 第一条 exists | in_force true 当时有效 2010-03-01 – 2010-01-01"],
  ],
  [
    "租赁法第二条之一",
    "",
    ["租赁法第二条之一: 租赁法 第二条之一 exists | in_force true 现行有效 – – 2020-01-01"],
  ],
  [
    "租赁法第二条之一",
    "2019-01-01",
    [
      "租赁法第二条之一: 租赁法 第二条之一 exists | not_yet_effective false 当时尚无本条 2020-03-01 2010-03-01 2010-01-01 | not_in_force",
    ],
  ],
  [
    "租赁法第二条之一",
    "2020-02-29",
    [
      "租赁法第二条之一: 租赁法 第二条之一 exists | not_yet_effective false 当时尚无本条 2020-03-01 2010-03-01 2010-01-01 | not_in_force",
    ],
  ],
  [
    "租赁法第二条之一",
    "2020-03-01",
    ["租赁法第二条之一: 租赁法 第二条之一 exists | in_force true 当时有效 – – 2020-01-01"],
  ],
  [
    "租赁法（2010年）第二条之一",
    "",
    [
      "租赁法（2010年）第二条之一: 租赁法 第二条之一 no_such_article | – – – – – 2010-01-01 | no_such_article",
    ],
  ],
  [
    "租赁法（2010年）第四条",
    "",
    [
      "租赁法（2010年）第四条: 租赁法 第四条 exists | amended false 本条已于2020-01-01修改 2010-03-01 2020-03-01 2010-01-01 | not_in_force",
    ],
  ],
  [
    "租赁法（2020年）第四条",
    "",
    ["租赁法（2020年）第四条: 租赁法 第四条 exists | in_force true 现行有效 – – 2020-01-01"],
  ],
  [
    "租赁法（2019年）第四条",
    "",
    [
      "租赁法（2019年）第四条: 租赁法 第四条 exists | amended false 本条已于2020-01-01修改 2010-03-01 2020-03-01 2010-01-01 | not_in_force",
    ],
  ],
  [
    "租赁法（2009年）第四条",
    "",
    ["租赁法（2009年）第四条: 租赁法 第四条 version_not_held | unknown – – – – –"],
  ],
  [
    "租赁法（2027年）第四条",
    "",
    ["租赁法（2027年）第四条: 租赁法 第四条 version_not_held | unknown – – – – –"],
  ],
  [
    "租赁法（2010年）第四条",
    "2012-01-01",
    [
      "租赁法（2010年）第四条: 租赁法 第四条 exists | in_force true 当时有效 2010-03-01 2020-03-01 2010-01-01",
    ],
  ],
  [
    "租赁法第三条",
    "",
    ["租赁法第三条: 租赁法 第三条 no_such_article | – – – – – – | no_such_article | near 租赁法 第二条"],
  ],
  [
    "租赁法第五条",
    "",
    ["租赁法第五条: 租赁法 第五条 no_such_article | – – – – – – | no_such_article | near 租赁法 第四条"],
  ],
  [
    "租赁法第六条",
    "",
    ["租赁法第六条: 租赁法 第六条 no_such_article | – – – – – – | no_such_article | near 租赁法 第四条"],
  ],
  [
    "租赁法第七条",
    "",
    ["租赁法第七条: 租赁法 第七条 no_such_article | – – – – – – | no_such_article | near 租赁法 第九条"],
  ],
  [
    "租赁法第二条之二",
    "",
    [
      "租赁法第二条之二: 租赁法 第二条之二 no_such_article | – – – – – – | no_such_article | near 租赁法 第二条之一",
    ],
  ],
  [
    "租赁法第九十条第一款",
    "",
    [
      "租赁法第九十条第一款: 租赁法 第九十条/1 no_such_article | – – – – – – | no_such_article | near 租赁法 第六十一条",
    ],
  ],
  [
    "租赁法第九条第二款第（二）项",
    "",
    [
      "租赁法第九条第二款第（二）项: 租赁法 第九条/2/2 exists | in_force true 现行有效 2010-03-01 – 2010-01-01",
    ],
  ],
  [
    "租赁法第九条第一款第（二）项",
    "",
    [
      "租赁法第九条第一款第（二）项: 租赁法 第九条/1/2 no_such_item | in_force true 现行有效 2010-03-01 – 2010-01-01 | no_such_item",
    ],
  ],
  [
    "租赁法第九条第二款第（三）项",
    "",
    [
      "租赁法第九条第二款第（三）项: 租赁法 第九条/2/3 no_such_item | in_force true 现行有效 2010-03-01 – 2010-01-01 | no_such_item",
    ],
  ],
  [
    "租赁法第九条第三款",
    "",
    [
      "租赁法第九条第三款: 租赁法 第九条/3 no_such_paragraph | in_force true 现行有效 2010-03-01 – 2010-01-01 | no_such_paragraph",
    ],
  ],
  [
    "租赁法第九条第（一）项",
    "",
    ["租赁法第九条第（一）项: 租赁法 第九条/1 exists | in_force true 现行有效 2010-03-01 – 2010-01-01"],
  ],
  ["《租赁法》", "", ["《租赁法》: 租赁法  exists | in_force true 现行有效 2010-03-01 – 2010-01-01"]],
  [
    "《租赁法》",
    "2009-01-01",
    ["《租赁法》: 租赁法  exists | not_yet_effective false 尚未施行 2010-03-01 – 2010-01-01 | not_in_force"],
  ],
  [
    "《租赁法（2010年）》",
    "",
    ["《租赁法（2010年）》: 租赁法  exists | in_force true 现行有效 2010-03-01 – 2010-01-01"],
  ],
  ["《租赁法（2027年）》", "", ["《租赁法（2027年）》: 租赁法  version_not_held | unknown – – – – –"]],
  [
    "《仓储法》",
    "",
    ["《仓储法》: 仓储法  exists | unknown – 另有 2024-05-01 的版本，尚未收录 2015-03-01 – 2015-01-01"],
  ],
  ["《仓储法》", "2004-01-01", ["《仓储法》: 仓储法  version_not_held | unknown – – – – –"]],
  [
    "《仓储法》",
    "2005-03-01",
    ["《仓储法》: 仓储法  exists | in_force true 当时有效 2005-03-01 – 2005-01-01"],
  ],
  [
    "《仓储法》",
    "2014-01-01",
    ["《仓储法》: 仓储法  exists | in_force true 当时有效 2005-03-01 – 2005-01-01"],
  ],
  [
    "仓储法第一条",
    "",
    ["仓储法第一条: 仓储法 第一条 exists | unknown – 另有 2024-05-01 的版本，尚未收录 – – 2015-01-01"],
  ],
  ["仓储法第一条", "2004-12-31", ["仓储法第一条: 仓储法 第一条 version_not_held | unknown – – – – –"]],
  [
    "仓储法第一条",
    "2005-03-01",
    ["仓储法第一条: 仓储法 第一条 exists | in_force true 当时有效 – 2015-03-01 2005-01-01"],
  ],
  [
    "仓储法第一条",
    "2015-03-01",
    ["仓储法第一条: 仓储法 第一条 exists | in_force true 当时有效 – – 2015-01-01"],
  ],
  [
    "仓储法第一条",
    "2024-04-30",
    ["仓储法第一条: 仓储法 第一条 exists | in_force true 当时有效 – – 2015-01-01"],
  ],
  [
    "仓储法第一条",
    "2024-05-01",
    ["仓储法第一条: 仓储法 第一条 exists | unknown – 另有 2024-05-01 的版本，尚未收录 – – 2015-01-01"],
  ],
  [
    "仓储法（2015年）第一条",
    "",
    [
      "仓储法（2015年）第一条: 仓储法 第一条 exists | unknown – 另有 2024-05-01 的版本，尚未收录 – – 2015-01-01",
    ],
  ],
  [
    "条款法第一条",
    "",
    ["条款法第一条: 条款法 第一条 not_held | in_force – 现行有效 2010-03-01 – 2010-01-01"],
  ],
  [
    "条款法第一条",
    "2009-01-01",
    ["条款法第一条: 条款法 第一条 not_held | not_yet_effective – 尚未施行 2010-03-01 – 2010-01-01"],
  ],
  ["《条款法》", "", ["《条款法》: 条款法  exists | in_force true 现行有效 2010-03-01 – 2010-01-01"]],
  ["《日本商法》第一条", "", ["《日本商法》第一条: 日本商法 第一条 not_held | – – – – – –"]],
  ["《德国民法典》第一条", "", ["《德国民法典》第一条: 德国民法典 第一条 not_held | – – – – – –"]],
  [
    "《北京市养犬条例》第一条",
    "",
    ["《北京市养犬条例》第一条: 北京市养犬条例 第一条 not_held | – – – – – –"],
  ],
  ["《城市养犬条例》第一条", "", ["《城市养犬条例》第一条: 城市养犬条例 第一条 not_held | – – – – – –"]],
  [
    "《市场监督条例》第一条",
    "",
    ["《市场监督条例》第一条: 市场监督条例 第一条 unknown_law | – – – – – – | unknown_law"],
  ],
  [
    "《社区养犬条例》第一条",
    "",
    ["《社区养犬条例》第一条: 社区养犬条例 第一条 unknown_law | – – – – – – | unknown_law"],
  ],
  ["《养犬条例》第一条", "", ["《养犬条例》第一条: 养犬条例 第一条 unknown_law | – – – – – – | unknown_law"]],
  ["《养犬办法》第一条", "", ["《养犬办法》第一条: 养犬办法 第一条 not_held | – – – – – –"]],
  ["《养犬总则》第一条", "", ["《养犬总则》第一条: 养犬总则 第一条 unknown_law | – – – – – – | unknown_law"]],
  ["《网络法典》第一条", "", ["《网络法典》第一条: 网络法典 第一条 unknown_law | – – – – – – | unknown_law"]],
  ["《租赁条例》第一条", "", ["《租赁条例》第一条: 租赁条例 第一条 unknown_law | – – – – – – | unknown_law"]],
  [
    "《租凭法》第一条",
    "",
    ["《租凭法》第一条: 租凭法 第一条 unknown_law | – – – – – – | unknown_law | near 租约法 null"],
  ],
  [
    "《租凭法》第一条和《租凭法》第二条",
    "",
    [
      "《租凭法》第一条: 租凭法 第一条 unknown_law | – – – – – – | unknown_law | near 租约法 null",
      "《租凭法》第二条: 租凭法 第二条 unknown_law | – – – – – – | unknown_law | near 租约法 null",
    ],
  ],
  [
    "《合同法》第一条",
    "",
    [
      "《合同法》第一条: 合同法 第一条 not_held | repealed false 已于2021-01-01废止 – 2021-01-01 – | not_in_force",
    ],
  ],
  [
    "《合同法》第一条",
    "2020-12-31",
    ["《合同法》第一条: 合同法 第一条 not_held | unknown – – – 2021-01-01 –"],
  ],
  [
    "《合同法》第一条",
    "2021-01-01",
    [
      "《合同法》第一条: 合同法 第一条 not_held | repealed false 已于2021-01-01废止 – 2021-01-01 – | not_in_force",
    ],
  ],
  ["《劳动法》第一条", "", ["《劳动法》第一条: 劳动法 第一条 not_held | – – – – – –"]],
  ["本法第一条", "", ["本法第一条: null 第一条 unresolved | – – – – – –"]],
  [
    "租赁法第二条规定：“RENT”",
    "",
    [
      "租赁法第二条: 租赁法 第二条 exists | in_force true 现行有效 2010-03-01 – 2010-01-01 | “出租人应当按照约定将租赁物交付承租人，并在租赁期限内保持租赁物符合约定的用途。 =",
    ],
  ],
  [
    "租赁法第二条规定：“出租人应当按照约定将租赁物交付承租人，或者在租赁期限内保持租赁物符合约定的用途。”",
    "",
    [
      "租赁法第二条: 租赁法 第二条 exists | in_force true 现行有效 2010-03-01 – 2010-01-01 | quotation_differs | “出租人应当按照约定将租赁物交付承租人，或者在租赁期限内保持租赁物符合约定的用途。 ≠",
    ],
  ],
  [
    "租赁法第二条规定：“REPAIRS”",
    "",
    [
      "租赁法第二条: 租赁法 第二条 exists | in_force true 现行有效 2010-03-01 – 2010-01-01 | quotation_differs | “承租人在租赁物需要维修时可以请求出租人在合理期限内维修，出租人不得拒绝。 ≠ in 第二条之一/null",
    ],
  ],
  [
    "租赁法第三条规定：“REPAIRS”",
    "",
    [
      "租赁法第三条: 租赁法 第三条 no_such_article | – – – – – – | no_such_article,quotation_differs | near 租赁法 第二条之一 | “承租人在租赁物需要维修时可以请求出租人在合理期限内维修，出租人不得拒绝。 ≠ in 第二条之一/null",
    ],
  ],
  [
    "租赁法第三条规定：“出租人可以涨租。”",
    "",
    ["租赁法第三条: 租赁法 第三条 no_such_article | – – – – – – | no_such_article | near 租赁法 第二条"],
  ],
  [
    "租赁法第三条规定：“出租人可以随时涨租金。”",
    "",
    [
      "租赁法第三条: 租赁法 第三条 no_such_article | – – – – – – | no_such_article | near 租赁法 第二条 | “出租人可以随时涨租金。 ?",
    ],
  ],
  [
    "租赁法第二条之一规定：“RENT”",
    "",
    [
      "租赁法第二条之一: 租赁法 第二条之一 exists | in_force true 现行有效 – – 2020-01-01 | quotation_differs | “出租人应当按照约定将租赁物交付承租人，并在租赁期限内保持租赁物符合约定的用途。 ≠ in 第二条/null",
    ],
  ],
  [
    "租赁法第四条规定：“出租人收取的押金不得超过三个月租金”",
    "",
    [
      "租赁法第四条: 租赁法 第四条 exists | in_force true 现行有效 – – 2020-01-01 | quotation_differs | “出租人收取的押金不得超过三个月租金 ≠ @2010-01-01",
    ],
  ],
  [
    "租赁法第四条规定：“出租人收取的押金不得超过三个月租金”",
    "2012-01-01",
    [
      "租赁法第四条: 租赁法 第四条 exists | in_force true 当时有效 2010-03-01 2020-03-01 2010-01-01 | “出租人收取的押金不得超过三个月租金 =",
    ],
  ],
  [
    "租赁法第九条第一款规定：“承租人擅自转租”",
    "",
    ["租赁法第九条第一款: 租赁法 第九条/1 exists | in_force true 现行有效 2010-03-01 – 2010-01-01"],
  ],
  [
    "租赁法第九条第二款规定：“承租人擅自转租”",
    "",
    [
      "租赁法第九条第二款: 租赁法 第九条/2 exists | in_force true 现行有效 2010-03-01 – 2010-01-01 | “承租人擅自转租 =",
    ],
  ],
  [
    "租赁法第九条第三款规定：“承租人擅自转租”",
    "",
    [
      "租赁法第九条第三款: 租赁法 第九条/3 no_such_paragraph | in_force true 现行有效 2010-03-01 – 2010-01-01 | no_such_paragraph | “承租人擅自转租 =",
    ],
  ],
  [
    "租赁法第九条规定：“（一）承租人擅自转租；”",
    "",
    [
      "租赁法第九条: 租赁法 第九条 exists | in_force true 现行有效 2010-03-01 – 2010-01-01 | “（一）承租人擅自转租； =",
    ],
  ],
  [
    "租赁法第四条规定：“第四条 DEPOSITS”",
    "",
    [
      "租赁法第四条: 租赁法 第四条 exists | in_force true 现行有效 – – 2020-01-01 | “出租人收取的押金不得超过两个月租金，并应当在租赁期限届满后十日内退还承租人。 =",
      "第四条: 租赁法 第四条 exists | in_force true 现行有效 – – 2020-01-01",
    ],
  ],
  [
    "租赁法第四条规定：“第四条【押金】DEPOSITS”",
    "",
    [
      "租赁法第四条: 租赁法 第四条 exists | in_force true 现行有效 – – 2020-01-01 | “出租人收取的押金不得超过两个月租金，并应当在租赁期限届满后十日内退还承租人。 =",
      "第四条: 租赁法 第四条 exists | in_force true 现行有效 – – 2020-01-01",
    ],
  ],
  [
    "租赁法第四条规定：“第四条”",
    "",
    [
      "租赁法第四条: 租赁法 第四条 exists | in_force true 现行有效 – – 2020-01-01",
      "第四条: 租赁法 第四条 exists | in_force true 现行有效 – – 2020-01-01",
    ],
  ],
  [
    "租赁法第四条所说“押金不得超过”是指",
    "",
    ["租赁法第四条: 租赁法 第四条 exists | in_force true 现行有效 – – 2020-01-01 | “押金不得超过 ="],
  ],
  [
    "租赁法第四条所说“押金不能超过五个月的租金”是指",
    "",
    ["租赁法第四条: 租赁法 第四条 exists | in_force true 现行有效 – – 2020-01-01"],
  ],
  [
    "租赁法第四条所说“押金不得超过两个月的租金”是指",
    "",
    [
      "租赁法第四条: 租赁法 第四条 exists | in_force true 现行有效 – – 2020-01-01 | quotation_differs | “押金不得超过两个月的租金 ≠",
    ],
  ],
  [
    "租赁法第四条所说“承租人在租赁物需要维修时可以请求”是指",
    "",
    [
      "租赁法第四条: 租赁法 第四条 exists | in_force true 现行有效 – – 2020-01-01 | quotation_differs | “承租人在租赁物需要维修时可以请求 ≠ in 第二条之一/null",
    ],
  ],
  [
    "租赁法第四条所说“承租人在租赁物需要维修时可以请求出租人”是指",
    "",
    [
      "租赁法第四条: 租赁法 第四条 exists | in_force true 现行有效 – – 2020-01-01 | quotation_differs | “承租人在租赁物需要维修时可以请求出租人 ≠ in 第二条之一/null",
    ],
  ],
  [
    "租赁法第二条、第四条规定：“DEPOSITS”",
    "",
    [
      "租赁法第二条: 租赁法 第二条 exists | in_force true 现行有效 2010-03-01 – 2010-01-01",
      "第四条: 租赁法 第四条 exists | in_force true 现行有效 – – 2020-01-01 | “出租人收取的押金不得超过两个月租金，并应当在租赁期限届满后十日内退还承租人。 =",
    ],
  ],
  [
    "租赁法第四条、第二条规定：“DEPOSITS”",
    "",
    [
      "租赁法第四条: 租赁法 第四条 exists | in_force true 现行有效 – – 2020-01-01 | “出租人收取的押金不得超过两个月租金，并应当在租赁期限届满后十日内退还承租人。 =",
      "第二条: 租赁法 第二条 exists | in_force true 现行有效 2010-03-01 – 2010-01-01",
    ],
  ],
  [
    "租赁法第二条、第四条规定：“出租人无须退还押金给承租人。”",
    "",
    [
      "租赁法第二条: 租赁法 第二条 exists | in_force true 现行有效 2010-03-01 – 2010-01-01",
      "第四条: 租赁法 第四条 exists | in_force true 现行有效 – – 2020-01-01 | quotation_differs | “出租人无须退还押金给承租人。 ≠",
    ],
  ],
  [
    "租赁法第四条规定：DEPOSITS本案被告没有退还。",
    "",
    [
      "租赁法第四条: 租赁法 第四条 exists | in_force true 现行有效 – – 2020-01-01 | 出租人收取的押金不得超过两个月租金，并应当在租赁期限届满后十日内退还承租人。 =",
    ],
  ],
  [
    "租赁法第四条规定：出租人收取的押金不得超过三个月租金，并应当在租赁期限届满后十日内退还承租人。",
    "",
    [
      "租赁法第四条: 租赁法 第四条 exists | in_force true 现行有效 – – 2020-01-01 | quotation_differs | 出租人收取的押金不得超过三个月租金，并应当在租赁期限届满后十日内退还承租人。 ≠ @2010-01-01",
    ],
  ],
  [
    "租赁法第四条规定：出租人收取的押金不得超过五个月租金，并应当在租赁期限届满后十日内退还承租人。",
    "",
    [
      "租赁法第四条: 租赁法 第四条 exists | in_force true 现行有效 – – 2020-01-01 | quotation_differs | 出租人收取的押金不得超过五个月租金，并应当在租赁期限届满后十日内退还承租人。 ≠",
    ],
  ],
  [
    "租赁法第四条规定，出租人收取的押金不得超过五个月租金，并应当在租赁期限届满后十日内退还承租人。",
    "",
    [
      "租赁法第四条: 租赁法 第四条 exists | in_force true 现行有效 – – 2020-01-01 | quotation_differs | 出租人收取的押金不得超过五个月租金，并应当在租赁期限届满后十日内退还承租人。 ≠",
    ],
  ],
  [
    "租赁法第四条规定：REPAIRS",
    "",
    [
      "租赁法第四条: 租赁法 第四条 exists | in_force true 现行有效 – – 2020-01-01 | quotation_differs | 承租人在租赁物需要维修时可以请求出租人在合理期限内维修，出租人不得拒绝。 ≠ in 第二条之一/null",
    ],
  ],
  [
    "租赁法第四条规定，REPAIRS",
    "",
    [
      "租赁法第四条: 租赁法 第四条 exists | in_force true 现行有效 – – 2020-01-01 | fits_other_article | fits 租赁法 第二条之一",
    ],
  ],
  [
    "租赁法第四条规定：出租人收取的押金应当在租赁期限届满后退还承租人。",
    "",
    ["租赁法第四条: 租赁法 第四条 exists | in_force true 现行有效 – – 2020-01-01"],
  ],
  [
    "租赁法第四条规定：出租人收取的押金应当在租赁期限届满后三十日内退还承租人。",
    "",
    [
      "租赁法第四条: 租赁法 第四条 exists | in_force true 现行有效 – – 2020-01-01 | quotation_differs | 出租人收取的押金应当在租赁期限届满后三十日内退还承租人。 ≠",
    ],
  ],
  [
    "依据租赁法第四条，押金不得超过四个月租金。",
    "",
    [
      "租赁法第四条: 租赁法 第四条 exists | in_force true 现行有效 – – 2020-01-01 | quotation_differs | 押金不得超过四个月租金 ≠",
    ],
  ],
  [
    "依据租赁法第四条，押金不得超过三个月租金。",
    "",
    [
      "租赁法第四条: 租赁法 第四条 exists | in_force true 现行有效 – – 2020-01-01 | quotation_differs | 押金不得超过三个月租金 ≠ @2010-01-01",
    ],
  ],
  [
    "依据租赁法第四条，押金不得超过两个月租金。",
    "",
    ["租赁法第四条: 租赁法 第四条 exists | in_force true 现行有效 – – 2020-01-01"],
  ],
  [
    "依据租赁法第二条，REPAIRS",
    "",
    [
      "租赁法第二条: 租赁法 第二条 exists | in_force true 现行有效 2010-03-01 – 2010-01-01 | fits_other_article | fits 租赁法 第二条之一",
    ],
  ],
  [
    "依据租赁法第五条，REPAIRS",
    "",
    [
      "租赁法第五条: 租赁法 第五条 no_such_article | – – – – – – | no_such_article,fits_other_article | near 租赁法 第四条 | fits 租赁法 第二条之一",
    ],
  ],
  [
    "依据租赁法第二条，承租人在租赁物需要维修时可以请求出租人修理。",
    "",
    [
      "租赁法第二条: 租赁法 第二条 exists | in_force true 现行有效 2010-03-01 – 2010-01-01 | fits_other_article | fits 租赁法 第二条之一",
    ],
  ],
  [
    "依据租赁法第二条，承租人在租赁物需要维修时可以请求出租人在合理期限内维修。",
    "",
    [
      "租赁法第二条: 租赁法 第二条 exists | in_force true 现行有效 2010-03-01 – 2010-01-01 | fits_other_article | fits 租赁法 第二条之一",
    ],
  ],
  [
    "依据租赁法第二条和第四条，REPAIRS",
    "",
    [
      "租赁法第二条: 租赁法 第二条 exists | in_force true 现行有效 2010-03-01 – 2010-01-01",
      "第四条: 租赁法 第四条 exists | in_force true 现行有效 – – 2020-01-01",
    ],
  ],
  [
    "依据租赁法（2020年）第二条，REPAIRS",
    "",
    ["租赁法（2020年）第二条: 租赁法 第二条 exists | in_force true 现行有效 2010-03-01 – 2010-01-01"],
  ],
  [
    "依据租赁法第二条之一，承租人可以请求出租人在合理期限内维修，出租人可以拒绝。",
    "",
    [
      "租赁法第二条之一: 租赁法 第二条之一 exists | in_force true 现行有效 – – 2020-01-01 | quotation_differs | 承租人可以请求出租人在合理期限内维修，出租人可以拒绝 ≠",
    ],
  ],
  [
    "依据租赁法第九条第一款，承租人无须经出租人同意，可以将租赁物转租给第三人。",
    "",
    [
      "租赁法第九条第一款: 租赁法 第九条/1 exists | in_force true 现行有效 2010-03-01 – 2010-01-01 | quotation_differs | 承租人无须经出租人同意，可以将租赁物转租给第三人 ≠",
    ],
  ],
  [
    "依据租赁法第九条第二款第（一）项，承租人擅自转租的，出租人不得解除合同。",
    "",
    [
      "租赁法第九条第二款第（一）项: 租赁法 第九条/2/1 exists | in_force true 现行有效 2010-03-01 – 2010-01-01 | quotation_differs | 承租人擅自转租的，出租人不得解除合同 ≠",
    ],
  ],
  [
    "依据租赁法第九条第二款第（二）项，承租人擅自转租的，出租人不得解除合同。",
    "",
    [
      "租赁法第九条第二款第（二）项: 租赁法 第九条/2/2 exists | in_force true 现行有效 2010-03-01 – 2010-01-01 | quotation_differs | 承租人擅自转租的，出租人不得解除合同 ≠",
    ],
  ],
  [
    "依据租赁法第九条，承租人不支付租金的，出租人不得解除合同。",
    "",
    [
      "租赁法第九条: 租赁法 第九条 exists | in_force true 现行有效 2010-03-01 – 2010-01-01 | quotation_differs | 承租人不支付租金的，出租人不得解除合同 ≠",
    ],
  ],
  [
    "依据租赁法第九条，租约应当采用书面形式订立，并载明租金的数额、支付期限和方式。",
    "",
    ["租赁法第九条: 租赁法 第九条 exists | in_force true 现行有效 2010-03-01 – 2010-01-01"],
  ],
  [
    "依据租约法第九条，承租人经出租人同意，可以将租赁物转租给第三人。",
    "",
    ["租约法第九条: 租约法 第九条 exists | in_force true 现行有效 2010-03-01 – 2010-01-01"],
  ],
  [
    "依据租约法第九条，SUBLETS",
    "",
    ["租约法第九条: 租约法 第九条 exists | in_force true 现行有效 2010-03-01 – 2010-01-01"],
  ],
  [
    "依据租约法第九条规定，租约应当采用口头形式订立。",
    "",
    [
      "租约法第九条: 租约法 第九条 exists | in_force true 现行有效 2010-03-01 – 2010-01-01 | quotation_differs | 租约应当采用口头形式订立 ≠",
    ],
  ],
  [
    "租金，租赁法第四条规定押金不得超过五个月。",
    "",
    [
      "租赁法第四条: 租赁法 第四条 exists | in_force true 现行有效 – – 2020-01-01 | quotation_differs | 押金不得超过五个月 ≠",
    ],
  ],
  [
    "承租人在租赁物需要维修时可以请求出租人在合理期限内维修（租约法第九条）。",
    "",
    ["租约法第九条: 租约法 第九条 exists | in_force true 现行有效 2010-03-01 – 2010-01-01"],
  ],
  [
    "租约法第九条关于承租人在租赁物需要维修时可以请求出租人在合理期限内维修的规定",
    "",
    [
      "租约法第九条: 租约法 第九条 exists | in_force true 现行有效 2010-03-01 – 2010-01-01 | fits_other_article | fits 租赁法 第二条之一",
    ],
  ],
  [
    "租约法第九条关于出租人收取的押金不得超过两个月租金，并应当在租赁期限届满后十日内退还的规定",
    "",
    [
      "租约法第九条: 租约法 第九条 exists | in_force true 现行有效 2010-03-01 – 2010-01-01 | fits_other_article | fits 租赁法 第四条",
    ],
  ],
  ["（2020）京01民终9号", "", ["（2020）京01民终9号: null  not_held | – – – – – –"]],
  [
    "租赁法第四条规定：“押金……十日内退还承租人。”",
    "",
    [
      "租赁法第四条: 租赁法 第四条 exists | in_force true 现行有效 – – 2020-01-01 | “押金……十日内退还承租人。 =",
    ],
  ],
  [
    "租赁法第四条规定：押金不得超过三个月租金；出租人可以不退还。",
    "",
    [
      "租赁法第四条: 租赁法 第四条 exists | in_force true 现行有效 – – 2020-01-01 | quotation_differs | 押金不得超过三个月租金 ≠ @2010-01-01",
    ],
  ],
  [
    "租赁法第四条规定，出租人收取的押金不得超过两个月租金；出租人应当在租赁期限届满后三十日内退还承租人。",
    "",
    [
      "租赁法第四条: 租赁法 第四条 exists | in_force true 现行有效 – – 2020-01-01 | quotation_differs | 出租人收取的押金不得超过两个月租金；出租人应当在租赁期限届满后三十日内退还承租人。 ≠",
    ],
  ],
  [
    "租赁法第一条、第二条、第四条、第九条、第二条之一、第三条、第五条、第六条、第七条、第八条、第十条",
    "",
    [
      "租赁法第一条: 租赁法 第一条 exists | in_force true 现行有效 2010-03-01 – 2010-01-01",
      "第二条: 租赁法 第二条 exists | in_force true 现行有效 2010-03-01 – 2010-01-01",
      "第四条: 租赁法 第四条 exists | in_force true 现行有效 – – 2020-01-01",
      "第九条: 租赁法 第九条 exists | in_force true 现行有效 2010-03-01 – 2010-01-01",
      "第二条之一: 租赁法 第二条之一 exists | in_force true 现行有效 – – 2020-01-01",
      "第三条: 租赁法 第三条 no_such_article | – – – – – – | no_such_article | near 租赁法 第二条",
      "第五条: 租赁法 第五条 no_such_article | – – – – – – | no_such_article | near 租赁法 第四条",
      "第六条: 租赁法 第六条 no_such_article | – – – – – – | no_such_article | near 租赁法 第四条",
      "第七条: 租赁法 第七条 no_such_article | – – – – – – | no_such_article | near 租赁法 第九条",
      "第八条: 租赁法 第八条 no_such_article | – – – – – – | no_such_article | near 租赁法 第九条",
      "第十条: 租赁法 第十条 no_such_article | – – – – – – | no_such_article | near 租赁法 第九条",
    ],
  ],
  [
    "依据租赁法第九条，登记机关应当自收到申请之日起五个工作日内办理租赁登记，并颁发租赁登记证书。",
    "",
    [
      "租赁法第九条: 租赁法 第九条 exists | in_force true 现行有效 2010-03-01 – 2010-01-01 | fits_other_article | fits 租赁登记法 第九条",
    ],
  ],
  [
    "依据租赁法第十条，登记机关应当自收到申请之日起五个工作日内办理租赁登记，并颁发租赁登记证书。",
    "",
    ["租赁法第十条: 租赁法 第十条 no_such_article | – – – – – – | no_such_article | near 租赁法 第九条"],
  ],
  [
    "依据租赁法第九条，登记机关应当自收到申请之日起五个工作日内登记。",
    "",
    [
      "租赁法第九条: 租赁法 第九条 exists | in_force true 现行有效 2010-03-01 – 2010-01-01 | fits_other_article | fits 租赁登记法 第九条",
    ],
  ],
  [
    "依据租赁法第八条，出租人应当按照约定将租赁物交付承租人，押金不得超过两个月租金，并应当在租赁期限届满后十日内退还承租人。",
    "",
    [
      "租赁法第八条: 租赁法 第八条 no_such_article | – – – – – – | no_such_article,fits_other_article | near 租赁法 第九条 | fits 租赁法 第四条",
    ],
  ],
  [
    "依据租赁法第四条，出租人应当按照约定将租赁物交付承租人。",
    "",
    [
      "租赁法第四条: 租赁法 第四条 exists | in_force true 现行有效 – – 2020-01-01 | fits_other_article | fits 租赁法 第二条",
    ],
  ],
  [
    "依据租赁法第八条，应当在租赁期限届满后十日内退还承租人。",
    "",
    [
      "租赁法第八条: 租赁法 第八条 no_such_article | – – – – – – | no_such_article,fits_other_article | near 租赁法 第九条 | fits 租赁法 第四条",
    ],
  ],
  [
    "依据租赁法第八条，应当依法保护承租人的合法权益和利益。",
    "",
    ["租赁法第八条: 租赁法 第八条 no_such_article | – – – – – – | no_such_article | near 租赁法 第九条"],
  ],
  [
    "依据租赁法第九条，出租人收取的押金不得超过两个月租金，这是为了保护承租人，并应当在租赁期限届满后十日内退还承租人。",
    "",
    [
      "租赁法第九条: 租赁法 第九条 exists | in_force true 现行有效 2010-03-01 – 2010-01-01 | fits_other_article | fits 租赁法 第四条",
    ],
  ],
  [
    "依据《合同法》第一条规定：“出租人可以随时涨租金。”",
    "",
    [
      "《合同法》第一条: 合同法 第一条 not_held | repealed false 已于2021-01-01废止 – 2021-01-01 – | not_in_force | “出租人可以随时涨租金。 ?",
    ],
  ],
  [
    "依据本法第一条规定：“出租人可以随时涨租金。”",
    "",
    ["本法第一条: null 第一条 unresolved | – – – – – – | “出租人可以随时涨租金。 ?"],
  ],
  [
    "（2020）京01民终9号判决认为：“出租人可以随时涨租金。”",
    "",
    ["（2020）京01民终9号: null  not_held | – – – – – –"],
  ],
  [
    "租赁法第二条规定：“出租人收取的押金应当退还给承租人所有。”",
    "",
    [
      "租赁法第二条: 租赁法 第二条 exists | in_force true 现行有效 2010-03-01 – 2010-01-01 | quotation_differs | “出租人收取的押金应当退还给承租人所有。 ≠",
    ],
  ],
  [
    "租赁法第二条规定：“按照约定将租赁物”",
    "",
    [
      "租赁法第二条: 租赁法 第二条 exists | in_force true 现行有效 2010-03-01 – 2010-01-01 | “按照约定将租赁物 =",
    ],
  ],
  [
    "租赁法第二条规定：“按约定把租赁物”",
    "",
    ["租赁法第二条: 租赁法 第二条 exists | in_force true 现行有效 2010-03-01 – 2010-01-01"],
  ],
  [
    "租赁法第二条：出租人应当按照约定将租赁物交付承租人；并在租赁期限内保持租赁物符合约定的用途；承租人应当付款。",
    "",
    [
      "租赁法第二条: 租赁法 第二条 exists | in_force true 现行有效 2010-03-01 – 2010-01-01 | 出租人应当按照约定将租赁物交付承租人；并在租赁期限内保持租赁物符合约定的用途； =",
    ],
  ],
  [
    "租赁法第四条规定：出租人收取的押金不得超过二个月租金，并应当在租赁期限届满后10日内退还承租人。",
    "",
    ["租赁法第四条: 租赁法 第四条 exists | in_force true 现行有效 – – 2020-01-01"],
  ],
  [
    "租赁法第四条规定：出租人收取的押金不得超过两百个月租金，并应当在租赁期限届满后十日内退还承租人。",
    "",
    [
      "租赁法第四条: 租赁法 第四条 exists | in_force true 现行有效 – – 2020-01-01 | quotation_differs | 出租人收取的押金不得超过两百个月租金，并应当在租赁期限届满后十日内退还承租人。 ≠",
    ],
  ],
  [
    "租赁法第四条规定，押金不得超过五个月租金。",
    "",
    [
      "租赁法第四条: 租赁法 第四条 exists | in_force true 现行有效 – – 2020-01-01 | quotation_differs | 押金不得超过五个月租金 ≠",
    ],
  ],
  [
    "租赁法第四条的押金不得超过五个月租金。",
    "",
    [
      "租赁法第四条: 租赁法 第四条 exists | in_force true 现行有效 – – 2020-01-01 | quotation_differs | 的押金不得超过五个月租金。 ≠",
    ],
  ],
  [
    "租赁法第五十条规定：出租人应当在租赁期限届满前三个月告知承租人是否续租该房屋。",
    "",
    [
      "租赁法第五十条: 租赁法 第五十条 exists | in_force true 现行有效 – – 2020-01-01 | quotation_differs | 出租人应当在租赁期限届满前三个月告知承租人是否续租该房屋。 ≠ @2010-01-01",
    ],
  ],
  [
    "租赁法第五十一条规定，出租人可以在租赁期限内提高租金。",
    "",
    [
      "租赁法第五十一条: 租赁法 第五十一条 exists | in_force true 现行有效 2010-03-01 – 2010-01-01 | quotation_differs | 出租人可以在租赁期限内提高租金 ≠",
    ],
  ],
  [
    "租赁法第五十一条第二项规定，出租人对租赁物进行改善的，可以在租赁期限内提高租金。",
    "",
    ["租赁法第五十一条第二项: 租赁法 第五十一条/2 exists | in_force true 现行有效 2010-03-01 – 2010-01-01"],
  ],
  [
    "租赁法第二条规定，订立租赁合同的双方应当向房屋所在地的房产管理部门办理备案手续。",
    "",
    [
      "租赁法第二条: 租赁法 第二条 exists | in_force true 现行有效 2010-03-01 – 2010-01-01 | fits_other_article | fits 租赁法 第六十条",
    ],
  ],
  [
    "根据租赁法第九条，承租人经出租人同意，可以将租赁物转租给第三人，登记机关应当自收到申请之日起五个工作日内办理租赁登记，并颁发租赁登记证书。",
    "",
    ["租赁法第九条: 租赁法 第九条 exists | in_force true 现行有效 2010-03-01 – 2010-01-01"],
  ],
  [
    "根据租赁法第九条，承租人可以将租赁物转租给第三人，登记机关应当自收到申请之日起五个工作日内办理租赁登记，并颁发租赁登记证书。",
    "",
    [
      "租赁法第九条: 租赁法 第九条 exists | in_force true 现行有效 2010-03-01 – 2010-01-01 | fits_other_article | fits 租赁登记法 第九条",
    ],
  ],
  [
    "仓储法第一条规定，登记机关应当自收到申请之日起五个工作日内将仓单移交给税务机关并且通知全体存货人。",
    "",
    ["仓储法第一条: 仓储法 第一条 exists | unknown – 另有 2024-05-01 的版本，尚未收录 – – 2015-01-01"],
  ],
  [
    "仓储法第一条规定，存货人或者仓单持有人可以随时提取仓储物，但是应当给予必要的准备时间。",
    "",
    [
      "仓储法第一条: 仓储法 第一条 exists | unknown – 另有 2024-05-01 的版本，尚未收录 – – 2015-01-01 | fits_other_article | fits 仓储法 第九条",
    ],
  ],
  [
    "仓储法第一条规定，存货人或者仓单持有人可以随时提取仓储物，但是应当给予必要的准备时间。",
    "2004-01-01",
    ["仓储法第一条: 仓储法 第一条 version_not_held | unknown – – – – –"],
  ],
  [
    "租赁法第四条规定，押金的数额最多为三个月租金，届满后十日内退还。",
    "",
    [
      "租赁法第四条: 租赁法 第四条 exists | in_force true 现行有效 – – 2020-01-01 | quotation_differs | 押金的数额最多为三个月租金，届满后十日内退还 ≠ @2010-01-01",
    ],
  ],
  [
    "仓储法(2005)第一条规定，仓库应当妥善保管货物。",
    "2004-01-01",
    [
      "仓储法(2005)第一条: 仓储法 第一条 exists | not_yet_effective false 尚未施行 – 2015-03-01 2005-01-01 | not_in_force",
    ],
  ],
  ["《仓储法(2005)》", "", ["《仓储法(2005)》: 仓储法  exists | amended – 历史版本 2005-03-01 – 2005-01-01"]],
  [
    "寄存法第四条规定，寄存人应当在领取寄存物时当面清点，并且交还寄存凭证。",
    "",
    ["寄存法第四条: 寄存法 第四条 exists | in_force true 现行有效 2010-03-01 – 2010-01-01"],
  ],
  [
    "租赁法第二条规定，租约应当采用书面形式订立。",
    "",
    ["租赁法第二条: 租赁法 第二条 exists | in_force true 现行有效 2010-03-01 – 2010-01-01"],
  ],
  // Few words may be a term that two articles have.
  [
    "租赁法第二条：可以将租赁物转租给第三人。",
    "",
    [
      "租赁法第二条: 租赁法 第二条 exists | in_force true 现行有效 2010-03-01 – 2010-01-01 | fits_other_article | fits 租赁法 第九条",
    ],
  ],
  // The words are those of another law, but they rule nothing, or stand beside the cited article's own.
  [
    "租赁法第二条规定，自收到申请之日起五个工作日内办理租赁登记，并颁发租赁登记证书。",
    "",
    ["租赁法第二条: 租赁法 第二条 exists | in_force true 现行有效 2010-03-01 – 2010-01-01"],
  ],
  [
    "租赁法第二条规定，出租人应当按照约定将租赁物交付承租人，登记机关应当自收到申请之日起五个工作日内办理租赁登记，并颁发租赁登记证书。",
    "",
    ["租赁法第二条: 租赁法 第二条 exists | in_force true 现行有效 2010-03-01 – 2010-01-01"],
  ],
  // The article of the other law has these words since 2020.
  [
    "租约法第九条规定，承租人在租赁物需要维修时可以请求出租人在合理期限内维修。",
    "2015-01-01",
    ["租约法第九条: 租约法 第九条 exists | in_force true 当时有效 2010-03-01 – 2010-01-01"],
  ],
  [
    "租约法第九条规定，承租人在租赁物需要维修时可以请求出租人在合理期限内维修。",
    "",
    [
      "租约法第九条: 租约法 第九条 exists | in_force true 现行有效 2010-03-01 – 2010-01-01 | fits_other_article | fits 租赁法 第二条之一",
    ],
  ],
];

test.each(verdicts)("told of %j on %s", async (text, date, expected) => {
  const words = { RENT: rent, REPAIRS: repairs, DEPOSITS: deposits, SUBLETS: sublets };
  const written = Object.entries(words).reduce((all, [name, each]) => all.replaceAll(name, each), text);
  expect(await told(written, date === "" ? undefined : date)).toEqual(expected);
});
