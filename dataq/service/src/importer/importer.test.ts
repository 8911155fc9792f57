import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { findOperation, type Operation } from "@dataq/contract";
import { afterAll, beforeAll, expect, test } from "vitest";
import { targets } from "../operations/imports.ts";
import { judgesIn, masked } from "../operations/legal/cases/judgment-text.ts";
import { readLawText } from "../operations/legal/laws/import/law-text.ts";
import { lines } from "./format/lines.ts";
import { readRows } from "./format/read-rows.ts";
import type { Row } from "./format/row.ts";
import { inEnglish } from "./message.ts";

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

test("JSON Lines are read plain, in gzip and in zstd, whatever the name says", async () => {
  const text = '{"a":1}\n\n{"a":"二"}';
  const expected = [
    { line: 1, fields: { a: 1 } },
    { line: 3, fields: { a: "二" } },
  ];
  expect(await rowsOf("x.csv", text)).toEqual(expected);
  expect(await rowsOf("x.jsonl", gzipSync(text))).toEqual(expected);
  expect(await rowsOf("y", zstdCompressSync(text))).toEqual(expected);
});

test("how much of a file is read is told as it is read, compressed or not", async () => {
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

test("a bad line is reported with its number and stops nothing", async () => {
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

test("CSV has quotes, line breaks in cells, and three separators", async () => {
  const [row, wrong] = await rowsOf("a.csv", '\ufeffname,note\r\n"示例,公司","两""行\n文字"\r\nonly one\r\n');
  expect(row).toEqual({ line: 2, fields: { name: "示例,公司", note: '两"行\n文字' } });
  expect(wrong).toMatchObject({ problem: { code: "row_cells", values: { cells: 1, header: 2 } } });
  expect(await rowsOf("b.csv", "a;b\n1;2")).toEqual([{ line: 2, fields: { a: "1", b: "2" } }]);
  expect(await rowsOf("c.tsv", "a\tb\n1\t2\n")).toEqual([{ line: 2, fields: { a: "1", b: "2" } }]);
});

test("a table of SQLite is read; which one must be said when there are several", async () => {
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

test("a file that breaks off says so", async () => {
  const whole = gzipSync('{"a":1}\n'.repeat(1000));
  await expect(rowsOf("cut.gz", whole.subarray(0, whole.length - 20))).rejects.toThrow(
    "cannot be read to its end",
  );
});

test("a line that is far too long is passed over", async () => {
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

test("the courts' field names become a judgment of the contract", () => {
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
])("a judgment that lacks something is a bad row", (row, problem) => {
  const mapped = findTarget("legal_cases")?.map(row);
  expect(mapped && "problem" in mapped && inEnglish(mapped.problem)).toContain(problem);
});

test("numbers of identity cards and phones are masked, other numbers are not", () => {
  expect(masked("110101199003074514")).toBe("110101********4514");
  expect(masked("13800138000")).toBe("138****8000");
  expect(masked("（2018）浙0106民初41号，金额123456789012元")).toBe(
    "（2018）浙0106民初41号，金额123456789012元",
  );
});

test("judges are read from the end of a text", () => {
  expect(judgesIn("……审 判 长　刘行\n代理审判员　支小龙\n二〇一五年九月十六日\n书 记 员　张曼")).toEqual([
    { name: "刘行", role: "审判长" },
    { name: "支小龙", role: "代理审判员" },
    { name: "张曼", role: "书记员" },
  ]);
});

test("a law's Markdown is taken apart into chapters, sections and articles", () => {
  const { head, articles } = readLawText(
    "2020年1月1日通过\n\n## 第一章　总则\n\n**第一条**　为了测试。\n\n第二款。\n\n## 第二章 分则\n### 第一节 甲\n第十条之一 内容",
  );
  expect(head).toEqual(["2020年1月1日通过"]);
  expect(articles).toEqual([
    { articleNo: "第一条", chapter: "第一章 总则", section: null, content: "为了测试。\n第二款。" },
    { articleNo: "第十条之一", chapter: "第二章 分则", section: "第一节 甲", content: "内容" },
  ]);
});

test("rows in the form of the records are taken, from CSV with its texts too", () => {
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
    problem: { code: "row_field", values: { field: "status" } },
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

test("every target refuses an empty row", () => {
  for (const target of rowTargets) expect(target.map({})).toHaveProperty("problem");
});
