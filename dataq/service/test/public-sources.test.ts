import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findOperation, type Operation } from "@dataq/contract";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { captureOutput } from "../../../locallm/test/captured-output.ts";
import { runCommandLine } from "../src/cli/command-line.ts";
import type { ContractEntry } from "../src/connector/configured.ts";
import { removeContract, writeContract } from "../src/connector/connectors-file.ts";
import { environmentOf, makeDataFolder, removeDataFolder } from "./data-folder.ts";
import { type PublicSources, startPublicSources } from "./public-sources.ts";
import { type ServiceProcess, startService } from "./service-process.ts";

let sources: PublicSources;
let folder: string;
let service: ServiceProcess;
let key: string;

/** `dataq` as an operator runs it on the service's machine. */
const dataq = (...words: string[]) => captureOutput(environmentOf(folder), () => runCommandLine(words));

const written = () => JSON.parse(readFileSync(join(folder, "connectors.json"), "utf8"));

async function ask(operation: string, params: Record<string, string>, more = {}) {
  return service.call("/v1/data/query", { key, body: { operation, params, ...more } });
}

beforeAll(async () => {
  sources = await startPublicSources();
  folder = await makeDataFolder("first start");
  service = await startService({ folder });
  const { body } = await service.call("/admin/v1/accounts", {
    body: { name: "buyer", tier: "pro", tokens: 100_000_000 },
  });
  key = body.keys[0];
});
afterAll(async () => {
  await service?.stop();
  sources?.close();
  await removeDataFolder(folder);
});
beforeEach(() => sources.behave("well"));

const given: Readonly<Record<string, readonly string[]>> = {
  openalex: ["--set", "key=oa-key-1"],
  crossref: ["--set", "mailto=somebody@example.org"],
  arxiv: [],
  doaj: [],
  orcid: ["--set", "token=orcid-token-1"],
  gleif: [],
  epo: ["--set", "key=consumer-1", "--set", "secret=hidden-1"],
  lens: ["--set", "token=lens-token-1"],
  "17track": ["--set", "token=track-token-1"],
  tianyancha: ["--set", "token=tyc-token-1"],
  qichacha: ["--set", "key=qcc-key-1", "--set", "secret=qcc-secret-1"],
  juhe: ["--set", "key=juhe-key-1"],
  "aliyun-market": ["--set", "appcode=app-code-1"],
  netocr: ["--set", "key=ocr-key-1", "--set", "secret=ocr-secret-1"],
};

const connect = (name: string, ...more: string[]) =>
  dataq("connect", name, "--base", `${sources.base}/${name}`, ...(given[name] ?? []), ...more);

/** Connects without a test, and removes the contract when the block ends, so that the next one is asked first. */
async function connected(name: string, more: Partial<ContractEntry> = {}, base = sources.base) {
  const path = join(folder, "connectors.json");
  const settings = Object.fromEntries(
    (given[name] ?? []).flatMap((word) => (word.includes("=") ? [word.split("=") as [string, string]] : [])),
  );
  await writeContract(path, { preset: name, base: `${base}/${name}`, credentials: settings, ...more });
  await followed(name, true);
  return {
    async [Symbol.asyncDispose]() {
      // Unlike a change of the file, this takes effect at once.
      await service.call(`/admin/v1/connectors/${name}`, { method: "DELETE" });
      await followed(name, false);
    },
  };
}

/** Waits until the service has read the file, and until a pause that an earlier test caused is over. */
async function followed(name: string, isThere: boolean): Promise<void> {
  const isAsked = async () => {
    const { data } = (await service.call("/admin/v1/connectors")).body;
    return data.some(
      (each: { name: string; paused_until: string | null }) =>
        each.name === name && each.paused_until === null,
    );
  };
  await expect.poll(isAsked, { timeout: 10_000, interval: 40 }).toBe(isThere);
}

describe("a public source answers an operation in the form of the contract", () => {
  const records: Readonly<Record<string, readonly [string, Record<string, string>, object]>> = {
    "openalex works": [
      "research_paper_search",
      { query: "神经网络", author: "陈,明|filter", date_from: "2020-01-01" },
      {
        paper_id: "W4000000000",
        doi: null,
        abstract: "本文 提出 一种 方法",
        authors: [{ name: "陈明", orcid: "0000-0002-1825-0097", corresponding: true }],
        journal: { name: "计算机研究与发展", issn: "1000-1239", pages: "1021-1033" },
        source: { name: "OpenAlex", licence: "CC0", url: "https://openalex.org/W4000000000" },
      },
    ],
    "openalex authors": [
      "research_scholar_search",
      { name: "陈明" },
      {
        affiliations: [
          { name: "浙江大学", current: true },
          { name: "清华大学", current: false },
        ],
        h_index: 15,
        publications_total: 42,
      },
    ],
    "openalex sources": [
      "research_journal_search",
      { query: "0254-4164" },
      { issn: "0254-4164", impact_factor: { value: 2.412, kind: "OpenAlex 2-year mean citedness" } },
    ],
    "crossref works": [
      "research_paper_search",
      { query: "deep learning" },
      {
        doi: "10.1000/xyz.1",
        title: "On deep learning & law",
        authors: [{ name: "陈明" }],
        publication_date: null,
        year: 2022,
        retracted: true,
        source: { name: "Crossref" },
      },
    ],
    "arxiv papers": [
      "research_paper_search",
      { query: 'court "OR" all:secret' },
      {
        paper_id: "2301.00001",
        title: "Courts & code part 1",
        abstract: "A <formal> model.",
        type: "preprint",
      },
    ],
    "doaj journals": [
      "research_journal_search",
      { query: "中国科学数据" },
      { name: "中国科学数据", eissn: "2096-2223", is_oa: true, source: { licence: "CC BY-SA 4.0" } },
    ],
    "orcid people": [
      "research_scholar_search",
      { name: "陈明" },
      { name: "陈明", works_count: 7, orcid: "0000-0002-1825-0097", source: { name: "ORCID" } },
    ],
    "epo patents": [
      "research_patent_search",
      { query: "battery" },
      {
        patent_id: "CN108123456A",
        application_no: "CN201810012345",
        application_date: "2018-01-05",
        applicants: ["某电池有限公司"],
        legal_status: "unknown",
        source: { name: "欧洲专利局（OPS）" },
      },
    ],
    "lens patents": [
      "research_patent_search",
      { query: '电池" OR jurisdiction:US', applicant: "某电池有限公司", date_from: "2018-01-01" },
      {
        patent_id: "CN108123456A",
        title: "电池",
        abstract: "A battery.",
        application_no: "CN201810012345",
        application_date: "2018-01-05",
        publication_date: "2018-06-05",
        // Joined by the number of the application: the European office knows its grant.
        grant_no: "CN108123457B",
        inventors: ["CHEN MING"],
        legal_status: "pending",
        source: { name: "The Lens", url: "https://www.lens.org/lens/patent/186-488-232-022-050" },
      },
    ],
    "gleif company": [
      "enterprise_company_detail",
      { tax_id: "91330106MA0000007Q" },
      {
        name: "杭州某某科技有限公司",
        status_code: "active",
        registration_date: "2016-03-01",
        address: "文三路 1 号 3 层",
        source: { url: "https://search.gleif.org/#/record/3003005G9ZTPRRN1YZ44", kind: "official" },
      },
    ],
    "tianyancha company": [
      "enterprise_company_detail",
      { tax_id: "91330106MA0000007Q" },
      {
        status_code: "active",
        registration_date: "2016-03-01",
        former_names: ["杭州旧名有限公司"],
        registered_capital: { amount: "1000", unit: "万元", currency: "CNY" },
        insured_count: 35,
        source: { name: "天眼查", kind: "licensed" },
      },
    ],
    "qichacha company": [
      "enterprise_company_detail",
      { tax_id: "91330106MA0000007Q" },
      { status_code: "revoked", former_names: ["杭州旧名有限公司"], source: { name: "企查查" } },
    ],
    "tianyancha debtors": [
      "enterprise_shixin_check",
      { company_name: "欠款有限公司" },
      {
        subject_type: "company",
        performance_code: "none",
        conduct: ["违反财产报告制度", "其他规避执行"],
        filed_date: "2023-01-02",
      },
    ],
    "tianyancha enforcement": [
      "enterprise_zhixing_check",
      { company_name: "欠款有限公司" },
      { case_no: "（2024）浙0106执2号", amount: "65000", filed_date: "2024-02-01", status: "in_progress" },
    ],
    "tianyancha newest report": [
      "enterprise_annual_report",
      { tax_id: "91330106MA0000007Q" },
      {
        report_year: 2025,
        employee_count: null,
        employee_count_public: false,
        years_available: [2023, 2024, 2025],
        insured: { pension: 12, medical: null },
        financials: {
          total_assets: { amount: "12835000", public: true },
          total_liabilities: { amount: null, public: false },
        },
        shareholders: [{ name: "陈明", subscribed: "1000000", subscribed_date: "2030-01-01", paid_in: null }],
      },
    ],
    "qichacha enforcement": [
      "enterprise_zhixing_check",
      { company_name: "欠款有限公司" },
      { court: "杭州市西湖区人民法院", amount: "65000", source: { name: "企查查" } },
    ],
    "qichacha newest report": [
      "enterprise_annual_report",
      { tax_id: "91330106MA0000007Q" },
      {
        report_year: 2024,
        published_date: "2025-06-01",
        financials: { total_assets: { amount: "5000000" }, net_profit: { amount: "-32000" } },
        years_available: [2022, 2024],
      },
    ],
    "juhe newest report": [
      "enterprise_annual_report",
      { tax_id: "91330106MA0000007Q" },
      {
        report_year: 2024,
        employee_count: 12,
        // A sum without a unit is not guessed.
        financials: { revenue: { amount: "3000000" }, net_profit: { amount: null, public: true } },
        source: { name: "聚合数据", kind: "licensed" },
      },
    ],
    "aliyun-market parcel": [
      "cloud_express_tracking",
      { express_no: "SF1000000000024", phone_tail: "1234" },
      {
        express_no: "SF1000000000024",
        carrier_code: "zhongtong",
        state: "delivered",
        signed: true,
        last_event_at: "2026-11-20T13:29:58+08:00",
        events: [{ description: "已签收" }, { time: "2026-11-19T08:00:00+08:00" }],
      },
    ],
    "netocr invoice": [
      "enterprise_tax_invoice",
      {
        invoice_code: "033002100111",
        invoice_number: "10000001",
        issue_date: "2026-03-02",
        amount: "100.00",
      },
      {
        result: "match",
        authentic: true,
        status: "red_flushed",
        total: "106.00",
        seller: { name: "甲公司" },
      },
    ],
    "netocr other sum": [
      "enterprise_tax_invoice",
      { invoice_code: "033002100111", invoice_number: "10000001", issue_date: "2026-03-02", amount: "99" },
      { result: "mismatch", authentic: false, seller: null, total: null },
    ],
  };

  test.each(Object.entries(records))("%s", async (name, [operation, params, wanted]) => {
    const [source = ""] = name.split(" ");
    await using _ = await connected(source);
    const { status, body } = await ask(operation, params);
    expect([status, body.code]).toEqual([200, undefined]);
    const { kind, record } = findOperation(operation) as Operation;
    const first = kind === "list" ? body.data[0] : body.data;
    expect(record.strict().safeParse(first).error).toBeUndefined();
    expect(first).toMatchObject(wanted);
    expect(body.usage.tokens).toBeGreaterThan(0);
  });
});

test("an invoice of which too little is said is not charged, and one that nobody knows is 404", async () => {
  await using _ = await connected("netocr");
  const params = { invoice_code: "033002100111", invoice_number: "10000001" };
  const { body } = await ask("enterprise_tax_invoice", params);
  expect(body.data.result).toBe("insufficient_elements");
  expect(body.usage.tokens).toBe(0);
  const unknown = await ask("enterprise_tax_invoice", { ...params, invoice_number: "10000009" });
  expect(unknown.status).toBe(404);
});

test("what a vendor says is left stands beside what the operator counts, and is asked again after ten minutes only", async () => {
  await using _ = await connected("17track");
  const asked = () => sources.requests.filter(({ path }) => path.endsWith("/getquota")).length;
  const row = async () => {
    const { data } = (await service.call("/admin/v1/connectors")).body;
    return data.find((each: { name: string }) => each.name === "17track");
  };
  expect(await row()).toMatchObject({
    balance_fen: null,
    stated: { amount: 62, unit: "requests" },
    cost_fen: 0,
  });
  const { body: entry } = await service.call("/v1/catalog/cloud_express_tracking");
  expect(entry).toMatchObject({ data: "connector", publishers: ["17TRACK"], real_since: null });
  const before = asked();
  expect(before).toBeGreaterThan(0);
  await row();
  const { out } = await dataq("connect");
  expect(out).toContain("the vendor says: 62 requests left");
  expect(asked()).toBe(before);
});

test("a filter that a caller writes cannot become another filter, another field or another host", async () => {
  await using _ = await connected("openalex");
  await ask("research_paper_search", { query: "x", author: "陈,明|from_publication_date:1900-01-01" });
  expect(sources.requests.at(-1)?.query["filter"]).toBe(
    "raw_author_name.search:陈 明 from_publication_date:1900-01-01",
  );
});

test("what a caller writes stays the value of a match, and a number is looked up as one", async () => {
  await using _ = await connected("lens", { limits: { per_minute: 6_000 } });
  const sent = () => JSON.parse(sources.requests.at(-1)!.body).query.bool.must;
  await ask("research_patent_search", { query: 'x" } OR *:*' }, { cache: "bypass" });
  expect(sent()).toEqual([
    { term: { jurisdiction: "CN" } },
    {
      bool: {
        should: ["title", "abstract", "applicant.name"].map((field) => ({
          match: { [field]: 'x" } OR *:*' },
        })),
      },
    },
  ]);
  const { body } = await ask("research_patent_search", { query: "CN108123456A" }, { page: 2, page_size: 3 });
  expect(sent()[1].bool.should[0]).toEqual({ term: { doc_number: "108123456" } });
  expect(body).toMatchObject({
    total: 4,
    data: [{ type: "design", legal_status: "expired", publication_no: null }],
  });
});

test("pages of ours are the pages of the source, and what lies beyond the last one is free", async () => {
  await using _ = await connected("openalex");
  const second = await ask("research_paper_search", { query: "神经" }, { page: 3, page_size: 25 });
  expect(second.body).toMatchObject({ page: 3, total: 57 });
  expect(second.body.data).toHaveLength(7);
  expect(second.body.data[0].paper_id).toBe("W4000000050");
  const beyond = await ask("research_paper_search", { query: "神经" }, { page: 4, page_size: 25 });
  expect(beyond.body.usage?.tokens ?? 0).toBe(0);
});

test("a parcel is registered first; the call before its first answer is free and says when to come again", async () => {
  await using _ = await connected("17track");
  const parcel = { express_no: "YT1000000000024" };
  const early = await ask("cloud_express_tracking", parcel);
  expect(early).toMatchObject({ status: 503, body: { code: "unavailable", retry_after: 60 } });
  const { status, body } = await ask("cloud_express_tracking", parcel);
  expect(status).toBe(200);
  expect(body.data).toMatchObject({
    state: "delivered",
    signed_at: "2026-02-03T18:30:00+08:00",
    origin: "CN 杭州",
    events: [{ description: "已签收，电话138****5678" }, { state: "collected" }],
  });
  const { data } = (await service.call("/admin/v1/connectors")).body;
  expect(data.find(({ name }: { name: string }) => name === "17track")).toMatchObject({ last_failure: null });
});

describe("dataq connect", () => {
  test("lists vendors, what they ask for, and that nobody has run them against the real ones", async () => {
    const { out } = await dataq("connect");
    for (const name of Object.keys(given)) expect(out).toContain(name);
    expect(out).toContain("never run against a real account");
    expect(out).toMatch(/epo .*key, secret/);
  });

  test("tests the vendor, writes the contract for its owner only, and the running service follows", async () => {
    const before = await ask("enterprise_company_detail", { tax_id: "91330106MA0000007Q" });
    expect(before.body.data?.source.kind).toBe("sample");
    const { code, out, err } = await connect("gleif");
    expect([code, err]).toEqual([0, expect.stringContaining("enterprise_company_detail: record")]);
    expect(out).toContain("enterprise_company_detail (Company details) is answered by GLEIF now.");
    expect(statSync(join(folder, "connectors.json")).mode & 0o777).toBe(0o600);
    await expect
      .poll(
        async () =>
          (await ask("enterprise_company_detail", { tax_id: "91330106MA0000007Q" })).body.data.source.name,
        {
          timeout: 5_000,
        },
      )
      .toBe("GLEIF");
    expect((await dataq("disconnect", "gleif")).code).toBe(0);
    await followed("gleif", false);
    expect(written().contracts).toEqual([]);
  });

  test.each([
    ["a wrong key", ["tianyancha", "--set", "token=tyc-token-2"], "账号失效"],
    ["no key", ["tianyancha"], "needs the credentials token"],
    ["an unknown credential", ["gleif", "--set", "token=x-y-z"], "has no credential token"],
    ["a vendor that nobody knows", ["lense"], "There is no preset lense"],
    [
      "an operation of another vendor",
      ["gleif", "--operations", "legal_cases"],
      "does not answer legal_cases",
    ],
  ])("%s writes nothing, and says why without showing a credential", async (_, args, wanted) => {
    const [name = "", ...rest] = args;
    const { code, out, err } = await dataq("connect", name, "--base", `${sources.base}/${name}`, ...rest);
    expect(code).not.toBe(0);
    expect(err).toContain(wanted);
    expect(out + err).not.toMatch(/tyc-token-2|x-y-z/);
  });

  test("a vendor that nobody described before is connected by a file alone", async () => {
    const preset = {
      name: "my-register",
      publisher: { en: "My register", zh: "某登记库" },
      kind: "licensed",
      base: `${sources.base}/tianyancha`,
      credentials: { token: { title: { en: "Token", zh: "令牌" } } },
      computed: {
        stamp: { now: "s" },
        sign: { of: "{stamp}{tax_id}", hash: "hmac-sha256", secret: "{token}", as: "base64" },
      },
      headers: { authorization: "{token}", "x-sign": "{sign}", "x-stamp": "{stamp}" },
      errors: [{ path: "error_code", equals: [300000], means: "not_found" }],
      operations: {
        enterprise_company_detail: {
          steps: [
            {
              request: {
                url: "{base}/services/open/ic/baseinfo/normal",
                query: { keyword: "{tax_id}" },
                free: true,
              },
              take: { code: "result.creditCode" },
              missing: "not_found",
            },
          ],
          request: { url: "{base}/services/open/ic/baseinfo/normal", query: { keyword: "{code}" } },
          answer: { record: "result", fields: { tax_id: "creditCode", name: "name", status: "regStatus" } },
        },
      },
    };
    const file = join(folder, "my-register.json");
    writeFileSync(file, JSON.stringify(preset));
    const { code, err } = await dataq("connect", file, "--set", "token=tyc-token-1");
    expect([code, err]).toEqual([0, expect.stringContaining("record")]);
    await followed("my-register", true);
    const { body } = await ask(
      "enterprise_company_detail",
      { tax_id: "91330106MA0000007Q" },
      { cache: "bypass" },
    );
    expect(body.data).toMatchObject({ status_code: "active", source: { name: "某登记库" } });
    const trial = await service.call("/admin/v1/connectors/enterprise_company_detail/test", { body: {} });
    expect(trial.body.exchanges).toHaveLength(2);
    const sent = sources.requests.at(-1)?.headers["x-sign"] as string;
    expect(sent).toMatch(/^[A-Za-z0-9+/]{43}=$/);
    expect(trial.text).not.toContain(sent);
    expect(trial.text).not.toContain("tyc-token-1");
    await dataq("disconnect", file);
    await followed("my-register", false);
  });

  test("a preset with a mistake is refused with its place", async () => {
    const file = join(folder, "bad.json");
    writeFileSync(
      file,
      JSON.stringify({ name: "Bad Name", publisher: { en: "x" }, kind: "licensed", operations: {} }),
    );
    const { code, err } = await dataq("connect", file);
    expect(code).not.toBe(0);
    expect(err).toContain("name: expected");
    expect(err).toContain("publisher.zh: expected");
  });
});

describe("several vendors for one operation", () => {
  const company = { tax_id: "91330106MA0000007Q" };

  test("the next one answers if the first one limits, refuses, breaks, changes or dies; nothing else is charged", async () => {
    const spare = await startPublicSources();
    try {
      const operations = ["enterprise_company_detail"];
      await using _first = await connected("tianyancha", { operations, cost_fen: 1.5 });
      await using _second = await connected("qichacha", { operations, cost_fen: 0.4 }, spare.base);
      const name = async () => {
        const { status, body } = await ask("enterprise_company_detail", company, { cache: "bypass" });
        return [status, body.data?.source.name];
      };
      expect(await name()).toEqual([200, "天眼查"]);
      for (const how of ["changed", "cut", "broken", "refused", "limited"] as const) {
        sources.behave(how);
        expect([how, ...(await name())]).toEqual([how, 200, "企查查"]);
      }
      const requests = sources.requests.length;
      expect(await name()).toEqual([200, "企查查"]);
      // The pause that the vendor asked for is kept: it is not asked again.
      expect(sources.requests).toHaveLength(requests);
      const { data } = (await service.call("/admin/v1/connectors")).body;
      const row = data.find((each: { name: string }) => each.name === "tianyancha");
      expect(row.paused_until).not.toBeNull();
      // One was answered. Another one was cut, so that the vendor may bill it.
      expect(row.cost_fen).toBe(3);
      const call = await ask("enterprise_company_detail", company, { cache: "bypass" });
      await expect
        .poll(async () => (await service.call(`/v1/requests/${call.body.request_id}`)).body.status, {
          timeout: 20_000,
        })
        .toBe(200);
      const seen = (await service.call(`/v1/requests/${call.body.request_id}`)).body;
      expect(seen.vendor_requests).toMatchObject([
        { contract: "qichacha", cost_fen: 0.4, outcome: "answered", status: 200 },
      ]);
      const own = (await service.call(`/v1/requests/${call.body.request_id}`, { key })).body;
      expect(own).not.toHaveProperty("vendor_requests");
      // Who tests a vendor with success has mended what was wrong.
      sources.behave("well");
      const test = { operation: "enterprise_company_detail", contract: "tianyancha" };
      const tested = await service.call(`/admin/v1/connectors/${test.operation}/test`, {
        body: { contract: test.contract },
      });
      expect(tested.body.outcome).toBe("record");
      expect(await name()).toEqual([200, "天眼查"]);
      sources.behave("broken");
      spare.behave("broken");
      const none = await ask("enterprise_company_detail", company, { cache: "bypass" });
      expect(none.status).toBeGreaterThanOrEqual(502);
      expect(none.body.usage?.tokens ?? 0).toBe(0);
    } finally {
      spare.close();
    }
  });

  test("none is asked after one that failed if both together cost more than the call brings", async () => {
    const dear = { operations: ["enterprise_company_detail"], cost_fen: 999 };
    await using _first = await connected("gleif", dear);
    await using _second = await connected("qichacha", dear);
    const from = sources.requests.length;
    sources.behave("changed");
    const { status } = await ask("enterprise_company_detail", company, { cache: "bypass" });
    expect(status).toBe(502);
    expect(sources.requests).toHaveLength(from + 1);
  });
});

test("the balance is what was paid in less what requests cost, and a vendor without money is told to the operator", async () => {
  const since = new Date(Date.now() - 1_000).toISOString();
  const operations = ["enterprise_company_detail"];
  await using _ = await connected("tianyancha", { operations, cost_fen: 12.5, balance: { fen: 100, since } });
  const before = (await service.call("/admin/v1/connectors")).body.data[0];
  for (let n = 0; n < 2; n++)
    await ask("enterprise_company_detail", { tax_id: "91330106MA0000007Q" }, { cache: "bypass" });
  const row = async () => (await service.call("/admin/v1/connectors")).body.data[0];
  expect((await row()).balance_fen).toBe(before.balance_fen - 25);
  const vendors = (await service.call("/admin/v1/vendors")).body.data;
  const [own, other] = ["tianyancha", "gleif"].map((name) =>
    vendors.find((each: { name: string }) => each.name === name),
  );
  expect([own.balance_fen, other.balance_fen]).toEqual([before.balance_fen - 25, null]);
  sources.behave("poor");
  const poor = await ask("enterprise_company_detail", { tax_id: "91330106MA0000007Q" }, { cache: "bypass" });
  expect(poor).toMatchObject({ status: 503, body: { code: "unavailable" } });
  expect(await row()).toMatchObject({ is_out_of_money: true, paused_why: expect.stringContaining("402") });
  const { out } = await dataq("connect");
  expect(out).toContain(`¥${((before.balance_fen - 25) / 100).toFixed(2)} left`);
  expect(out).toContain("out of money");
  await service.call("/admin/v1/connectors/enterprise_company_detail/test", { body: {} });
  sources.behave("well");
  await service.call("/admin/v1/connectors/enterprise_company_detail/test", { body: {} });
  expect(await row()).toMatchObject({ is_out_of_money: false, paused_until: null });
});

describe("what several sources know of one thing is one record", () => {
  const company = { tax_id: "91330106MA0000007Q" };

  /** Asks until all of them have answered: after the tests before, one may be left out because it may not be asked so soon. */
  async function askedOf(
    names: string,
    operation: string,
    params: Record<string, string>,
  ): ReturnType<typeof ask> {
    let answer = await ask(operation, params, { cache: "bypass" });
    const sourceOf = ({ data }: typeof answer.body) => (Array.isArray(data) ? data[0] : data)?.source.name;
    for (let tries = 0; sourceOf(answer.body) !== names && tries < 20; tries++) {
      await new Promise((resolve) => setTimeout(resolve, 500));
      answer = await ask(operation, params, { cache: "bypass" });
    }
    return answer;
  }

  test("a vendor that joins adds its values, both are named, and a difference tells each one's", async () => {
    await using _first = await connected("gleif");
    await using _second = await connected("qichacha", {
      join: true,
      operations: ["enterprise_company_detail"],
    });
    const { body } = await askedOf("GLEIF; 企查查", "enterprise_company_detail", company);
    const { record } = findOperation("enterprise_company_detail") as Operation;
    expect(record.strict().safeParse(body.data).error).toBeUndefined();
    expect(body.data).toMatchObject({
      status_code: "active",
      former_names: ["杭州旧名有限公司"],
      source: {
        name: "GLEIF; 企查查",
        kind: "official",
        publishers: [{ name: "GLEIF" }, { name: "企查查" }],
      },
    });
    const status = body.data.source.differences.find(
      ({ field }: { field: string }) => field === "status_code",
    );
    expect(status.values).toMatchObject([
      { publisher: "GLEIF", value: "active" },
      { publisher: "企查查", value: "revoked" },
    ]);
  });

  test("it is not asked where both cost more than the call brings, and one that fails is named", async () => {
    const spare = await startPublicSources();
    try {
      const operations = ["enterprise_company_detail"];
      await using _first = await connected("gleif");
      // Earlier tests made the vendor fail, and the pace of the preset belongs to the installation.
      const answered = async () => {
        let answer = await ask("enterprise_company_detail", company, { cache: "bypass" });
        for (let tries = 0; answer.status === 503 && tries < 20; tries++) {
          // Each try is a failure of the vendor that is broken below, and after five it is left alone.
          await new Promise((resolve) => setTimeout(resolve, 500));
          answer = await ask("enterprise_company_detail", company, { cache: "bypass" });
        }
        return answer;
      };
      {
        await using _dear = await connected(
          "qichacha",
          { join: true, operations, cost_fen: 9_999 },
          spare.base,
        );
        const { body } = await answered();
        expect([body.data.source.name, body.warnings ?? []]).toEqual(["GLEIF", []]);
        expect(spare.requests).toHaveLength(0);
      }
      spare.behave("broken");
      await using _second = await connected("qichacha", { join: true, operations }, spare.base);
      const { body } = await answered();
      expect(body.data.source).toMatchObject({ name: "GLEIF" });
      expect(body.warnings).toEqual([expect.stringContaining("企查查 did not answer in time")]);
    } finally {
      spare.close();
    }
  });

  test("papers, scholars and journals are asked for by their numbers in one list each", async () => {
    await using _first = await connected("openalex");
    await using _crossref = await connected("crossref", { join: true });
    await using _orcid = await connected("orcid", { join: true });
    await using _doaj = await connected("doaj", { join: true });
    const papers = await ask("research_paper_search", { query: "神经" }, { cache: "bypass" });
    expect(papers.body.data).toHaveLength(20);
    const { query } = sources.requests.findLast(({ path }) => path === "/crossref/works")!;
    expect(query["filter"]).toContain("doi:10.1000/standin.1,doi:10.1000/standin.2,doi:10.1000/standin.4");
    const scholars = await ask("research_scholar_search", { name: "陈明" }, { cache: "bypass" });
    expect(scholars.status).toBe(200);
    const asked = sources.requests.findLast(({ path }) => path.startsWith("/orcid/expanded-search"));
    expect(asked?.query["q"]).toBe("orcid:0000-0002-1825-0097");
    expect(scholars.body.data[0].source).toMatchObject({ name: "ORCID; OpenAlex", kind: "official" });
    await ask("research_journal_search", { query: "0254-4164" }, { cache: "bypass" });
    const journals = sources.requests.findLast(({ path }) => path.startsWith("/doaj/search/journals/"));
    expect(journals?.path).toContain("issn:0254-4164");
  });

  test("records of two lists of debtors are one by case and name", async () => {
    await using _first = await connected("tianyancha");
    await using _second = await connected("qichacha", { join: true });
    const { body } = await askedOf("企查查; 天眼查", "enterprise_zhixing_check", {
      company_name: "欠款有限公司",
    });
    expect(body.data).toHaveLength(1);
    expect(body.data[0]).toMatchObject({
      id_no_masked: "91330106****0007Q",
      source: { name: "企查查; 天眼查" },
    });
  });

  test("a vendor that is described by a file is asked by number about what another one found", async () => {
    const preset = {
      name: "my-papers",
      publisher: { en: "My papers", zh: "某文献库" },
      kind: "licensed",
      base: `${sources.base}/crossref`,
      operations: {
        research_paper_search: {
          request: { url: "{base}/works", query: { query: "{query}", rows: "{page_size}" } },
          by_number: {
            kind: "doi",
            request: { url: "{base}/works", query: { filter: "doi:{numbers}", offset: "0" } },
            separator: ",doi:",
          },
          answer: {
            record: "message.items",
            total: "message.total-results",
            fields: {
              id: "DOI",
              paper_id: "DOI",
              doi: "DOI",
              title: "title.0",
              citation_count: "is-referenced-by-count",
            },
            constants: { type: "article", retracted: false },
          },
        },
      },
    };
    writeFileSync(join(folder, "my-papers.json"), JSON.stringify(preset));
    await using _first = await connected("openalex");
    const path = join(folder, "connectors.json");
    await writeContract(path, { preset: "./my-papers.json", join: true });
    await followed("my-papers", true);
    try {
      const { body } = await ask("research_paper_search", { query: "神经网络" }, { page_size: 30 });
      const both = body.data.filter((each: { source: { name: string } }) =>
        each.source.name.includes("某文献库"),
      );
      expect(both.length).toBeGreaterThan(0);
      expect(sources.requests.filter(({ query }) => query["filter"]?.startsWith("doi:10."))).not.toEqual([]);
    } finally {
      await removeContract(path, "./my-papers.json");
      await followed("my-papers", false);
    }
  });

  test("imported records are joined to what a vendor found, and answer what it does not have", async () => {
    const rows = join(folder, "companies.jsonl");
    const row = { status: "存续", former_names: [], status_code: "active" };
    writeFileSync(
      rows,
      [
        { ...row, tax_id: "91330106MA0000007Q", name: "杭州某某科技有限公司", legal_representative: "陈某" },
        { ...row, tax_id: "91211102MA00000157", name: "盘锦某某有限公司" },
      ]
        .map((each) => JSON.stringify(each))
        .join("\n"),
    );
    const imported = await dataq(
      "import",
      "enterprise_company_detail",
      rows,
      "--source",
      "某登记簿",
      "--yes",
    );
    expect([imported.code, imported.err]).toEqual([0, expect.any(String)]);
    await using _ = await connected("gleif");
    const known = async (tax_id: string) =>
      (await ask("enterprise_company_detail", { tax_id }, { cache: "bypass" })).body.data;
    await expect.poll(async () => (await known("91330106MA0000007Q")).source.name).toBe("GLEIF; 某登记簿");
    expect(await known("91330106MA0000007Q")).toMatchObject({
      address: "文三路 1 号 3 层",
      legal_representative: "陈某",
    });
    expect(await known("91211102MA00000157")).toMatchObject({
      name: "盘锦某某有限公司",
      source: { name: "某登记簿" },
    });
  });
});

test("a publisher's limit holds for two services together, and calls wait for their turn", async () => {
  await using _ = await connected("doaj");
  await using other = await startService({ folder });
  const answers = await Promise.all(
    Array.from({ length: 4 }, (_, n) =>
      (n % 2 === 0 ? service : other).call("/v1/data/query", {
        key,
        body: { operation: "research_journal_search", params: { query: `期刊 ${n}` } },
      }),
    ),
  );
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  // The turns that were given; when a request arrives depends on the machine.
  const turns = await Promise.all(
    answers.map(async ({ body }) => {
      // The log is written after the answer was sent.
      const turn = async () =>
        (await service.call(`/v1/requests/${body.request_id}`)).body.vendor_requests?.[0]?.at;
      await expect.poll(turn, { timeout: 20_000 }).toBeDefined();
      return Date.parse(await turn());
    }),
  );
  const sorted = turns.toSorted((a, b) => a - b);
  for (const [n, turn] of sorted.slice(1).entries()) expect(turn - sorted[n]!).toBeGreaterThanOrEqual(499);
});
