import { expect, test } from "vitest";
import { type Operation, operations, readParams } from "./index.ts";

const today = "2026-11-21";

/** The accepted values of a parameter with their normal form, and the rejected ones with the reason. */
interface Values {
  readonly right: readonly (readonly [given: string, read: string])[];
  readonly wrong: readonly (readonly [given: string, code: string])[];
}

const text: Values = {
  right: [
    ["借贷", "借贷"],
    ["  买卖　合同\n纠纷 ", "买卖 合同 纠纷"],
    ["ＡＢＣ（北京）", "ABC(北京)"],
    ["字".repeat(200), "字".repeat(200)],
  ],
  wrong: [
    ["", "empty"],
    ["\u3000\t", "empty"],
    ["a\u0000b", "control_character"],
    ["\ud800", "invalid_text"],
    ["字".repeat(201), "too_long"],
    ["x".repeat(60_000), "too_long"],
  ],
};

const bound = (read: string): Values => ({
  right: [
    ["2024", read],
    [" 2024-02-29 ", "2024-02-29"],
    ["２０２４－０２－２９", "2024-02-29"],
    ["1000-01-01", "1000-01-01"],
  ],
  wrong: [
    ["2023-02-29", "no_such_date"],
    ["2024-13", "no_such_date"],
    ["0000", "no_such_date"],
    ["2024..2025", "format"],
    ["2024-2", "format"],
    ["去年", "format"],
    ["", "format"],
    ["2".repeat(60_000), "format"],
  ],
});
const from = bound("2024-01-01");
const to = bound("2024-12-31");

const year: Values = {
  right: [
    ["2018", "2018"],
    [" ２０１８年 ", "2018"],
  ],
  wrong: [
    ["18", "format"],
    ["3018", "format"],
    ["2018-10", "format"],
    ["二〇一八", "format"],
    ["", "format"],
  ],
};

const notArticles: Values["wrong"] = [
  ["", "format"],
  ["0", "format"],
  ["10000", "format"],
  ["577-580", "format"],
  ["十十", "format"],
  ["百", "format"],
  ["第五百七十七条 OR 第一条", "format"],
  ["一".repeat(60_000), "format"],
];

const taxId: Values = {
  right: [
    ["91330100716105852F", "91330100716105852F"],
    [" 9133 0100 7161 0585 2f ", "91330100716105852F"],
    ["９１３３０１００７１６１０５８５２Ｆ", "91330100716105852F"],
    ["9144030071526726XG", "9144030071526726XG"],
    ["110108002812345", "110108002812345"],
  ],
  wrong: [
    ["91350100M000100Y4Z", "character"],
    ["91330100716105852A", "checksum"],
    ["9133010071610585", "length"],
    ["9133010071610585IO", "character"],
    ["", "length"],
    ["9".repeat(60_000), "format"],
  ],
};

const day: Values = {
  right: [
    ["2026-11-21", "2026-11-21"],
    [" 2024-02-29 ", "2024-02-29"],
    ["2011-01-01", "2011-01-01"],
  ],
  wrong: [
    ["2026-02-30", "no_such_date"],
    ["2026-11-22", "future"],
    ["2010-12-31", "too_early"],
    ["20260101", "format"],
    ["2026-1-1", "format"],
    ["２０２６-01-01", "format"],
    ["", "format"],
    ["2026-01-01T00:00:00Z", "format"],
  ],
};

const values: Readonly<Record<string, Readonly<Record<string, Values>>>> = {
  legal_cases: {
    query: text,
    court: text,
    judge: text,
    case_type: text,
    cause: text,
    law: text,
    article: { right: [], wrong: [...notArticles, ["577", "incomplete"]] },
    date_from: from,
    date_to: to,
  },
  legal_laws: {
    query: text,
    law: text,
    article: {
      right: [
        [" 第 五百七十七 條 ", "第五百七十七条"],
        ["１３３之１", "133之1"],
        ["第九千九百九十九条之九十九", "第九千九百九十九条之九十九"],
        ["一千零二十条", "一千零二十条"],
      ],
      wrong: notArticles,
    },
    year,
  },
  legal_law_catalog: {},
  legal_citation_check: {
    text: {
      right: [
        [" 民法典\n第577条 ", " 民法典\n第577条 "],
        ["（", "（"],
        ["\u3000\t", "\u3000\t"],
        ["𠮷".repeat(20_000), "𠮷".repeat(20_000)],
      ],
      wrong: [
        ["", "empty"],
        ["\ud800", "invalid_text"],
        ["字".repeat(20_001), "too_long"],
        ["𠮷".repeat(20_001), "too_long"],
        ["x".repeat(100_000), "too_long"],
      ],
    },
    date: {
      right: [
        ["2026-11-21", "2026-11-21"],
        ["1998-01-01", "1998-01-01"],
        ["2031-01-01", "2031-01-01"],
      ],
      wrong: [
        ["2026-02-30", "no_such_date"],
        ["2026年1月1日", "format"],
        ["", "format"],
      ],
    },
  },
  enterprise_company_detail: { tax_id: taxId },
  enterprise_annual_report: { tax_id: taxId },
  enterprise_tax_invoice: {
    invoice_code: {
      right: [
        ["3300210011", "3300210011"],
        ["033 002-100111", "033002100111"],
      ],
      wrong: [
        ["34112000000012345678", "format"],
        ["123", "length"],
        ["33002100AB", "character"],
        ["", "character"],
        ["3".repeat(300), "length"],
      ],
    },
    invoice_number: {
      right: [
        ["10000001", "10000001"],
        ["1000 0001", "10000001"],
      ],
      wrong: [
        ["1000000", "format"],
        ["1000000A", "format"],
        ["", "format"],
      ],
    },
    issue_date: {
      right: [["2024-03-15", "2024-03-15"]],
      wrong: [
        ["2024-02-30", "no_such_date"],
        ["15.03.2024", "format"],
      ],
    },
    amount: {
      right: [
        ["1280.50", "1280.50"],
        ["¥1,280.50", "1280.50"],
        ["-3", "-3"],
      ],
      wrong: [
        ["1280.505", "format"],
        ["1e3", "format"],
        ["", "format"],
        ["NaN", "format"],
      ],
    },
    check_code: {
      right: [
        ["123456", "123456"],
        ["12345678901234567890", "567890"],
      ],
      wrong: [
        ["12345", "format"],
        ["12345A", "format"],
        ["", "format"],
      ],
    },
  },
  enterprise_shixin_check: { company_name: text },
  enterprise_zhixing_check: { company_name: text },
  content_keyword_index: { keyword: text, date: day },
  content_wechat_index: { keyword: text, date: day },
  content_hot_rank: {
    platform: {
      right: [
        ["weibo", "weibo"],
        ["微博", "weibo"],
        [" TikTok_CN ", "douyin"],
        // Only the source knows whether it has an archive of the platform.
        ["v2ex", "v2ex"],
      ],
      wrong: [
        ["", "unknown_platform"],
        ["../etc", "unknown_platform"],
        ["什么", "unknown_platform"],
        ["x".repeat(101), "unknown_platform"],
      ],
    },
    date: day,
  },
  cloud_express_tracking: {
    express_no: {
      right: [
        ["sf1234567890123", "SF1234567890123"],
        ["YT 1000 0000 00017", "YT1000000000017"],
        ["EE123456785CN", "EE123456785CN"],
      ],
      wrong: [
        ["EE123456784CN", "checksum"],
        ["12345", "length"],
        ["A".repeat(33), "length"],
        ["1234567;DROP", "character"],
        ["", "length"],
      ],
    },
    carrier: {
      right: [
        ["shunfeng", "shunfeng"],
        ["ShunFeng", "shunfeng"],
        ["顺丰", "shunfeng"],
        ["顺丰速运", "shunfeng"],
      ],
      wrong: [
        ["", "unknown_carrier"],
        ["中", "unknown_carrier"],
        ["pigeon", "unknown_carrier"],
        ["x".repeat(101), "unknown_carrier"],
      ],
    },
    phone_tail: {
      right: [["1234", "1234"]],
      wrong: [
        ["123", "format"],
        ["12345", "format"],
        ["12a4", "format"],
        ["", "format"],
      ],
    },
  },
  research_paper_search: { query: text, author: text, year, date_from: from, date_to: to },
  research_patent_search: { query: text, applicant: text, date_from: from, date_to: to },
  research_journal_search: { query: text },
  research_scholar_search: { name: text },
};

test.each(Object.entries(values))(
  "%s: accepts and rejects values of every parameter",
  (name, ofOperation) => {
    const list: readonly Operation[] = operations;
    const operation = list.find((each) => each.name === name)!;
    expect(Object.keys(ofOperation)).toEqual(Object.keys(operation.params.shape));
    for (const [parameter, { right, wrong }] of Object.entries(ofOperation)) {
      const ask = (value: string) =>
        readParams(operation, { ...operation.example, [parameter]: value }, today);
      for (const [given, read] of right) expect(ask(given)).toMatchObject({ params: { [parameter]: read } });
      for (const [given, code] of wrong)
        expect(ask(given), given.slice(0, 40)).toMatchObject({
          code: "invalid_params",
          details: [{ param: `params.${parameter}`, code, fix: expect.stringMatching(/./) }],
        });
    }
  },
);

test("splits a joined invoice code and number, whatever separates them", () => {
  const list: readonly Operation[] = operations;
  const invoice = list.find(({ name }) => name === "enterprise_tax_invoice")!;
  for (const joined of ["330021001112345678", "3300210011-12345678", "3300210011 / 12345678"])
    expect(readParams(invoice, { invoice_code: joined }, today)).toMatchObject({
      params: { invoice_code: "3300210011", invoice_number: "12345678" },
    });
  const digital = "24112000000012345678";
  expect(readParams(invoice, { invoice_code: digital }, today)).toMatchObject({
    params: { invoice_code: digital, invoice_number: digital },
  });
});
