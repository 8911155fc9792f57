import fc from "fast-check";
import { expect, test } from "vitest";
import { findOperation, operations } from "./catalog.ts";
import { paramsSchema } from "./json-schema.ts";
import type { Operation } from "./operation.ts";
import { readParams } from "./parameters.ts";

const today = "2026-11-21";

test("has all operations of the specification, each in its domain with a unique name", () => {
  const names = operations.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(specified));
  for (const { name, domain } of operations) expect(name.startsWith(`${domain}_`)).toBe(true);
  expect(new Set(names).size).toBe(names.length);
  expect(new Set(operations.map(({ olderType }) => olderType)).size).toBe(names.length);
});

const specified = [
  "legal_cases",
  "legal_laws",
  "legal_law_catalog",
  "enterprise_company_detail",
  "enterprise_annual_report",
  "enterprise_tax_invoice",
  "enterprise_shixin_check",
  "enterprise_zhixing_check",
  "content_keyword_index",
  "content_wechat_index",
  "content_hot_rank",
  "cloud_express_tracking",
  "research_paper_search",
  "research_patent_search",
  "research_journal_search",
  "research_scholar_search",
];

test.each(operations.map((operation) => [operation.name, operation as Operation] as const))(
  "%s accepts its example, and its normalised form again",
  (_, operation) => {
    const read = readParams(operation, operation.example, today);
    expect(read).toHaveProperty("params");
    if ("params" in read) expect(readParams(operation, read.params, today)).toEqual(read);
  },
);

test.each(operations.map((operation) => [operation.name, operation as Operation] as const))(
  "%s names what is missing, unknown or of the wrong type",
  (_, operation) => {
    for (const [name, schema] of Object.entries(operation.params.shape)) {
      const { [name]: _left, ...rest } = operation.example;
      const without = readParams(operation, rest, today);
      if (schema.safeParse(undefined).success) expect(without).toHaveProperty("params");
      else
        expect(without).toMatchObject({ code: "missing_parameter", details: [{ param: `params.${name}` }] });
      for (const wrong of [1, true, null, {}, [], ["x"]]) {
        expect(readParams(operation, { ...operation.example, [name]: wrong }, today)).toMatchObject({
          code: "invalid_params",
          details: [{ param: `params.${name}` }],
        });
      }
      const typo = `${name}s`;
      expect(readParams(operation, { ...operation.example, [typo]: "x" }, today)).toMatchObject({
        code: "unknown_parameter",
        details: [{ param: `params.${typo}`, fix: `did you mean ${name}?` }],
      });
    }
  },
);

test.each(operations.map((operation) => [operation.name, operation as Operation] as const))(
  "%s reads any text without crashing, and reads its own result unchanged",
  (_, operation) => {
    for (const name of Object.keys(operation.params.shape)) {
      fc.assert(
        fc.property(fc.string({ unit: "binary", maxLength: 300 }), (text) => {
          const read = readParams(operation, { ...operation.example, [name]: text }, today);
          if ("params" in read)
            expect(readParams(operation, read.params, today)).toMatchObject({ params: read.params });
          else expect(read.details[0]?.fix).not.toBe("");
        }),
        { seed: 8, numRuns: 60 },
      );
    }
  },
);

test("a missing date is today in China, and future dates are rejected", () => {
  const rank = findOperation("content_hot_rank") as Operation;
  expect(readParams(rank, { platform: "微博" }, today)).toMatchObject({
    params: { platform: "weibo", date: today },
  });
  expect(readParams(rank, { platform: "weibo", date: "2026-11-22" }, today)).toMatchObject({
    details: [{ param: "params.date", code: "future" }],
  });
  expect(readParams(rank, { platform: "weibo", date: "2010-12-31" }, today)).toMatchObject({
    details: [{ param: "params.date", code: "too_early" }],
  });
});

test("code and number of an invoice must agree", () => {
  const invoice = findOperation("enterprise_tax_invoice") as Operation;
  expect(readParams(invoice, { invoice_code: "3300210011-12345678" }, today)).toMatchObject({
    params: { invoice_code: "3300210011", invoice_number: "12345678" },
  });
  expect(
    readParams(invoice, { invoice_code: "330021001112345678", invoice_number: "87654321" }, today),
  ).toMatchObject({ details: [{ param: "params.invoice_number", code: "conflict" }] });
});

test("an operation without parameters rejects any", () => {
  const catalog = findOperation("legal_law_catalog") as Operation;
  expect(readParams(catalog, {}, today)).toMatchObject({ params: {} });
  expect(readParams(catalog, { query: "x" }, today)).toMatchObject({ code: "unknown_parameter" });
});

const cases = findOperation("legal_cases") as Operation;
const laws = findOperation("legal_laws") as Operation;

test("a filter is a question by itself, and nothing is not", () => {
  expect(readParams(cases, { court: "上海市浦东新区人民法院" }, today)).toMatchObject({
    params: { court: "上海市浦东新区人民法院" },
  });
  expect(readParams(cases, {}, today)).toMatchObject({
    code: "missing_parameter",
    details: [{ param: "params.query" }],
  });
  for (const query of ["", "   "]) {
    expect(readParams(cases, { query, court: "x" }, today)).toEqual({ params: { court: "x" }, warnings: [] });
    expect(readParams(cases, { query }, today)).toMatchObject({
      code: "invalid_params",
      details: [{ param: "params.query", code: "empty", fix: expect.stringContaining("court") }],
    });
  }
  expect(readParams(cases, { query: "", court: "" }, today)).toMatchObject({
    details: [{ param: "params.court", code: "empty" }],
  });
  for (const { params, filters = [] } of operations as readonly Operation[])
    for (const name of filters) expect(params.shape[name]?.safeParse(undefined).success).toBe(true);
  expect(paramsSchema(cases)).toMatchObject({ required: ["query"] });
});

test.each([
  [
    { date_from: "2024", date_to: "2024" },
    { date_from: "2024-01-01", date_to: "2024-12-31" },
  ],
  [
    { date_from: "2024-02", date_to: "2024-02" },
    { date_from: "2024-02-01", date_to: "2024-02-29" },
  ],
  [
    { date_from: " ２０２３－０２ ", date_to: "2023-02" },
    { date_from: "2023-02-01", date_to: "2023-02-28" },
  ],
  [
    { date_from: "2024-02-29", date_to: "2024-02-29" },
    { date_from: "2024-02-29", date_to: "2024-02-29" },
  ],
])("the range %j is %j", (given, read) => {
  expect(readParams(cases, given, today)).toMatchObject({ params: read });
});

test.each([
  [{ date_from: "2024-03", date_to: "2024-02" }, "date_from", "conflict"],
  [{ date_from: "2025", date_to: "2024-12-31" }, "date_from", "conflict"],
  [{ date_from: "2023-02-29" }, "date_from", "no_such_date"],
  [{ date_to: "2024-13" }, "date_to", "no_such_date"],
  [{ date_to: "2024-00" }, "date_to", "no_such_date"],
  [{ date_to: "2024..2025" }, "date_to", "format"],
  [{ date_from: "1".repeat(10_000) }, "date_from", "format"],
  [{ article: "577" }, "article", "incomplete"],
  [{ law: "民法典", article: "577-580" }, "article", "format"],
  [{ law: "民法典", article: "第零条" }, "article", "format"],
  [{ law: "民法典", article: "十十" }, "article", "format"],
  [{ court: "x".repeat(10_000) }, "court", "too_long"],
  [{ judge: "\ud800" }, "judge", "invalid_text"],
])("rejects %j and names %s", (given, param, code) => {
  expect(readParams(cases, given, today)).toMatchObject({
    code: "invalid_params",
    details: [{ param: `params.${param}`, code }],
  });
});

test.each([
  [{ article: " 第 577 条 " }, { article: "第577条" }],
  [{ article: "第一百三十三條之一" }, { article: "第一百三十三条之一" }],
  [
    { article: "１３３之１", year: "２０１８年" },
    { article: "133之1", year: "2018" },
  ],
])("reads %j as %j", (given, read) => {
  expect(readParams(laws, given, today)).toMatchObject({ params: read });
});
