import { expect, test } from "vitest";
import { makeDocx, makeZip } from "../../../test/docx.ts";
import { readDocx } from "./read-docx.ts";

test("a Word file's paragraphs are read in a thread", async () => {
  expect(await readDocx(makeDocx(["中华人民共和国样品法", "", "第一条　为了试验。"]))).toEqual({
    paragraphs: ["中华人民共和国样品法", "第一条　为了试验。"],
  });
});

test.each([
  ["no zip", Buffer.from("\u00d0\u00cf\u0011\u00e0 an old Word file", "latin1"), "not_docx"],
  ["half a zip", makeDocx(["甲"]).subarray(0, 200), "not_docx"],
  ["a zip of something else", makeZip({ "xl/workbook.xml": "<x/>" }), "not_docx"],
  ["text that is not UTF-8", makeZip({ "word/document.xml": Buffer.from([0x3c, 0xff, 0xfe]) }), "not_docx"],
  // 64 MB of zeros in 64 kB.
  ["a zip bomb", makeZip({ "word/document.xml": Buffer.alloc(64 * 2 ** 20) }), "too_long"],
  [
    "a bomb that lies about its size",
    makeZip({ "word/document.xml": Buffer.alloc(64 * 2 ** 20) }, 100),
    "not_docx",
  ],
] as const)("%s is refused", async (_, bytes, problem) => {
  expect(await readDocx(Buffer.from(bytes))).toEqual({ problem });
});

test("a file that takes too long is given up", async () => {
  expect(await readDocx(makeDocx(["甲"]), 0)).toEqual({ problem: "too_slow" });
});
