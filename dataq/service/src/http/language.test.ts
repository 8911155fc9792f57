import { type ErrorCode, errors, errorsZh, Failure, fill, placeholdersOf } from "@dataq/contract";
import { expect, test } from "vitest";
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
