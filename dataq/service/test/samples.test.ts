import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type OperationName, operations, type Params } from "@dataq/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type InProcessService, startInProcess } from "./in-process.ts";
import { importFileInto } from "./pack.ts";

/** Ten values for each operation that are not samples: real names and numbers, and some that do not exist. */
const foreign: Partial<Record<OperationName, readonly Params[]>> = {
  legal_cases: [
    "恒大地产集团有限公司 债券违约",
    "（2019）最高法民终1号",
    "judge:王淑梅",
    "court:中国澳门终审法院",
    "quantum entanglement",
    "许家印",
    "腾讯诉奇虎不正当竞争",
    "basis:海商法第四条",
    "date:1999",
    '"本院不存在的一句话"',
  ].map((query) => ({ query })),
  legal_laws: [
    "民法典 第五百七十七条",
    "公司法（2018修正） 第二十条",
    "刑法 264",
    "海商法",
    "老板不给工资怎么办",
    "宪法第一条",
    "数据安全法",
    "第九百九十九条",
    "工伤认定",
    "civil code 577",
  ].map((query) => ({ query })),
  legal_law_catalog: [],
  enterprise_company_detail: creditCodes(),
  enterprise_annual_report: creditCodes(),
  enterprise_tax_invoice: [
    { invoice_code: "033002100111", invoice_number: "10009999" },
    { invoice_code: "033002100111", invoice_number: "10000777" },
    { invoice_code: "033002100111", invoice_number: "10000001", amount: "0.01" },
    { invoice_code: "033002100111", invoice_number: "10000001", check_code: "123456" },
    { invoice_code: "044031900111", invoice_number: "12345678" },
    { invoice_code: "011002000311", invoice_number: "87654321" },
    { invoice_code: "25332000000000009999" },
    { invoice_code: "24312000000012345678" },
    { invoice_code: "044031900111" },
    { invoice_code: "011002000311", invoice_number: "00000001", issue_date: "2024-01-02" },
  ],
  enterprise_shixin_check: names(),
  enterprise_zhixing_check: names(),
  content_keyword_index: keywords(),
  content_wechat_index: keywords(),
  content_hot_rank: [
    { platform: "weibo", date: "2024-05-01" },
    { platform: "weibo", date: "2025-05-31" },
    { platform: "weibo", date: "2020-11-24" },
    { platform: "zhihu", date: "2023-01-01" },
    { platform: "baidu", date: "2025-06-02" },
    { platform: "douyin", date: "2025-06-01" },
    { platform: "bilibili" },
    { platform: "toutiao" },
    { platform: "douyin", date: "2024-02-29" },
    { platform: "bilibili", date: "2025-01-01" },
  ],
  cloud_express_tracking: [
    "YT1000000000018",
    "YT9999999999990",
    "SF9876543210987",
    "773123456789012",
    "9876543210123",
    "JDVA12345678901",
    "78912345678901",
    "EMS1234567890CN",
    "1234567890",
    "YT2000000000017",
  ].map((express_no) => ({ express_no })),
  research_paper_search: [
    "10.1038/s41586-021-03819-2",
    "attention is all you need",
    "屠呦呦 青蒿素",
    "量子霸权",
    "Nature Communications 2020",
    "袁隆平",
    "冠状病毒刺突蛋白",
    "arxiv:1706.03762",
    "黑洞照片",
    "可控核聚变托卡马克",
  ].map((query) => ({ query })),
  research_patent_search: [
    "CN201510000001.0",
    "华为技术有限公司",
    "折叠屏铰链",
    "CN112345678A",
    "US10000000B2",
    "光刻机双工件台",
    "比亚迪刀片",
    "大疆创新",
    "一种航天服",
    "青霉素发酵罐",
  ].map((query) => ({ query })),
  research_journal_search: [
    "1672-4461",
    "Nature",
    "The Lancet",
    "中国社会科学",
    "物理学报（英文版）Chinese Physics",
    "CN11-1234/TP",
    "计算机学报",
    "0028-0836",
    "Science",
    "Quantum Reports",
  ].map((query) => ({ query })),
  research_scholar_search: [
    "钱学森",
    "屠呦呦",
    "Yann LeCun",
    "丘成桐",
    "姚期智",
    "Fei-Fei Li",
    "施一公",
    "潘建伟",
    "颜宁",
    "陈景润",
  ].map((name) => ({ name })),
};

/** Makes values for an operation that the table above does not list. */
function unlikely(name: OperationName): Params[] {
  const [parameter = "query"] = Object.keys(operations.find((one) => one.name === name)?.params.shape ?? {});
  return Array.from({ length: 10 }, (_, number) => ({ [parameter]: `qzxw${number}` }));
}

function creditCodes(): Params[] {
  return [
    "91330100716105852F",
    "91420000757013137P",
    "9144030071526726XG",
    "91110000802100433B",
    "914403001922038216",
    "91310000132278523C",
    "91440101231243173M",
    "91310115MA1K4LAB8F",
    "91330000609120272T",
    "91110108551385082Q",
  ].map((tax_id) => ({ tax_id }));
}

function names(): Params[] {
  return [
    "恒大地产集团有限公司",
    "乐视网信息技术（北京）股份有限公司",
    "一家清白的公司",
    "杭州示例云图科技有限公司 ",
    "罗永浩",
    "示例",
    "杭州示例云图科技",
    "阿里巴巴（中国）有限公司",
    "Evergrande",
    "北京暴风科技股份有限公司",
  ]
    .filter((name) => name !== "杭州示例云图科技有限公司 ")
    .concat("贾跃亭")
    .map((company_name) => ({ company_name }));
}

function keywords(): Params[] {
  return [
    { keyword: "借贷", date: "2026-02-03" },
    { keyword: "人工智能", date: "2024-01-01" },
    { keyword: "人工智能", date: "2025-05-31" },
    { keyword: "恒大" },
    { keyword: "比特币" },
    { keyword: "ChatGPT" },
    { keyword: "人工智能技术" },
    { keyword: "春运 抢票" },
    { keyword: "房价", date: "2025-06-01" },
    { keyword: "世界杯", date: "2022-12-18" },
  ];
}

let service: InProcessService;
let files: string;

beforeAll(async () => {
  files = mkdtempSync(join(tmpdir(), "dataq-samples-"));
  service = await startInProcess({}, { isScripted: false });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  rmSync(files, { recursive: true, force: true });
});

const ask = (operation: string, params: object, more: object = {}, key = service.key) =>
  service.call("/v1/data/query", { key, body: { operation, params, ...more } });
const balance = async () => (await service.call("/v1/balance")).body.balance as number;

describe("a live key on a new installation", () => {
  test.each(operations.map(({ name }) => name))(
    "%s: values that are not samples cause no charge, no negative finding and no invented record",
    async (name) => {
      const before = await balance();
      for (const params of foreign[name] ?? unlikely(name)) {
        const { status, body } = await ask(name, params);
        const what = `${JSON.stringify(params)}: ${JSON.stringify(body).slice(0, 300)}`;
        // 400: the form of the value is invalid, and the error says so.
        expect([501, 400], what).toContain(status);
        if (status !== 501) continue;
        expect(body, what).toMatchObject({ code: "not_configured", retryable: false });
        expect(body.next_action, what).toMatch(/connect|import/);
        expect(body.error.details[0].fix).toContain(`/v1/catalog/${name}`);
      }
      expect(await balance()).toBe(before);
    },
    60_000,
  );

  test.each(operations.map(({ name }) => name))(
    "%s: every published sample is found, free, and the answer says that it is a sample",
    async (name) => {
      const before = await balance();
      const entry = (await service.call(`/v1/catalog/${name}`)).body;
      expect(entry.data).toBe("sample");
      expect(entry.samples.length).toBeGreaterThan(0);
      expect(entry.samples).toContainEqual(entry.example);
      for (const { params } of entry.samples) {
        const { status, body } = await ask(name, params);
        const what = `${JSON.stringify(params)}: ${JSON.stringify(body).slice(0, 300)}`;
        expect(status, what).toBe(200);
        expect(body.sample, what).toBe(true);
        expect(body.warnings[0], what).toContain("sample");
        expect(body.usage, what).toMatchObject({
          tokens: 0,
          billed: false,
          reason: "sample",
          list_tokens: entry.price.tokens,
        });
        for (const record of [body.data].flat()) expect(record.source.kind, what).toBe("sample");
        expect([body.data].flat().length, what).toBeGreaterThan(0);
      }
      expect(await balance()).toBe(before);
    },
  );

  test("needs no balance and holds nothing, and a retry with a key is answered again", async () => {
    const made = await service.call("/admin/v1/accounts", { body: { name: "poor", tokens: 0, keys: 1 } });
    const [key] = made.body.keys;
    const body = { operation: "legal_cases", params: { query: "民间借贷" } };
    const headers = { "idempotency-key": "same" };
    const first = await service.call("/v1/data/query", { key, body, headers });
    const second = await service.call("/v1/data/query", { key, body, headers });
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(second.body.data).toEqual(first.body.data);
    const ledger = await service.call("/v1/ledger", { key });
    expect(ledger.body.data.filter(({ kind }: { kind: string }) => kind !== "grant")).toEqual([]);
    const [row] = (await service.call("/v1/usage", { key })).body.data;
    expect(row).toMatchObject({ calls: 2, billed_calls: 0, tokens: 0 });
  });

  test("an estimate and a dry run cost 0 and say that only samples answer", async () => {
    const body = { operation: "research_paper_search", params: { query: "神经网络" } };
    const estimate = await service.call("/v1/data/estimate", { body });
    expect(estimate.body).toMatchObject({ tokens: 0, sample: true });
    const dry = await service.call("/v1/data/query", { body: { ...body, dry_run: true } });
    expect(dry.body).toMatchObject({ tokens: 0, sample: true, dry_run: true });
  });

  test("catalogue, prices, status, llms.txt and OpenAPI say so before the call", async () => {
    const get = (path: string) => service.call(path, { key: null });
    for (const entry of (await get("/v1/catalog")).body.data) expect(entry.data).toBe("sample");
    for (const price of (await get("/v1/pricing")).body.data) expect(price.data).toBe("sample");
    for (const state of (await get("/v1/status")).body.data.operations) {
      expect(state).toMatchObject({ data: "sample", newest_day: null });
      expect(state.generated).toBe(state.index?.size ?? 0);
    }
    const llms = (await get("/llms.txt")).text;
    const { schemas } = (await get("/openapi.json")).body.components;
    for (const { name } of operations) {
      const { example } = (await get(`/v1/catalog/${name}`)).body;
      expect(schemas[`${name}.request`].examples[0].params).toEqual(example.params);
      const line = llms.split("\n").find((each) => each.startsWith(`- [${name}]`));
      expect(line).toMatch(/samples only/i);
      expect(schemas[`${name}.request`].description).toMatch(/samples only/i);
    }
  });
});

test("with an import the operation has its price, and every page says so", async () => {
  const file = join(files, "patents.jsonl");
  writeFileSync(
    file,
    `${JSON.stringify({
      patent_id: "p1",
      title: "一种折叠屏铰链",
      type: "invention",
      legal_status: "granted",
      legal_status_text: "授权",
      application_date: "2024-02-29",
    })}\n`,
  );
  await importFileInto(service.folder, "research_patent_search", file);
  await expect
    .poll(async () => (await ask("research_patent_search", { query: "折叠屏铰链" })).status, {
      timeout: 20_000,
    })
    .toBe(200);
  const { body } = await ask("research_patent_search", { query: "铰链" });
  expect(body).toMatchObject({ usage: { tokens: 500, reason: null }, data: [{ patent_id: "p1" }] });
  expect(body.sample).toBeUndefined();
  const entry = (await service.call("/v1/catalog/research_patent_search")).body;
  expect(entry).toMatchObject({ data: "imported", samples: expect.any(Array) });
  expect((await service.call("/llms.txt")).text).toMatch(
    /research_patent_search\].*500 tokens\. Held here: 1 patent, of 2024-02-29\.\n/,
  );
  const get = async (path: string) => (await service.call(path, { key: null })).body;
  const day = { oldest_day: "2024-02-29", newest_day: "2024-02-29" };
  const imported = {
    data: "imported",
    newest_day: "2024-02-29",
    coverage: {
      text: { en: "1 patent, of 2024-02-29", zh: "1 件专利，2024-02-29" },
      records: 1,
      ...day,
      parts: [],
    },
  };
  const { data: prices } = await get("/v1/pricing");
  const { operations: states } = (await get("/v1/status")).data;
  const { data: entries } = await get("/v1/catalog");
  const isPatents = ({ operation }: { operation: string }) => operation === "research_patent_search";
  for (const list of [prices, states, entries]) expect(list.find(isPatents)).toMatchObject(imported);
  expect(states.find(isPatents)).toMatchObject({ index: { size: 1 }, generated: 0 });
  const { schemas } = (await get("/openapi.json")).components;
  expect(schemas["research_patent_search.request"].description).toContain(
    "Held here: 1 patent, of 2024-02-29",
  );
}, 60_000);

test("hosted: live keys get no samples unless the operator turns them on; test keys do", async () => {
  const hosted = await startInProcess({ DATAQ_MODE: "hosted" }, { isScripted: false });
  try {
    const body = { operation: "enterprise_company_detail", params: { tax_id: "91330106MA0000007Q" } };
    expect(await hosted.call("/v1/data/query", { body })).toMatchObject({
      status: 501,
      body: { code: "not_configured" },
    });
    expect((await hosted.call("/v1/catalog/enterprise_company_detail")).body.data).toBe("none");
    const made = await hosted.call("/v1/keys", { body: { name: "sandbox", mode: "test" } });
    for (const [operation, params] of [
      ["enterprise_company_detail", body.params],
      ["research_paper_search", { query: "神经网络" }],
    ] as const) {
      const answer = await hosted.call("/v1/data/query", {
        key: made.body.secret ?? made.body.key,
        body: { operation, params },
      });
      expect(answer, JSON.stringify(answer.body)).toMatchObject({
        status: 200,
        body: { sample: true, usage: { tokens: 0, reason: "sandbox" } },
      });
    }
  } finally {
    await hosted[Symbol.asyncDispose]();
  }
}, 60_000);
