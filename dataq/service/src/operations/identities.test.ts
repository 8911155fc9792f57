import { type OperationName, operations } from "@dataq/contract";
import { expect, test } from "vitest";
import { alike, type Published } from "../sources/joining.ts";
import { findTarget } from "./imports.ts";
import { registry } from "./registry.ts";

/** Operations whose records no number identifies, or must not be put together. */
const without: ReadonlySet<string> = new Set([
  // Laws and judgments come from packs, which are made into one before they are served.
  "legal_laws",
  "legal_law_catalog",
  "legal_citation_check",
  "legal_cases",
  // Two indices are two measurements.
  "content_keyword_index",
  "content_wechat_index",
  "content_hot_rank",
  // What is held of an invoice is told only to callers who know its elements.
  "enterprise_tax_invoice",
]);

const source = {
  name: "甲",
  kind: "licensed",
  retrieved_at: "2026-11-28T08:00:00+08:00",
  content_sha256: "",
} as const;
const record = (fields: object) => ({ id: "1", source, ...fields }) as Published;
const terms = (name: OperationName, fields: object) => registry[name].identities?.(record(fields)) ?? [];

test("every operation whose records have a number joins what several publishers know", () => {
  for (const { name } of operations)
    expect([name, registry[name].identities === undefined]).toEqual([name, without.has(name)]);
});

test.each<[OperationName, object]>([
  ["enterprise_company_detail", { tax_id: "91330106MA0000007Q", lei: "5493001KJTIIGC8Y1R12" }],
  ["enterprise_annual_report", { tax_id: "91330106MA0000007Q", report_year: 2024 }],
  [
    "enterprise_shixin_check",
    { case_no: "（2023）浙0106执1号", name: "欠款（上海）有限公司", court: "某院" },
  ],
  ["enterprise_zhixing_check", { case_no: "(2024)浙0106执2号", name: "欠款有限公司", court: "某院" }],
  ["cloud_express_tracking", { express_no: "YT1000000000024", carrier_code: "yuantong" }],
])("an imported record of %s is found by its identities", (name, fields) => {
  const { terms: imported } = findTarget(name).document(record(fields) as never);
  const own = terms(name, fields);
  expect(own.length).toBeGreaterThan(0);
  for (const term of own) expect(imported).toContain(term);
});

test("companies are one by their LEI, too, and a name or a broken LEI joins nothing", () => {
  const lei = "5493001KJTIIGC8Y1R12";
  const companies = [
    { id: "a", name: "甲公司", lei },
    { id: "b", name: "乙公司", tax_id: "91330106MA0000007Q", lei: lei.toLowerCase() },
    { id: "c", name: "甲公司", lei: "5493001KJTIIGC8Y1R1X" },
    { id: "d", name: "丙公司", tax_id: "91330106MA0000007Q" },
  ].map(record);
  const groups = alike(companies, (each) => registry.enterprise_company_detail.identities?.(each) ?? []);
  expect(groups.map((group) => group.map(({ id }) => id))).toEqual([["a", "b", "d"], ["c"]]);
});

test("reports of two years, cases of two debtors and numbers of two carriers are two things", () => {
  const pairs: [OperationName, object, object][] = [
    ["enterprise_annual_report", { tax_id: "91330106MA0000007Q", report_year: 2023 }, { report_year: 2024 }],
    ["enterprise_zhixing_check", { case_no: "（2024）浙0106执2号", name: "甲公司" }, { name: "乙公司" }],
    [
      "cloud_express_tracking",
      { express_no: "75310000000", carrier_code: "zhongtong" },
      { carrier_code: "jd" },
    ],
  ];
  for (const [name, fields, other] of pairs)
    expect(terms(name, fields)).not.toEqual(terms(name, { ...fields, ...other }));
});
