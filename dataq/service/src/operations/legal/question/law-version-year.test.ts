import fc from "fast-check";
import { expect, test } from "vitest";
import { readLawReference } from "./law-reference.ts";
import { readLawVersionYear } from "./law-version-year.ts";

test.each([
  ["公司法(2018修正) 第二十条", "2018", "2018修正", "公司法", 20],
  ["公司法(2018修正)第二十条", "2018", "2018修正", "公司法", 20],
  ["《公司法》(2018年修正) 第20条", "2018", "2018年修正", "公司法", 20],
  ["《中华人民共和国公司法(2018年第四次修正)》第20条", "2018", "2018年第四次修正", "公司法", 20],
  ["公司法2023修订 第47条", "2023", "2023修订", "公司法", 47],
  ["公司法 2023年修订版 47", "2023", "2023年修订版", "公司法", 47],
  ["1997年刑法", "1997", "1997年", "刑法", null],
  ["1997年的刑法 第二百三十二条", "1997", "1997年", "刑法", 232],
  ["刑法(1997) 第232条", "1997", "1997", "刑法", 232],
  ["民诉法2021 第一百二十二条", "2021", "2021", "民事诉讼法", 122],
  ["公司法(二〇一八修正) 第二十条", "2018", "2018修正", "公司法", 20],
  ["二○一八年公司法 第20条", "2018", "2018年", "公司法", 20],
  ["一九九七年刑法 第232条", "1997", "1997年", "刑法", 232],
  ["97年刑法第232条", "1997", "1997年", "刑法", 232],
  ["公司法18年修正 第20条", "2018", "2018年修正", "公司法", 20],
  ["2018年公司法第20条", "2018", "2018年", "公司法", 20],
  ["公司法(2024-01-01) 第20条", "2024-01-01", "2024-01-01", "公司法", 20],
  ["公司法 2024年12月 第20条", "2024-12", "2024年12月", "公司法", 20],
  ["公司法2023年12月29日修订 第二十条", "2023-12-29", "2023年12月29日修订", "公司法", 20],
  ["2024.1.5的公司法第20条", "2024-01-05", "2024.1.5", "公司法", 20],
  ["公司法1800年 第20条", "1800", "1800年", "公司法", 20],
  ["公司法2030 第20条", "2030", "2030", "公司法", 20],
])("%s asks for the version of %s", (text, year, words, law, article) => {
  const found = readLawVersionYear(text);
  expect(found).toMatchObject({ point: year, words });
  const reference = readLawReference(found?.rest ?? "");
  if (article === null) expect(found?.rest).toBe(law);
  else expect(reference).toMatchObject({ law, article: { number: article } });
});

test.each([
  "民法典577",
  "民法典1024",
  "民法典第一九九七条",
  "10年 劳动合同法 补偿",
  "劳动合同法 10年工龄",
  "民法典 97",
  "民法典 第二千零一条",
  "合同纠纷 2018",
  "违约责任",
  "宪法修正案(2018年) 第三十六条",
  "刑法 第2018条",
  "劳动合同法 20181",
  "2018",
  "",
])("%s asks for no version", (text) => {
  expect(readLawVersionYear(text)).toBeUndefined();
});

test("never fails, and never returns more text than it got", () => {
  const words = fc.constantFrom(
    "公司法",
    "2018",
    "年",
    "(",
    ")",
    "修正",
    "第",
    "条",
    "二十",
    " ",
    "《",
    "》",
    "x",
    "1",
  );
  fc.assert(
    fc.property(fc.array(words, { maxLength: 30 }), (parts) => {
      const text = parts.join("");
      const found = readLawVersionYear(text);
      if (found !== undefined) {
        expect(found.point).toMatch(/^[1-9][0-9]{3}$/);
        expect(found.rest.length).toBeLessThanOrEqual(text.length);
      }
    }),
    { seed: 1 },
  );
});
