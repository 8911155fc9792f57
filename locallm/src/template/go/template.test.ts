import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { TemplateError } from "../limits.ts";
import { type GoChat, goChatData } from "./data.ts";
import { compileGo } from "./template.ts";
import { fromJson, type GoValue } from "./value.ts";

interface Golden {
  data: Record<string, unknown>;
  chats: Record<string, GoChat & { isThinkSet: boolean }>;
  cases: { name: string; template: string; chat?: string }[];
}
const read = (file: string) => JSON.parse(readFileSync(new URL(`golden/${file}`, import.meta.url), "utf8"));
const golden = read("cases.json") as Golden;
const expected = read("expected.json") as Record<string, string | { fails: string }>;

const clock = () => new Date(2026, 2, 1, 9, 5);
const plain = Object.fromEntries(Object.entries(golden.data).map(([key, value]) => [key, fromJson(value)]));
const dataOf = (chat: string | undefined): Record<string, GoValue> =>
  chat === undefined ? plain : goChatData(golden.chats[chat]!);

describe("prints what Go prints", () => {
  test("every case has an expected result", () => {
    expect(Object.keys(expected).sort()).toEqual(golden.cases.map(({ name }) => name).sort());
  });

  test.each(golden.cases)("$name: $template", ({ name, template, chat }) => {
    const wanted = expected[name]!;
    if (typeof wanted === "string") expect(compileGo(template, clock).render(dataOf(chat))).toBe(wanted);
    else if (wanted.fails === "parse") expect(() => compileGo(template, clock)).toThrow(TemplateError);
    else {
      const compiled = compileGo(template, clock);
      expect(() => compiled.render(dataOf(chat))).toThrow(TemplateError);
    }
  });
});

test.each([
  ["steps", "{{ range 100000000 }}{{ end }}"],
  ["nested steps", "{{ range 9999 }}{{ range 9999 }}{{ end }}{{ end }}"],
  ["output", "{{ range 1000000 }}{{ $.t }}{{ end }}"],
  ["text in a variable", "{{ $x := .t }}{{ range 60 }}{{ $x = print $x $x }}{{ end }}"],
  ["search in a loop", "{{ range 1000000 }}{{ if eq (print $.t) $.t }}{{ end }}{{ end }}"],
  ["printf's width", '{{ printf "%1000000000d" 1 }}'],
  ["printf's width from data", '{{ printf "%*d" 1000000000 1 }}'],
  ["recursion", '{{ define "x" }}{{ template "x" . }}{{ end }}{{ template "x" . }}'],
  ["deep blocks", "{{ if 1 }}".repeat(5000) + "{{ end }}".repeat(5000)],
  ["deep parentheses", `{{ ${"(".repeat(5000)}1${")".repeat(5000)} }}`],
  ["deep else", `{{ if 1 }}${"{{ else if 1 }}".repeat(5000)}{{ end }}`],
  ["a long source", "x".repeat(2 << 20)],
])("rejects unbounded growth: %s", (_, source) => {
  expect(() => compileGo(source).render({ t: "y".repeat(100_000) })).toThrow(TemplateError);
});

test.each([
  "{{ .constructor }}{{ .__proto__ }}{{ .toString }}",
  "{{ .m.constructor }}{{ .m.__proto__ }}{{ .m.size }}{{ .m.get }}",
  '{{ index .m "__proto__" }}{{ index .m "constructor" }}',
])("cannot reach JavaScript properties: %s", (source) => {
  expect(compileGo(source).render({ m: fromJson({ a: 1 }) })).toBe("");
});
