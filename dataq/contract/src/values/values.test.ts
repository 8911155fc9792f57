import fc from "fast-check";
import { expect, test } from "vitest";
import { readCalendarDate } from "./calendar-date.ts";
import { carriersOf, readExpressNumber } from "./express-number.ts";
import { readInvoiceCode, splitInvoice } from "./invoice.ts";
import { readIssn } from "./issn.ts";
import { readPatentNumber } from "./patent-number.ts";
import { readPlatform } from "./platform.ts";
import { checkCharacter, hasOrganisationCode, organisationCheck, readTaxId } from "./tax-id.ts";
import { readText } from "./text.ts";

test.each([
  "91330100716105852F",
  "91420000757013137P",
  "91440300708461136T",
  "9144030071526726XG",
  "91110108551385082Q",
])("%s is a credit code with its organisation code", (code) => {
  expect(readTaxId(code)).toEqual({ value: code });
  expect(readTaxId(` ${code.toLowerCase()} `)).toEqual({ value: code });
  expect(hasOrganisationCode(code)).toBe(true);
});

test("names the correct check character", () => {
  const reading = readTaxId("91350100M000100Y4Z");
  expect(reading).toMatchObject({ problem: { code: "character" } });
  expect(readTaxId("91350100M000100Y4A")).toMatchObject({
    problem: { code: "checksum", fix: "the check character of the first 17 is 3" },
  });
  expect(readTaxId("91350100M000100Y43")).toEqual({ value: "91350100M000100Y43" });
});

test.each([
  ["9133010071610585", "length"],
  ["91330100716105852I", "character"],
  ["91330100716105852G", "checksum"],
  ["", "length"],
  ["９１３３０１００７１６１０５８５２Ｆ１", "length"],
])("%s is not a credit code: %s", (code, problem) => {
  expect(readTaxId(code)).toMatchObject({ problem: { code: problem } });
});

test("accepts old registration numbers of fifteen digits", () => {
  expect(readTaxId("110108002812345")).toEqual({ value: "110108002812345" });
});

test("detects any changed character of a credit code", () => {
  const symbols = [..."0123456789ABCDEFGHJKLMNPQRTUWXY"];
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...symbols), { minLength: 17, maxLength: 17 }),
      fc.integer({ min: 0, max: 16 }),
      fc.integer({ min: 1, max: 30 }),
      (characters, place, shift) => {
        const first = characters.join("");
        const code = first + checkCharacter(first);
        expect(readTaxId(code)).toEqual({ value: code });
        const other = symbols[(symbols.indexOf(code[place] as string) + shift) % 31] as string;
        expect("problem" in readTaxId(code.slice(0, place) + other + code.slice(place + 1))).toBe(true);
      },
    ),
    { seed: 7 },
  );
});

test("accepts X as the check character of an organisation code", () => {
  expect(organisationCheck("71526726")).toBe("X");
});

test.each([
  ["033002100111", { code: "033002100111", number: null }],
  ["3300 2100-11", { code: "3300210011", number: null }],
  ["3300210011-12345678", { code: "3300210011", number: "12345678" }],
  ["033002100111 12345678", { code: "033002100111", number: "12345678" }],
  ["24112000000012345678", { code: null, number: "24112000000012345678" }],
])("%s is an invoice", (text, name) => {
  const reading = readInvoiceCode(text);
  expect("value" in reading && splitInvoice(reading.value)).toEqual(name);
});

test.each([
  ["12345", "length"],
  ["34112000000012345678", "format"],
  ["33002100AB", "character"],
  ["", "character"],
])("%s is not an invoice: %s", (text, problem) => {
  expect(readInvoiceCode(text)).toMatchObject({ problem: { code: problem } });
});

test.each(["2024-02-29", "2011-01-01"])("%s is a date", (date) => {
  expect(readCalendarDate(date)).toEqual({ value: date });
});

test.each([
  "2026-02-30",
  "2023-02-29",
  "2024-13-01",
  "2024-00-10",
  "0000-01-01",
  "2024-1-1",
  "２０２４-01-01",
  "",
  "today",
])("%s is not a date", (date) => {
  expect("problem" in readCalendarDate(date)).toBe(true);
});

test.each(["0001-5733", "1000-1239", "0254-4164", "1000-9825", "2095-2236"])("%s is an ISSN", (issn) => {
  expect(readIssn(issn)).toBe(issn);
  expect(readIssn(`ISSN ${issn.replace("-", "")}`)).toBe(issn);
  expect(readIssn(`${issn.slice(0, -1)}${(Number(issn.at(-1)) + 1) % 10}`)).toBeUndefined();
});

test("normalises patent numbers", () => {
  expect(readPatentNumber("200310102344.5")).toEqual({ application: "200310102344.5" });
  expect(readPatentNumber("ZL2003101023445")).toEqual({ application: "200310102344.5" });
  expect(readPatentNumber("200310102344.6")).toEqual({ wrongCheck: "5" });
  expect(readPatentNumber("cn101234567a")).toEqual({ publication: "CN101234567A" });
  expect(readPatentNumber("电池")).toBeUndefined();
});

test("recognises carriers by parcel numbers", () => {
  expect(readExpressNumber(" sf1234567890123 ")).toEqual({ value: "SF1234567890123" });
  expect(carriersOf("SF1234567890123").map(({ code }) => code)).toEqual(["shunfeng"]);
  expect(carriersOf("771234567890").map(({ code }) => code)).toEqual(["zhongtong", "shentong", "shunfeng"]);
  expect(carriersOf("XYZ123")).toEqual([]);
  expect(readExpressNumber("EE123456785CN")).toEqual({ value: "EE123456785CN" });
  expect(readExpressNumber("EE123456784CN")).toMatchObject({ problem: { code: "checksum" } });
  expect(readExpressNumber("12345")).toMatchObject({ problem: { code: "length" } });
  expect(readExpressNumber("1234567;DROP")).toMatchObject({ problem: { code: "character" } });
});

test("normalises platform names", () => {
  expect(readPlatform("微博")).toEqual({ value: "weibo" });
  expect(readPlatform(" Bilibili ")).toEqual({ value: "bilibili" });
  expect("problem" in readPlatform("../etc")).toBe(true);
});

test("normalises texts and rejects long ones and control characters", () => {
  expect(readText("  买卖　合同\n纠纷 ")).toEqual({ value: "买卖 合同 纠纷" });
  // As copied from a PDF file: both are radicals.
  expect(readText("⺠法典 第⼗条")).toEqual({ value: "民法典 第十条" });
  expect(readText("（北京）")).toEqual({ value: "(北京)" });
  expect(readText("")).toMatchObject({ problem: { code: "empty" } });
  expect(readText("\u3000\n")).toMatchObject({ problem: { code: "empty" } });
  expect(readText("a\u0000b")).toMatchObject({ problem: { code: "control_character" } });
  expect(readText("\ud800")).toMatchObject({ problem: { code: "invalid_text" } });
  expect(readText("字".repeat(200))).toEqual({ value: "字".repeat(200) });
  expect(readText("字".repeat(201))).toMatchObject({ problem: { code: "too_long" } });
  expect(readText("x".repeat(1_000_000))).toMatchObject({ problem: { code: "too_long" } });
});
