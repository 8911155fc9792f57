import { describe, expect, test } from "vitest";
import { templatesHere } from "../../test/templates-here.ts";
import { knownTemplates } from "../template/known/families.ts";
import type { PiecedText } from "../wire/inference/generate.ts";
import { createDialogue } from "./dialogue.ts";
import { type Message, plainTurn } from "./turn.ts";

const say = (role: string, content: string): Message => ({ role, content });
const vocabulary = { addBos: false, markers: ["<|im_end|>", "</s>"] };
const begun = "  The answer is";

async function prompt(language: "go" | "jinja", text: string, messages: readonly Message[]): Promise<string> {
  const source = { template: { language, text }, bosText: "<s>", eosText: "</s>" };
  const dialogue = await createDialogue(source, templatesHere());
  const printed = await dialogue.prompt(plainTurn(messages), vocabulary);
  return typeof printed === "string" ? printed : (printed as PiecedText).pieces.join("·");
}

const talk = [say("system", "S"), say("user", "u1"), say("assistant", "a1"), say("user", "u2")];

describe("continues an answer that the client began, in the template of", () => {
  test.each(knownTemplates.map(({ name, template }) => [name, template]))("%s", async (_, template) => {
    const printed = await prompt("go", template, [...talk, say("assistant", begun)]);
    expect(printed.endsWith(begun)).toBe(true);
    expect(printed).toContain("u2");
    // Earlier answers end with the template's closing tokens.
    const opened = await prompt("go", template, talk);
    const closed = opened.slice(0, opened.indexOf("u2"));
    expect(printed.startsWith(closed)).toBe(true);
  });
});

/** Written like the chat templates of published weights. */
const jinja: Record<string, { text: string; end: string }> = {
  "ChatML with a generation prompt": {
    text: "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}",
    end: `<|im_start|>assistant\n${begun}`,
  },
  "headers and trimmed texts": {
    text: "{{ bos_token }}{% for message in messages %}{{ '<|start_header_id|>' + message['role'] + '<|end_header_id|>\n\n' + message['content'] | trim + '<|eot_id|>' }}{% endfor %}{% if add_generation_prompt %}{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' }}{% endif %}",
    end: `assistant<|end_header_id|>\n\n${begun.trimStart()}`,
  },
  "a model role and no system turn": {
    text: "{{ bos_token }}{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}{% for message in messages %}{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('Conversation roles must alternate') }}{% endif %}{% set role = 'model' if message['role'] == 'assistant' else message['role'] %}{{ '<start_of_turn>' + role + '\n' + message['content'] | trim + '<end_of_turn>\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<start_of_turn>model\n' }}{% endif %}",
    end: `<start_of_turn>model\n${begun.trimStart()}`,
  },
  "answers that the end token closes": {
    text: "{{ bos_token }}{% for message in messages %}{% if message['role'] == 'user' %}{{ ' [INST] ' + message['content'] + ' [/INST]' }}{% elif message['role'] == 'assistant' %}{{ ' ' + message['content'] + eos_token }}{% endif %}{% endfor %}",
    end: ` [/INST] ${begun}`,
  },
  "thinking that earlier answers lose": {
    text: "{% for message in messages %}{% set content = message.content %}{% if message.role == 'assistant' and '</think>' in content %}{% set content = content.split('</think>')[-1].lstrip('\n') %}{% endif %}{{ '<|im_start|>' + message.role + '\n' + content + '<|im_end|>\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n<think>\n' }}{% endif %}",
    end: `<|im_start|>assistant\n${begun}`,
  },
  "conversations that must end with the user": {
    text: "{% if messages[-1].role != 'user' %}{{ raise_exception('the last message must be of the user') }}{% endif %}{% for message in messages %}{{ '<' + message.role + '>' + message.content }}{% endfor %}<assistant>",
    end: `<assistant>${begun}`,
  },
  "answers that are not printed": {
    text: "{% for message in messages %}{% if message.role == 'user' %}{{ '<user>' + message.content }}{% endif %}{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}",
    end: `<assistant>${begun}`,
  },
};

describe("continues an answer that the client began, in a Jinja template with", () => {
  test.each(Object.entries(jinja))("%s", async (_, { text, end }) => {
    const printed = await prompt("jinja", text, [...talk, say("assistant", begun)]);
    expect(printed.endsWith(end)).toBe(true);
  });
});

const chatml = jinja["ChatML with a generation prompt"]!.text;

test("treats control tokens in the client's beginning as text", async () => {
  const printed = await prompt("jinja", chatml, [say("user", "u"), say("assistant", "a<|im_end|>b")]);
  expect(printed).toBe("<|im_start|>user\nu<|im_end|>\n<|im_start|>assistant\na<·|im_end|>b");
});

test("does not continue an empty answer or one with tool calls", async () => {
  const empty = await prompt("jinja", chatml, [say("user", "u"), say("assistant", "")]);
  expect(empty).toBe("<|im_start|>user\nu<|im_end|>\n<|im_start|>assistant\n<|im_end|>\n");
  const call = { function: { name: "f", arguments: {} } };
  const called = { role: "assistant", content: "hm", tool_calls: [call] };
  expect(await prompt("jinja", chatml, [say("user", "u"), called])).toMatch(/hm<\|im_end\|>\n$/);
});

test.each([
  [
    "<think>\nFirst",
    [
      { kind: "thinking", text: "hm" },
      { kind: "content", text: "yes" },
    ],
  ],
  ["<think>\nFirst</think>\n", [{ kind: "content", text: "hm</think>yes" }]],
])(
  "reads the rest of an answer that begins with %j inside or outside the thinking",
  async (content, pieces) => {
    const text = `${chatml}{# <think> </think> #}`;
    const source = { template: { language: "jinja" as const, text }, bosText: "", eosText: "" };
    const dialogue = await createDialogue(source, templatesHere());
    const turn = plainTurn([say("user", "u"), say("assistant", content)]);
    const reader = dialogue.reader(turn, await dialogue.prompt(turn, vocabulary));
    expect([...reader.push("hm</think>yes"), ...reader.end()]).toEqual(pieces);
  },
);
