import fc from "fast-check";
import { expect, test } from "vitest";
import { findOperation, operations } from "./catalog.ts";
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
