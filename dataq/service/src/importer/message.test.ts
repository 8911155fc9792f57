import { expect, test } from "vitest";
import { inChinese, inEnglish, readMessage, say } from "./message.ts";
import { messages } from "./messages.ts";
import { messagesZh } from "./messages-zh.ts";

test.each(Object.keys(messages) as (keyof typeof messages)[])("%s has a text in both languages", (code) => {
  const places = (text: string) =>
    [...text.matchAll(/\{(\w+)(?:\|[^{}|]+\|[^{}|]+)?\}/g)].map(([, name]) => name!);
  const english = places(messages[code]);
  for (const name of places(messagesZh[code])) expect(english).toContain(name);
  // A field name may occur in the Chinese message.
  for (const name of english) expect([...places(messagesZh[code]), "field"]).toContain(name);
  expect(messages[code]).not.toMatch(/\p{Script=Han}/u);
  if (code !== "row_field") expect(messagesZh[code]).toMatch(/\p{Script=Han}/u);
});

test("shows a nested message in the same language, and a list as alternatives", () => {
  const problem = say("row_lacks", { fields: ["law_id", "law_name", "article_no"] });
  const said = say("no_row_since", { target: "legal_laws", line: 3, problem });
  expect(inEnglish(said)).toBe(
    "No row could be read as legal_laws. Nothing was changed. Line 3: law_id, law_name or article_no: missing.",
  );
  expect(inChinese(said)).toBe(
    "没有一行能作为 legal_laws 读取，未作改动。第 3 行：缺少 law_id、law_name 或 article_no。",
  );
});

test.each([
  [0, "Imported 0 records; 0 rows were refused."],
  [1, "Imported 1 record; 1 row was refused."],
  [2, "Imported 2 records; 2 rows were refused."],
  [1_001, "Imported 1,001 records; 1,001 rows were refused."],
])("counts %i with the right noun", (count, english) => {
  const said = say("imported_but", { records: count, bad: count });
  expect(inEnglish(said)).toBe(english);
  expect(inChinese(said)).toBe(
    `已导入 ${count.toLocaleString("en")} 条记录，${count.toLocaleString("en")} 行未被接受。`,
  );
});

test("reads stored messages, and rejects unknown ones", () => {
  const said = say("no_file", { origin: "/a/b" });
  expect(readMessage(JSON.parse(JSON.stringify(said)))).toEqual(said);
  for (const other of [null, undefined, "no_file", {}, { code: "later" }, { code: "toString", values: {} }])
    expect(readMessage(other)).toBeNull();
});
