import { describe, expect, test } from "vitest";
import { compileJinja } from "./jinja.ts";
import { TemplateError, TemplateRefusal } from "./limits.ts";

const render = (source: string, variables: Record<string, unknown> = {}) =>
  compileJinja(source, () => new Date(2026, 0, 5, 13, 7)).render(variables);

describe("jinja", () => {
  test("renders a chat template of the usual kind", () => {
    const source = `{% for m in messages %}{% if loop.first and m['role'] != 'system' %}{{ '<|s|>none\n' }}{% endif %}{{ '<|' + m['role'] + '|>' + m['content'] | trim + '\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}`;
    const messages = [
      { role: "user", content: " hi " },
      { role: "assistant", content: "yes" },
    ];
    expect(render(source, { messages, add_generation_prompt: true })).toBe(
      "<|s|>none\n<|user|>hi\n<|assistant|>yes\n<|assistant|>",
    );
  });

  test("takes the time from the injected clock only", () => {
    expect(render("{{ strftime_now('%d %b %Y, %H:%M %A %-d') }}")).toBe("05 Jan 2026, 13:07 Monday 5");
  });

  test("raise_exception becomes a refusal with the template's message", () => {
    expect(() => render("{{ raise_exception('roles must alternate') }}")).toThrow(
      new TemplateRefusal("roles must alternate"),
    );
  });

  test.each([
    ["a prototype", "{{ ''.constructor }}{{ [].__proto__ }}{{ {}.constructor }}{{ ''['constructor'] }}", ""],
    ["a global", "{{ process }}{{ globalThis }}{{ require }}", ""],
    ["an argument's prototype", "{{ x.constructor }}{{ x['__proto__'] }}{{ x.toString }}", ""],
  ])("reaches nothing outside through %s", (_, source, expected) => {
    expect(render(source, { x: { a: 1 } })).toBe(expected);
  });

  test.each([
    ["steps", "{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}"],
    ["lists that are written", "{% set a %}{{ range(65536) | list }}{% endset %}".repeat(25)],
    ["search", "{% set big = range(90000) %}{% for a in range(90000) %}{{ 'x' in big }}{% endfor %}"],
    ["range", "{% for a in range(1000000000) %}{% endfor %}"],
    ["range without end", "{% for a in range(0, 10, 0) %}{% endfor %}"],
    [
      "doubled text",
      `{% set ns = namespace(a='xxxxxxxx') %}${"{% set ns.a = ns.a + ns.a %}".repeat(40)}{{ ns.a }}`,
    ],
    ["doubled list", `{% set a = ['x'] %}${"{% set a = [a, a] %}".repeat(40)}{{ a | tojson }}`],
    ["added lists", `{% set a = ['x'] %}${"{% set a = a + a %}".repeat(40)}{{ a }}`],
    ["a list in text", `{% set a = ['x'] %}${"{% set a = [a, a] %}".repeat(40)}{{ 'x' ~ a }}`],
    ["a loop's output", "{% for a in range(100000) %}{{ t }}{% endfor %}"],
    ["replace", "{{ t.replace('', t) }}"],
    ["replace as a filter", "{{ t | replace('', t) }}"],
    ["replace by computed name", "{{ t['rep' + 'lace']('', t) }}"],
    ["replace from a variable", "{% set f = t.replace %}{{ f('', t) }}"],
    ["replace by a ternary", "{{ (t.replace if true else 1)('', t) }}"],
    ["replace with a list", "{{ t.replace(*['', t]) }}"],
    ["replace of a block", "{% filter replace('', t) %}{{ t }}{% endfilter %}"],
    ["indent", "{{ t | indent(100000000) }}"],
    ["indent by name", "{{ t | indent(width=100000000) }}"],
    ["indented json", "{{ [1] | tojson(indent=100000000) }}"],
    ["join", "{{ range(100000) | join(t) }}"],
    ["a namespace in itself", "{% set n = namespace() %}{% set n.a = [n] %}{{ n.a }}"],
    ["endless macro", "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}"],
    ["deep nesting", "{% if 1 %}".repeat(20_000)],
    ["deep expression", `{{ ${"(".repeat(100_000)}1${")".repeat(100_000)} }}`],
  ])("rejects unbounded growth: %s", (_, source) => {
    expect(() => render(source, { t: "y".repeat(100_000) })).toThrow(TemplateError);
  });

  test("renders a long conversation within the limits", () => {
    const messages = Array.from({ length: 2000 }, (_, index) => ({
      role: index % 2 ? "assistant" : "user",
      content: "<think>a</think> some words ".repeat(40),
    }));
    const source = `{% for m in messages %}{{ m.role }}{{ m.content.split('</think>')[-1] }}{{ m.content | replace('words', 'texts') }}{% endfor %}`;
    expect(render(source, { messages }).length).toBeGreaterThan(2_000_000);
  });
});
