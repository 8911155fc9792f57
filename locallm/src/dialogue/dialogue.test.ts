import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { templatesHere } from "../../test/templates-here.ts";
import { type AnswerPiece, createReader } from "./answer-reader.ts";
import { createDialogue } from "./dialogue.ts";
import { type Message, plainTurn, type Turn } from "./turn.ts";

const dialogue = (text: string, parts: { bosText?: string } = {}) =>
  createDialogue(
    { template: { language: "jinja", text }, bosText: "", eosText: "", ...parts },
    templatesHere(),
  );
const prompt = async (text: string, turn: Turn) => (await dialogue(text)).prompt(turn, noBos);
const say = (role: string, content: string): Message => ({ role, content });
const noBos = { addBos: false, markers: [] };

const chatml = `{% for m in messages %}{{'<|im_start|>' + m['role'] + '\\n' + m['content'] + '<|im_end|>' + '\\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}`;

describe("messages → prompt", () => {
  test("opens the assistant's answer at the end", async () => {
    expect(await prompt(chatml, plainTurn([say("system", "s"), say("user", "hi")]))).toBe(
      "<|im_start|>system\ns<|im_end|>\n<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n",
    );
  });

  test("removes the first token only if the vocabulary adds it", async () => {
    const template = await dialogue(`{{ bos_token }}{{ messages[0].content }}`, { bosText: "<s>" });
    const turn = plainTurn([say("user", "<s>x")]);
    expect(await template.prompt(turn, { ...noBos, addBos: true })).toBe("<s>x");
    expect(await template.prompt(turn, noBos)).toBe("<s><s>x");
  });

  test("puts system text into the first user message if the template has no system role", async () => {
    const text = `{% if messages[0].role == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}`;
    const turn = plainTurn([say("system", "be kind"), say("user", "hi"), say("assistant", "yes")]);
    expect(await prompt(text, turn)).toBe("[user]be kind\n\nhi[assistant]yes");
  });

  test.each([
    ["prints", "", "[system]s[user]a[assistant]b[system]late[user]c"],
    ["drops", "{% if m.role != 'system' or loop.first %}", "[system]s[user]a[assistant]b[user]late[user]c"],
    [
      "rejects",
      "{% if m.role == 'system' and not loop.first %}{{ raise_exception('System message must be at the beginning') }}{% endif %}{% if true %}",
      "[system]s[user]a[assistant]b[user]late[user]c",
    ],
  ])("keeps the place of a later system message that the template %s", async (_, before, expected) => {
    const text = `{% for m in messages %}${before}[{{ m.role }}]{{ m.content }}${before === "" ? "" : "{% endif %}"}{% endfor %}`;
    const talk = [say("system", "s"), say("user", "a"), say("assistant", "b"), say("system", "late")];
    expect(await prompt(text, plainTurn([...talk, say("user", "c")]))).toBe(expected);
  });

  test("joins neighbours of one role only if the template rejects them", async () => {
    const strict = `{% for m in messages %}{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('roles must alternate') }}{% endif %}[{{ m.content }}]{% endfor %}`;
    const turn = plainTurn([say("user", "a"), say("user", "b")]);
    expect(await prompt(strict, turn)).toBe("[a\n\nb]");
    expect(await prompt("{% for m in messages %}[{{ m.content }}]{% endfor %}", turn)).toBe("[a][b]");
    await expect(prompt(strict, plainTurn([say("assistant", "a")]))).rejects.toMatchObject({
      code: "conversation_refused",
    });
  });

  test.each([
    ["as an object", "{{ c.function.arguments | tojson }}", '{"probe": 1}'],
    [
      "as text",
      "{{ '' + c.function.arguments if c.function.arguments is string else raise_exception('no') }}",
      '{"probe":1}',
    ],
  ])("passes the arguments of a call %s if the template needs that", async (_, printing, expected) => {
    const text = `{% for m in messages %}{% for c in m.tool_calls or [] %}{{ c.function.name }}:${printing}{% endfor %}{% endfor %}`;
    const message: Message = {
      role: "assistant",
      content: "",
      tool_calls: [{ function: { name: "f", arguments: { probe: 1 } } }],
    };
    expect(await prompt(text, plainTurn([message]))).toBe(`f:${expected}`);
  });

  test("derives traits from what the template prints", async () => {
    expect((await dialogue(chatml)).traits).toEqual({ tools: false, thinking: false, insert: false });
    const tools = await dialogue(`{% for t in tools or [] %}{{ t | tojson }}{% endfor %}${chatml}<think>`);
    expect(tools.traits).toEqual({ tools: true, thinking: true, insert: false });
  });

  test("finds thinking tags in the template or around a printed thought", async () => {
    const own =
      "{% for m in messages %}{% if m.thinking %}<why>{{ m.thinking }}</why>{% endif %}{{ m.content }}{% endfor %}";
    const turn = plainTurn([say("user", "x")], { think: true });
    expect((await dialogue(own)).traits.thinking).toBe(true);
    const reader = (await dialogue(own)).reader(turn, "");
    expect([...reader.push("<why>hm</why>yes"), ...reader.end()]).toEqual([
      { kind: "thinking", text: "hm" },
      { kind: "content", text: "yes" },
    ]);
    const bare = "{% for m in messages %}{{ m.thinking }}<end>{{ m.content }}<end>{% endfor %}";
    expect((await dialogue(bare)).traits.thinking).toBe(false);
  });

  test("reports a template that does not parse and one that fails", async () => {
    await expect(dialogue("{% for %}")).rejects.toMatchObject({ code: "template_invalid" });
    await expect(dialogue("{{ nothing() }}")).rejects.toMatchObject({ code: "template_invalid" });
    const late = "{% if messages | length > 1 %}{{ nothing() }}{% endif %}{{ messages[0].content }}";
    await expect(prompt(late, plainTurn([say("user", "x"), say("user", "y")]))).rejects.toMatchObject({
      code: "template_failed",
    });
  });

  test("uses a template that rejects some conversations for the others", async () => {
    const strict =
      "{% if messages[0].role != 'system' %}{{ raise_exception('a system message first') }}{% endif %}{{ messages[1].content }}";
    expect(await prompt(strict, plainTurn([say("system", "s"), say("user", "hi")]))).toBe("hi");
    await expect(prompt(strict, plainTurn([say("user", "hi")]))).rejects.toMatchObject({
      code: "conversation_refused",
    });
  });

  test("replaces a template that cannot be read by that of its family", async () => {
    const unread = await dialogue(
      "{% for m in messages %}{{ m | unknown_filter }}<|im_start|><|im_end|>{% endfor %}",
    );
    expect(await unread.prompt(plainTurn([say("user", "hi")]), noBos)).toBe(
      "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n",
    );
    expect(unread.stop).toContain("<|im_end|>");
  });
});

describe("text → content and thinking", () => {
  const thinking = { open: "<think>", close: "</think>" };
  const join = (pieces: AnswerPiece[]) => {
    const text = (kind: string) =>
      pieces.flatMap((piece) => (piece.kind === kind && "text" in piece ? [piece.text] : [])).join("");
    return { content: text("content"), thinking: text("thinking") };
  };
  const read = (parts: string[], open = false) => {
    const reader = createReader({ thinking, open, format: null, tools: [] });
    return join([...parts.flatMap((part) => reader.push(part)), ...reader.end()]);
  };

  test.each([
    ["<think>\nhm\n</think>\n\nyes", false, { thinking: "hm", content: "yes" }],
    ["hm</think>yes", true, { thinking: "hm", content: "yes" }],
    ["no thought", false, { thinking: "", content: "no thought" }],
    ["  <think>a", false, { thinking: "a", content: "" }],
    ["  <thin", false, { thinking: "", content: "  <thin" }],
    ["a <think>b</think>", false, { thinking: "", content: "a <think>b</think>" }],
    ["<think></think>x", false, { thinking: "", content: "x" }],
    ["a </thin k>", true, { thinking: "a </thin k>", content: "" }],
  ])("%j", (text, open, expected) => {
    expect(read([text], open)).toEqual(expected);
    expect(read([...text], open)).toEqual(expected);
  });

  test("gives the same parts for any split of a text", () => {
    const word = fc.constantFrom("<think>", "</think>", "<", "/", "th", "ink>", " ", "\n", "é", "x");
    const texts = fc.array(word, { maxLength: 12 }).map((words) => words.join(""));
    fc.assert(
      fc.property(texts, fc.array(fc.nat(5), { maxLength: 60 }), fc.boolean(), (text, cuts, open) => {
        const parts: string[] = [];
        let rest = text;
        for (const cut of cuts) {
          parts.push(rest.slice(0, cut));
          rest = rest.slice(cut);
        }
        expect(read([...parts, rest], open)).toEqual(read([text], open));
      }),
      { seed: 4, numRuns: 500 },
    );
  });
});
