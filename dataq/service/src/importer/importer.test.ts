import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { findOperation, type Operation } from "@dataq/contract";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { targets } from "../operations/imports.ts";
import { judgesIn, masked } from "../operations/legal/cases/judgment-text.ts";
import { readLawText } from "../operations/legal/laws/import/law-text.ts";
import { readCsv } from "./format/csv.ts";
import { lines } from "./format/lines.ts";
import { readRows } from "./format/read-rows.ts";
import type { Row } from "./format/row.ts";
import { inChinese, inEnglish, type Message } from "./message.ts";

const rowTargets = targets.filter((target) => "map" in target);
const findTarget = (name: string) => rowTargets.find((target) => target.name === name);

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "dataq-test-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function rowsOf(name: string, content: string | Uint8Array, table?: string): Promise<Row[]> {
  const path = join(folder, name);
  await writeFile(path, content);
  const rows: Row[] = [];
  for await (const row of readRows(path, { table })) rows.push(row);
  return rows;
}

test("JSON Lines are read plain, in gzip and in zstd, whatever the file name", async () => {
  const text = '{"a":1}\n\n{"a":"二"}';
  const expected = [
    { line: 1, fields: { a: 1 } },
    { line: 3, fields: { a: "二" } },
  ];
  expect(await rowsOf("x.csv", text)).toEqual(expected);
  expect(await rowsOf("x.jsonl", gzipSync(text))).toEqual(expected);
  expect(await rowsOf("y", zstdCompressSync(text))).toEqual(expected);
});

test("reports how much of a file has been read, compressed or not", async () => {
  const text = Array.from({ length: 20_000 }, (_, n) => `{"a":"${(n * 7_919) % 100_003}"}\n`).join("");
  for (const content of [Buffer.from(text), gzipSync(text), zstdCompressSync(text)]) {
    const path = join(folder, "shares");
    await writeFile(path, content);
    const shares: number[] = [];
    let rows = 0;
    for await (const _ of readRows(path, { onShare: (share) => shares.push(share) })) rows++;
    expect(rows).toBe(20_000);
    expect(shares.length).toBeGreaterThan(2);
    expect(shares).toEqual(shares.toSorted((one, other) => one - other));
    expect(shares[0]).toBeGreaterThan(0);
    expect(shares.at(-1)).toBe(1);
  }
});

test("reports a bad line with its number and continues", async () => {
  const rows = await rowsOf(
    "bad.jsonl",
    Buffer.concat([
      Buffer.from('{"a":1}\n{"a":\n[1]\n'),
      Buffer.from([0x7b, 0xff, 0x7d, 0x0a]),
      Buffer.from('{"a":2}'),
    ]),
  );
  expect(rows.map(({ line }) => line)).toEqual([1, 2, 3, 4, 5]);
  expect(rows.map((row) => "problem" in row)).toEqual([false, true, true, true, false]);
});

test("reads CSV with quotes, line breaks in cells, and three separators", async () => {
  const [row, wrong] = await rowsOf("a.csv", '\ufeffname,note\r\n"示例,公司","两""行\n文字"\r\nonly one\r\n');
  expect(row).toEqual({ line: 2, fields: { name: "示例,公司", note: '两"行\n文字' } });
  expect(wrong).toMatchObject({ problem: { code: "row_cells", values: { cells: 1, header: 2 } } });
  expect(await rowsOf("b.csv", "a;b\n1;2")).toEqual([{ line: 2, fields: { a: "1", b: "2" } }]);
  expect(await rowsOf("c.tsv", "a\tb\n1\t2\n")).toEqual([{ line: 2, fields: { a: "1", b: "2" } }]);
});

test("rejects an unclosed quote by its line and reads the rows after it", async () => {
  const rows = await rowsOf("quote.csv", `a,b\n1,2\n3,"open\n5,6\n${"7,8\n".repeat(50_000)}`);
  expect(rows).toHaveLength(50_003);
  expect(rows[1]).toEqual({ line: 3, problem: { code: "row_quote_open", values: { cell: "2 (b)" } } });
  expect(rows[2]).toEqual({ line: 4, fields: { a: "5", b: "6" } });
  expect(rows.at(-1)).toMatchObject({ line: 50_004 });
});

test("rejects a quote that closes too early by its line", async () => {
  const rows = await rowsOf("early.csv", 'a,b\n"x"y,2\n"x" ,2\n');
  expect(rows).toMatchObject([
    { line: 2, problem: { code: "row_quote_inside", values: { cell: "1 (a)" } } },
    { line: 3, fields: { a: "x", b: "2" } },
  ]);
});

test.each(["a,b\n1,", 'a,b\n1,"'])("rejects a CSV row over the limit: %j and more", async (start) => {
  const chunks = async function* () {
    yield Buffer.from(start);
    for (let part = 0; part < 20; part++) yield Buffer.from("x".repeat(50));
    yield Buffer.from("\n3,4\n");
  };
  const rows: Row[] = [];
  for await (const row of readCsv(chunks(), { longestRow: 200 })) rows.push(row);
  expect(rows[0]).toMatchObject({ line: 2, problem: expect.anything() });
  expect(rows.at(-1)).toMatchObject({ fields: { a: "3", b: "4" } });
});

test.each([
  ["plain", "x".repeat(30)],
  ["quoted", `"${"x".repeat(30)}"`],
  ["quoted over lines that look like rows", `"${"5,6\n".repeat(8)}"`],
])("rejects a %s cell over the limit by line and column, and reads none of it as rows", async (_, cell) => {
  const rows: Row[] = [];
  const text = `a,text\n1,2\n3,${cell}\n7,8\n`;
  for (const size of [1, 7, 1_000]) {
    const chunks = async function* () {
      for (let at = 0; at < text.length; at += size) yield Buffer.from(text.slice(at, at + size));
    };
    rows.length = 0;
    for await (const row of readCsv(chunks(), { longestRow: 200, longestCell: 25 })) rows.push(row);
    expect(rows).toMatchObject([
      { line: 2, fields: { a: "1", text: "2" } },
      { line: 3, problem: { code: "row_cell_too_long", values: { cell: "2 (text)", limit: 25 } } },
      { line: 3 + text.split("\n").length - 4, fields: { a: "7", text: "8" } },
    ]);
  }
  const problem = rows[1] as { problem: Message };
  expect(inEnglish(problem.problem)).toBe("cell 2 (text): longer than 25 characters");
});

test("rejects a broken header, and takes no data row for the header", async () => {
  for (const header of ['"name,note', `${"n".repeat(30)},note`]) {
    const rows: Row[] = [];
    const chunks = async function* () {
      yield Buffer.from(`${header}\nA,1\nB,2\n`);
    };
    for await (const row of readCsv(chunks(), { longestRow: 200, longestCell: 25 })) rows.push(row);
    expect(rows).toMatchObject([{ line: 1, problem: expect.anything() }]);
  }
});

test("a row with a NUL character is refused by its field, in every format", async () => {
  const problem = { code: "row_nul", values: { field: "b" } };
  for (const [name, content] of [
    ["nul.jsonl", '{"a":1}\n{"a":2,"b":[{"c":"x\\u0000"}]}\n'],
    ["nul.json", '[{"a":1},{"a":2,"b":"\\u0000"}]'],
    ["nul.csv", "a,b\n1,2\n3,x\0y\n"],
  ] as const) {
    const rows = await rowsOf(name, content);
    expect(rows).toHaveLength(2);
    expect(rows[1]).toMatchObject({ problem });
  }
});

test("a row that is nested too deeply is refused by its field, and the others are read", async () => {
  const nested = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;
  const good = `{"a":${nested(100)}}`;
  const rows = await rowsOf(
    "deep.jsonl",
    `${good}\n{"a":${nested(101)}}\n{"b":${nested(100_000)}}\n{"a":1}\n`,
  );
  const problem = (field: string) => ({ problem: { code: "row_too_deep", values: { field } } });
  expect(rows).toMatchObject([{ line: 1 }, problem("a"), problem("b"), { fields: { a: 1 } }]);
  expect(rows[0]).not.toHaveProperty("problem");
});

test("one object over several lines is refused with what to write instead", async () => {
  await expect(rowsOf("object.json", '{\n "data": [\n  {"a":1}\n ]\n}\n')).rejects.toThrow(
    "one JSON object over several lines",
  );
});

describe("a file that is one JSON array", () => {
  test("is read as a whole: each object is a row, and anything else is rejected by its position", async () => {
    const text = '\ufeff\n [ {"a":1},\n  {"a":"二"}, 7, null,\n {"a":[3]} ]\n';
    for (const content of [text, zstdCompressSync(text), Buffer.from(text, "utf16le")])
      expect(await rowsOf("array.json", content)).toEqual([
        { line: 1, fields: { a: 1 } },
        { line: 2, fields: { a: "二" } },
        { line: 3, problem: { code: "row_not_object", values: {} } },
        { line: 4, problem: { code: "row_not_object", values: {} } },
        { line: 5, fields: { a: [3] } },
      ]);
    expect(await rowsOf("none.json", "[]")).toEqual([]);
  });

  test("is rejected if it is cut off or too large, with what to do", async () => {
    await expect(rowsOf("cut.json", '[{"a":1},')).rejects.toThrow("not one JSON array of objects");
    await expect(rowsOf("lines.json", "[1]\n[2]\n")).rejects.toThrow("one object per line");
    const large = function* () {
      yield "[";
      for (let part = 0; part < 70; part++) yield `${part === 0 ? "" : ","}{"a":"${"x".repeat(1 << 20)}"}`;
      yield "]";
    };
    await expect(rowsOf("large.json", gzipSync([...large()].join(""), { level: 1 }))).rejects.toThrow(
      "jq -c '.[]' large.json > large.jsonl",
    );
  });
});

test("CSV is read back as it was written, whatever its cells contain and wherever a chunk ends", async () => {
  const cell = fc.string({
    unit: fc.constantFrom(",", '"', "\n", "\r\n", "a", "文", " ", ";"),
    maxLength: 8,
  });
  const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(cell, cell), { maxLength: 8 }),
      fc.integer({ min: 1, max: 9 }),
      async (table, size) => {
        const bytes = Buffer.from(`a,b\n${table.map((row) => row.map(quoted).join(",")).join("\n")}`);
        const chunks = async function* () {
          for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
        };
        const rows: unknown[] = [];
        for await (const row of readCsv(chunks()))
          rows.push("fields" in row ? Object.values(row.fields) : row);
        expect(rows).toEqual(table);
      },
    ),
    { seed: 12, numRuns: 200 },
  );
});

describe("the encoding of a text file", () => {
  const companies = "统一社会信用代码,企业名称,状态\n91330106MA0000007Q,杭州示例科技有限公司,存续\n";
  /** The platform can only encode UTF-8, so the inverse is built from its decoder. */
  const encoded = (encoding: string, text: string): Buffer => {
    const bytes = new Map<string, number[]>();
    const decoder = new TextDecoder(encoding);
    for (let lead = 0xfe; lead > 0x80; lead--)
      for (let trail = 0xfe; trail >= 0x40; trail--)
        bytes.set(decoder.decode(Buffer.from([lead, trail])), [lead, trail]);
    return Buffer.from([...text].flatMap((character) => bytes.get(character) ?? character.charCodeAt(0)));
  };
  const gbk = encoded("gb18030", companies);
  const big5 = encoded("big5", "公司名稱,狀態\n臺灣積體電路製造股份有限公司與繁體測試,營業中\n");
  const namesIn = (rows: readonly Row[]) => rows.map((row) => "fields" in row && row.fields["企业名称"]);

  test.each([
    ["GB18030", gbk],
    ["GB18030 in gzip", gzipSync(gbk)],
    ["UTF-8 with a mark", Buffer.from(`\ufeff${companies}`)],
    ["UTF-16", Buffer.from(`\ufeff${companies}`, "utf16le")],
  ])("is recognised: %s", async (_, bytes) => {
    expect(namesIn(await rowsOf("encoded.csv", bytes))).toEqual(["杭州示例科技有限公司"]);
  });

  test("is recognised even if its first other characters come late", async () => {
    const late = Buffer.concat([
      Buffer.from(`a,b\n${"1,2\n".repeat(100_000)}`),
      Buffer.from([0xce, 0xc4, 0x2c, 0x33]),
    ]);
    expect((await rowsOf("late.csv", late)).at(-1)).toMatchObject({ fields: { a: "文", b: "3" } });
  });

  test("is rejected by name if it is not supported", async () => {
    await expect(rowsOf("big5.csv", big5)).rejects.toThrow("neither UTF-8 nor GB18030");
    await expect(rowsOf("latin.csv", Buffer.from("a,b\ncafé,naïve\n", "latin1"))).rejects.toThrow(
      "neither UTF-8",
    );
  });
});

describe("a company", () => {
  const map = (row: object) => findTarget("enterprise_company_detail")?.map(row as Record<string, unknown>);

  test("in the table of a register is accepted, and missing fields are derived", () => {
    expect(
      map({
        统一社会信用代码: "91330106ma0000007q ",
        企业名称: "某公司",
        状态: "存续",
        "注册资本(万元)": "1,000万元人民币",
        成立日期: "2001年3月5日",
        营业期限至: "长期",
        曾用名: "甲公司；乙公司",
        参保人数: "12",
      }),
    ).toMatchObject({
      record: {
        id: "91330106MA0000007Q",
        name: "某公司",
        status: "存续",
        status_code: "active",
        registered_capital: { amount: "1000", unit: "万元", currency: "CNY", text: "1,000万元人民币" },
        registration_date: "2001-03-05",
        term_end: null,
        former_names: ["甲公司", "乙公司"],
        insured_count: 12,
        organization_code: "MA000000-7",
      },
    });
  });

  test.each([
    ["存续（在营、开业、在册）", "active"],
    ["在业", "active"],
    ["吊销，未注销", "revoked"],
    ["吊销，已注销", "revoked"],
    ["注销", "cancelled"],
    ["撤销", "rescinded"],
    ["迁出", "moved_out"],
    ["筹建", "establishing"],
    ["清算", "liquidating"],
    ["歇业", "suspended"],
    ["不明", "other"],
  ])("with the status %s is %s", (status, status_code) => {
    expect(map({ tax_id: "1", name: "某公司", status })).toMatchObject({ record: { status_code } });
  });

  test("with a missing field is rejected with the field, its value and what is expected", () => {
    const said = (row: object) => {
      const mapped = map(row);
      return mapped && "problem" in mapped ? [inEnglish(mapped.problem), inChinese(mapped.problem)] : mapped;
    };
    expect(said({ name: "某公司", status: "存续" })).toEqual([
      "tax_id: missing; expected text",
      "缺少 tax_id，应为文本",
    ]);
    expect(said({ tax_id: "1", name: "某公司", status: "存续", insured_count: "viele" })).toEqual([
      'insured_count: "viele" is not valid; expected a number',
      'insured_count 的值 "viele" 无效，应为数字',
    ]);
    expect(said({ tax_id: "1", name: "某公司", status: "存续", registration_date: "gestern" })).toEqual([
      'registration_date: "gestern" is not valid; expected a date such as 2026-01-31',
      'registration_date 的值 "gestern" 无效，应为日期，例如 2026-01-31',
    ]);
  });
});

test("reads a table of SQLite, and asks for its name if there are several", async () => {
  const path = join(folder, "t.db");
  const database = new DatabaseSync(path);
  database.exec(
    "create table one (a int, b text); insert into one values (1, 'x'); create table two (c int)",
  );
  database.close();
  const read = async (table?: string) => {
    const rows: Row[] = [];
    for await (const row of readRows(path, { table })) rows.push(row);
    return rows;
  };
  expect(await read("one")).toEqual([{ line: 1, fields: { a: 1, b: "x" } }]);
  await expect(read()).rejects.toThrow("--table");
  await expect(read('one"; drop table two; --')).rejects.toThrow("--table");
});

test("reports a file that is cut off", async () => {
  const whole = gzipSync('{"a":1}\n'.repeat(1000));
  await expect(rowsOf("cut.gz", whole.subarray(0, whole.length - 20))).rejects.toThrow(
    "cannot be read completely",
  );
});

test("skips a line that is too long", async () => {
  const chunks = async function* () {
    yield Buffer.from("ab\n");
    yield Buffer.from("x".repeat(40));
    yield Buffer.from("x\ncd");
  };
  const out: (string | null)[] = [];
  for await (const line of lines(chunks(), 20)) out.push(line === null ? null : Buffer.from(line).toString());
  expect(out).toEqual(["ab", null, "cd"]);
});

const courtsRow = {
  s1: "张某与示例公司劳动争议一审民事判决书",
  s2: "浙江省杭州市西湖区人民法院",
  s6: "01",
  s7: "（2018）浙0106民初41号",
  s8: "民事案件",
  s9: "民事一审",
  s11: ["劳动争议"],
  s17: ["张某", "示例公司"],
  s22: "浙江省杭州市西湖区人民法院\n民事判决书",
  s25: "身份证号330106199001011234，电话13812345678",
  s26: "本院认为，解除违法。",
  s27: "驳回诉讼请求。",
  s28: "审判长王一二\n人民陪审员李三\n二〇一八年五月七日\n书记员赵四",
  s31: "2018-05-07",
  s47: [{ tkx: "第八十七条第一款", fgmc: "《中华人民共和国劳动合同法》" }],
  id: "abc",
};

test("maps the field names of the courts to a judgment", () => {
  const mapped = findTarget("legal_cases")?.map(courtsRow);
  expect(mapped).toMatchObject({
    record: {
      case_id: "abc",
      case_type: "civil",
      court_level: "basic",
      province: "浙江省",
      city: "杭州市",
      document_type: "判决书",
      trial_procedure: "一审",
      judgment_date: "2018-05-07",
      legal_basis: [{ law_name: "中华人民共和国劳动合同法", article_no: "第八十七条" }],
      judges: [
        { name: "王一二", role: "审判长" },
        { name: "李三", role: "人民陪审员" },
        { name: "赵四", role: "书记员" },
      ],
    },
  });
  const { record } = mapped as unknown as { record: { full_text: string } };
  expect(record.full_text).not.toMatch(/19900101|13812345678/);
  const { record: schema } = findOperation("legal_cases") as Operation;
  const source = { name: "x", kind: "official", retrieved_at: "x", content_sha256: "x" };
  expect(schema.strict().safeParse({ ...record, source, highlights: [], score: null }).error).toBeUndefined();
});

test.each([
  [{ ...courtsRow, s2: "" }, "s2"],
  [{ s1: "无文" }, "no text"],
  [{ foo: 1 }, "not a judgment"],
])("refuses a judgment with missing fields", (row, problem) => {
  const mapped = findTarget("legal_cases")?.map(row);
  expect(mapped && "problem" in mapped && inEnglish(mapped.problem)).toContain(problem);
});

test("masks numbers of identity cards and phones, and no other numbers", () => {
  expect(masked("110101199003074514")).toBe("110101********4514");
  expect(masked("13800138000")).toBe("138****8000");
  expect(masked("（2018）浙0106民初41号，金额123456789012元")).toBe(
    "（2018）浙0106民初41号，金额123456789012元",
  );
});

test("finds judges at the end of a text", () => {
  expect(judgesIn("……审 判 长　刘行\n代理审判员　支小龙\n二〇一五年九月十六日\n书 记 员　张曼")).toEqual([
    { name: "刘行", role: "审判长" },
    { name: "支小龙", role: "代理审判员" },
    { name: "张曼", role: "书记员" },
  ]);
});

test("splits the Markdown of a law into chapters, sections and articles", () => {
  const { head, articles } = readLawText(
    "2020年1月1日通过\n\n## 第一章　总则\n\n**第一条**　为了测试。\n\n第二款。\n\n## 第二章 分则\n### 第一节 甲\n第十条之一 内容",
  );
  expect(head).toEqual(["2020年1月1日通过"]);
  expect(articles).toEqual([
    { articleNo: "第一条", chapter: "第一章 总则", section: null, content: "为了测试。\n第二款。" },
    { articleNo: "第十条之一", chapter: "第二章 分则", section: "第一节 甲", content: "内容" },
  ]);
});

test("accepts rows with the field names of the records, also as text from CSV", () => {
  const row = {
    case_no: "（2024）浙0106执1号",
    name: "示例公司",
    court: "某法院",
    amount: "100.50",
    status: "in_progress",
    status_text: "执行中",
    id_no_masked: "",
    filed_date: "",
    unperformed_amount: "",
    ended_date: "",
  };
  expect(findTarget("enterprise_zhixing_check")?.map(row)).toMatchObject({
    record: { id: "（2024）浙0106执1号-示例公司", filed_date: null, amount: "100.50" },
  });
  expect(findTarget("enterprise_zhixing_check")?.map({ ...row, status: "?" })).toMatchObject({
    problem: { code: "row_field_wrong", values: { field: "status" } },
  });
  expect(
    findTarget("research_journal_search")?.map({
      journal_id: "j",
      name: "刊",
      founded_year: "1990",
      is_oa: "true",
    }),
  ).toMatchObject({
    record: { founded_year: 1990, is_oa: true, subjects: [] },
  });
});

test("every target rejects an empty row", () => {
  for (const target of rowTargets) expect(target.map({})).toHaveProperty("problem");
});
