import { describe, expect, test } from "vitest";
import { templatesHere } from "../../test/templates-here.ts";
import { createDialogue } from "./dialogue.ts";
import { type Message, plainTurn, type Turn } from "./turn.ts";

const dialogue = (text: string) =>
  createDialogue({ template: { language: "go", text }, bosText: "", eosText: "" }, templatesHere());
const say = (role: string, content: string): Message => ({ role, content });
const vocabulary = { addBos: false, markers: [] };
const prompt = async (text: string, messages: Message[], parts: Partial<Turn> = {}) =>
  (await dialogue(text)).prompt(plainTurn(messages, parts), vocabulary);

const talk = [say("system", "S"), say("user", "u1"), say("assistant", "a1"), say("user", "u2")];

describe("a template with .Messages", () => {
  test("gets the conversation, the system text separately, and neighbours joined", async () => {
    const text = "{{ .System }}|{{ range .Messages }}{{ .Role }}:{{ .Content }};{{ end }}";
    expect(await prompt(text, [...talk, say("user", "u3")])).toBe(
      "S|system:S;user:u1;assistant:a1;user:u2\n\nu3;",
    );
  });

  test("gets tools unless none may be called, and the request's think setting", async () => {
    const text =
      "{{ if .Messages }}{{ range .Tools }}{{ .Function.Name }}{{ end }}{{ end }}{{ .IsThinkSet }}{{ .Think }}{{ .ThinkLevel }}";
    const tools = [{ type: "function", function: { name: "f" } }];
    expect(await prompt(text, talk, { tools, think: "high" })).toBe("ftruetruehigh");
    expect(await prompt(text, talk, { tools, toolChoice: { kind: "none" } })).toBe("falsefalse");
    expect((await dialogue(text)).traits).toMatchObject({ tools: true, insert: false });
  });
});

describe("a template of one turn", () => {
  const text = "{{ if .System }}<s>{{ .System }}{{ end }}<u>{{ .Prompt }}<a>{{ .Response }}</a>";

  test("is rendered turn by turn and cut where the model's answer starts", async () => {
    expect(await prompt(text, talk)).toBe("<s>S<u>u1<a>a1</a><u>u2<a>");
  });

  test("continues an answer that the client began", async () => {
    expect(await prompt(text, [say("user", "u"), say("assistant", "begun")])).toBe("<u>u<a>begun");
  });

  test("puts the answer at the end if it has no .Response", async () => {
    expect(await prompt("[{{ .Prompt }}]", talk)).toBe("[u1]a1[u2]");
  });
});

test("renders prompt and suffix with a template that supports both", async () => {
  const text = "{{ if .Suffix }}<pre>{{ .Prompt }}<suf>{{ .Suffix }}<mid>{{ else }}{{ .Prompt }}{{ end }}";
  expect((await dialogue(text)).traits.insert).toBe(true);
  expect(await (await dialogue(text)).insert("a", "b", vocabulary)).toBe("<pre>a<suf>b<mid>");
});

test("distinguishes an invalid template from one that fails", async () => {
  await expect(dialogue("{{ .Prompt")).rejects.toMatchObject({ code: "template_invalid" });
  await expect(prompt("{{ range .Messages }}{{ .Nope }}{{ end }}", talk)).rejects.toMatchObject({
    code: "template_failed",
  });
});
