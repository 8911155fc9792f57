import { describe, expect, test } from "vitest";
import { createDialogue } from "./dialogue.ts";
import { type Message, plainTurn, type Turn } from "./turn.ts";

const dialogue = (text: string) =>
  createDialogue({ template: { language: "go", text }, bosText: "", eosText: "" });
const say = (role: string, content: string): Message => ({ role, content });
const prompt = (text: string, messages: Message[], parts: Partial<Turn> = {}) =>
  dialogue(text).prompt(plainTurn(messages, parts), { addBos: false });

const talk = [say("system", "S"), say("user", "u1"), say("assistant", "a1"), say("user", "u2")];

describe("a template with .Messages", () => {
  test("sees the conversation, the system text apart, and neighbours joined", () => {
    const text = "{{ .System }}|{{ range .Messages }}{{ .Role }}:{{ .Content }};{{ end }}";
    expect(prompt(text, [...talk, say("user", "u3")])).toBe("S|system:S;user:u1;assistant:a1;user:u2\n\nu3;");
  });

  test("sees tools unless none may be called, and what was said of thinking", () => {
    const text =
      "{{ if .Messages }}{{ range .Tools }}{{ .Function.Name }}{{ end }}{{ end }}{{ .IsThinkSet }}{{ .Think }}{{ .ThinkLevel }}";
    const tools = [{ type: "function", function: { name: "f" } }];
    expect(prompt(text, talk, { tools, think: "high" })).toBe("ftruetruehigh");
    expect(prompt(text, talk, { tools, toolChoice: { kind: "none" } })).toBe("falsefalse");
    expect(dialogue(text).traits).toMatchObject({ tools: true, insert: false });
  });
});

describe("a template of one turn", () => {
  const text = "{{ if .System }}<s>{{ .System }}{{ end }}<u>{{ .Prompt }}<a>{{ .Response }}</a>";

  test("is rendered turn by turn and cut where the model speaks", () => {
    expect(prompt(text, talk)).toBe("<s>S<u>u1<a>a1</a><u>u2<a>");
  });

  test("goes on after a begun answer", () => {
    expect(prompt(text, [say("user", "u"), say("assistant", "begun")])).toBe("<u>u<a>begun");
  });

  test("gets its answer at the end where it has no place for it", () => {
    expect(prompt("[{{ .Prompt }}]", talk)).toBe("[u1]a1[u2]");
  });
});

test("suffix and prompt meet in a template that knows both", () => {
  const text = "{{ if .Suffix }}<pre>{{ .Prompt }}<suf>{{ .Suffix }}<mid>{{ else }}{{ .Prompt }}{{ end }}";
  expect(dialogue(text).traits.insert).toBe(true);
  expect(dialogue(text).insert("a", "b", { addBos: false })).toBe("<pre>a<suf>b<mid>");
});

test("a broken template and a failing one are told apart", () => {
  expect(() => dialogue("{{ .Prompt")).toThrow(expect.objectContaining({ code: "template_invalid" }));
  expect(() => prompt("{{ range .Messages }}{{ .Nope }}{{ end }}", talk)).toThrow(
    expect.objectContaining({ code: "template_failed" }),
  );
});
