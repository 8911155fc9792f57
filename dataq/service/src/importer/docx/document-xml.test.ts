import { describe, expect, test } from "vitest";
import { DocxProblem, paragraphsIn } from "./document-xml.ts";

const word = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"';
const body = (inner: string, namespaces = word) =>
  `<?xml version="1.0" encoding="UTF-8"?><w:document ${namespaces}><w:body>${inner}</w:body></w:document>`;
const p = (inner: string) => `<w:p><w:pPr><w:jc w:val="center"/></w:pPr>${inner}</w:p>`;
const r = (text: string) => `<w:r><w:t xml:space="preserve">${text}</w:t></w:r>`;

describe("paragraphs of a Word document", () => {
  test.each([
    ["runs are one text", p(r("第一") + r("条　为了")), ["第一条　为了"]],
    ["entities and numbers of characters", p(r("甲&lt;乙&amp;amp;&#20013;&#x6587;")), ["甲<乙&amp;中文"]],
    ["an unknown entity stays as it is", p(r("&lol9;")), ["&lol9;"]],
    [
      "breaks and tabs",
      p("<w:r><w:t>甲</w:t><w:br/><w:t>乙</w:t><w:tab/><w:t>丙</w:t></w:r>"),
      ["甲", "乙 丙"],
    ],
    [
      "tabs of the paragraph's settings are none",
      p("<w:pPr><w:tabs><w:tab w:val='left'/></w:tabs></w:pPr>") + p(r("甲")),
      ["甲"],
    ],
    [
      "deleted and moved text",
      p(`<w:del>${r("旧")}</w:del><w:moveFrom>${r("旧")}</w:moveFrom><w:ins>${r("新")}</w:ins>`),
      ["新"],
    ],
    [
      "hidden text",
      p(
        `<w:r><w:rPr><w:vanish/></w:rPr><w:t>藏</w:t></w:r><w:r><w:rPr><w:vanish w:val="0"/></w:rPr><w:t>显</w:t></w:r>`,
      ),
      ["显"],
    ],
    ["field codes", p(`<w:r><w:instrText>PAGE</w:instrText></w:r>${r("甲")}`), ["甲"]],
    [
      "cells",
      `<w:tbl><w:tr><w:tc>${p(r("甲"))}</w:tc><w:tc>${p(r("乙"))}</w:tc></w:tr></w:tbl>`,
      ["甲", "乙"],
    ],
    ["CDATA and comments", p("<w:r><w:t><![CDATA[甲<乙]]><!-- 丙 --></w:t></w:r>"), ["甲<乙"]],
    ["a greater-than sign in an attribute", p('<w:r w:x="a>b"><w:t>甲</w:t></w:r>'), ["甲"]],
    ["no text", p(""), []],
  ])("%s", (_, xml, expected) => {
    expect(paragraphsIn(body(xml))).toEqual(expected);
  });

  test("namespaces may have any prefix or none, and a fallback is not read twice", () => {
    const free =
      'xmlns="http://purl.oclc.org/ooxml/wordprocessingml/main" xmlns:m="http://schemas.openxmlformats.org/markup-compatibility/2006"';
    const xml = `<document ${free}><body><p><r><m:AlternateContent><m:Choice><t>甲</t></m:Choice><m:Fallback><t>甲</t></m:Fallback></m:AlternateContent></r></p></body></document>`;
    expect(paragraphsIn(xml)).toEqual(["甲"]);
  });

  test.each([
    [
      "an entity bomb",
      `<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>${body(p(r("&b;")))}`,
      "doctype",
    ],
    ["an external entity", `<!doctype x SYSTEM "file:///etc/passwd">${body(p(r("x")))}`, "doctype"],
    ["endless depth", body("<w:sdt>".repeat(100_000)), "too_deep"],
    ["a tag that does not close", body(p("<w:r><w:t>甲")), "not_xml"],
    ["crossed tags", body("<w:p><w:r></w:p></w:r>"), "not_xml"],
    ["half a tag", `${body(p(r("甲")))}<w:p`, "not_xml"],
    ["another language", "<html><body>甲</body></html>", "not_docx"],
    ["nothing", "", "not_xml"],
    [
      "items that Word numbers",
      body(p('<w:pPr><w:numPr><w:numId w:val="3"/></w:numPr></w:pPr><w:r><w:t>甲</w:t></w:r>')),
      "numbered",
    ],
    ["more text than any law has", body(p(r("甲".repeat(8_000_001)))), "too_long"],
  ])("refuses %s", (_, xml, code) => {
    expect(() => paragraphsIn(xml)).toThrow(new DocxProblem(code as DocxProblem["code"]));
  });

  // With a pattern that goes back, these would run into the time limit of the test.
  test.each([`<w:p ${'a="'.repeat(20_000)}`, `<w:p ${"'".repeat(20_001)}`, `<w:p ${"a ".repeat(50_000)}`])(
    "attributes that are made to be tried again and again are refused: %#",
    (evil) => {
      expect(() => paragraphsIn(body(evil))).toThrow(DocxProblem);
    },
  );
});
