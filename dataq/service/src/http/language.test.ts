import { readdir, readFile } from "node:fs/promises";
import {
  type ErrorCode,
  errors,
  errorsZh,
  Failure,
  fill,
  placeholdersOf,
  type WarningCode,
  warning,
  warnings,
  warningText,
} from "@dataq/contract";
import { describe, expect, test } from "vitest";
import { errorBodyOf } from "./error-reply.ts";
import { languageOf } from "./language.ts";

test.each([
  [undefined, "en"],
  ["", "en"],
  ["zh-CN", "zh"],
  ["zh-CN,zh;q=0.9,en;q=0.8", "zh"],
  ["en-US,en;q=0.9,zh;q=0.8", "en"],
  ["en;q=0.2, zh;q=0.7", "zh"],
  ["fr, zh-Hans-CN;q=0.5", "zh"],
  ["zh;q=0", "en"],
  ["fr", "en"],
  ["zhx, q=1", "en"],
])("%s → %s", (header, language) => {
  expect(languageOf(header)).toBe(language);
});

test("every Chinese error uses the same placeholders as its English one, and is Chinese", () => {
  for (const [code, row] of Object.entries(errors)) {
    const chinese = errorsZh[code as keyof typeof errors];
    const known = new Set([...placeholdersOf(row.message + row.nextAction), "problems", "fix", "param"]);
    for (const name of placeholdersOf(chinese.message + chinese.nextAction))
      expect(known, `${code} {${name}}`).toContain(name);
    expect(chinese.message).toMatch(/\p{Script=Han}.*。$/u);
    expect(chinese.title).toMatch(/\p{Script=Han}/u);
  }
});

test.each(Object.keys(errors) as ErrorCode[])("%s has no plural after 1", (code) => {
  const { message, nextAction } = errors[code];
  const ones = Object.fromEntries(placeholdersOf(message + nextAction).map((name) => [name, 1]));
  expect(fill(message, ones)).not.toMatch(/\b1 (?!(?:is|has|was|belongs|contains|requires)\b)\w+s\b/);
});

test("an error without its details reads well, as in the docs", () => {
  expect(fill(errors.price_above_max.message, {})).toBe(
    "This call costs {required} tokens, which exceeds max_tokens ({max_tokens}).",
  );
  expect(fill(errors.price_above_max.message, { required: 1, max_tokens: 0 })).toBe(
    "This call costs 1 token, which exceeds max_tokens (0).",
  );
});

test("a Chinese error says in Chinese what is wrong with each parameter and what to send", () => {
  const fixZh = "前 17 位对应的校验码是 3";
  const details = [
    { param: "params.tax_id", code: "checksum", message: "params.tax_id has …", fix: "the check …", fixZh },
  ];
  const failure = new Failure("invalid_params", { param: "params.tax_id", summary: "…", details });
  const body = errorBodyOf(failure, "req_1", "/v1/data/query", "zh");
  expect(body.detail).toBe("参数有误：params.tax_id 的校验码不对（前 17 位对应的校验码是 3）。");
  expect(body.error.details).toEqual([
    { param: "params.tax_id", code: "checksum", message: "params.tax_id 的校验码不对", fix: fixZh },
  ]);
  expect(JSON.stringify(errorBodyOf(failure, "req_1", "/"))).not.toContain("fixZh");
});

describe("warnings", () => {
  const codes = Object.keys(warnings) as WarningCode[];
  const make = warning as (
    code: WarningCode,
    values: Record<string, string | number>,
  ) => ReturnType<typeof warning>;

  test.each(codes)("%s says the same with the same values in both languages, as sentences", (code) => {
    const { en, zh } = warnings[code];
    expect(new Set(placeholdersOf(zh))).toEqual(new Set(placeholdersOf(en)));
    expect(en).toMatch(/^[\x20-\x7e]+\.$/);
    expect(zh).toMatch(/^[^,;?!"]*\p{Script=Han}[^,;?!"]*。$/u);
    for (const value of [1, 2]) {
      const made = make(code, Object.fromEntries(placeholdersOf(en).map((name) => [name, value])));
      for (const language of ["en", "zh"] as const) expect(warningText(made, language)).not.toMatch(/[{}|]/);
      if (value === 1) expect(warningText(made, "en")).not.toMatch(/\b1 \w+s (?:were|are|have)\b/);
    }
  });

  test("each has a place that makes it", async () => {
    const made = new Set<string>();
    for (const folder of ["../", "../../../contract/src/"])
      for (const file of await readdir(new URL(folder, import.meta.url), { recursive: true })) {
        if (!file.endsWith(".ts") || file.endsWith(".test.ts") || file.endsWith("warnings.ts")) continue;
        const text = await readFile(new URL(folder + file, import.meta.url), "utf8");
        for (const code of codes) if (text.includes(`"${code}"`)) made.add(code);
      }
    expect(codes.filter((code) => !made.has(code))).toEqual([]);
  });

  test("a value may differ between the languages", () => {
    const titles = ["工伤保险条例", "工伤认定办法"].map((title) => ({ en: title, zh: `《${title}》` }));
    const rest = warning("sources_answer_rest", { titles });
    expect(warningText(rest, "en")).toBe(
      "Not held here: 工伤保险条例, 工伤认定办法; these articles answer a part.",
    );
    expect(warningText(rest, "zh")).toBe(
      "本服务未收录《工伤保险条例》、《工伤认定办法》，以下条文只能回答一部分。",
    );
  });

  test("lists are joined and numbers written as the language does, and values are never read as texts", () => {
    const lack = warning("words_not_found", { words: ["{word}", "杭州"] });
    expect(warningText(lack, "en")).toBe("No record has {word}, 杭州; the other words were searched.");
    expect(warningText(lack, "zh")).toBe("没有记录含有“{word}、杭州”，已用其余的词检索。");
    const article = warning("no_such_article_after", {
      law: "刑法",
      articles: [{ en: "133-9", zh: "第133条之九" }],
      last: "452",
    });
    expect(warningText(article, "zh")).toBe("《刑法》没有第133条之九，最后一条是第452条。");
    const left = (count: number) => warningText(warning("undated_left_out", { count }), "en");
    expect([left(1), left(1_234)]).toEqual([
      "1 record without a date was left out by the date filter.",
      "1,234 records without a date were left out by the date filter.",
    ]);
  });
});
