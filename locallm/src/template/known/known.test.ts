import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { detectTemplate } from "../detect.ts";
import { type GoChat, goChatData } from "../go/data.ts";
import { compileGo } from "../go/template.ts";
import { knownTemplates } from "./families.ts";

interface Golden {
  chats: Record<string, GoChat>;
  cases: { name: string; template: string; chat: string }[];
}
const read = (file: string) => JSON.parse(readFileSync(new URL(`golden/${file}`, import.meta.url), "utf8"));
const golden = read("cases.json") as Golden;
const expected = read("expected.json") as Record<string, string>;
const print = (template: string, chat: GoChat) => compileGo(template).render(goChatData(chat));
const say = (role: string, content: string) => ({ role, content });

/** A system text, one exchange and a question, as each family's documentation shows them. */
const documented: Record<string, string> = {
  hermes:
    "<|im_start|>system\nS<|im_end|>\n<|im_start|>user\nu1<|im_end|>\n<|im_start|>assistant\na1<|im_end|>\n<|im_start|>user\nu2<|im_end|>\n<|im_start|>assistant\n",
  chatml:
    "<|im_start|>system\nS<|im_end|>\n<|im_start|>user\nu1<|im_end|>\n<|im_start|>assistant\na1<|im_end|>\n<|im_start|>user\nu2<|im_end|>\n<|im_start|>assistant\n",
  llama3:
    "<|start_header_id|>system<|end_header_id|>\n\nS<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nu1<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\na1<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nu2<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n",
  llama4:
    "<|header_start|>system<|header_end|>\n\nS<|eot|><|header_start|>user<|header_end|>\n\nu1<|eot|><|header_start|>assistant<|header_end|>\n\na1<|eot|><|header_start|>user<|header_end|>\n\nu2<|eot|><|header_start|>assistant<|header_end|>\n\n",
  llama2: "[INST] <<SYS>>\nS\n<</SYS>>\n\nu1 [/INST] a1 </s><s>[INST] u2 [/INST]",
  mistral: "[INST] u1[/INST] a1</s>[INST] S\n\nu2[/INST]",
  gemma:
    "<start_of_turn>user\nS\n\nu1<end_of_turn>\n<start_of_turn>model\na1<end_of_turn>\n<start_of_turn>user\nu2<end_of_turn>\n<start_of_turn>model\n",
  "phi-3":
    "<|system|>\nS<|end|>\n<|user|>\nu1<|end|>\n<|assistant|>\na1<|end|>\n<|user|>\nu2<|end|>\n<|assistant|>\n",
  glm4: "[gMASK]<sop><|system|>\nS<|user|>\nu1<|assistant|>\na1<|user|>\nu2<|assistant|>\n",
  zephyr: "<|system|>\nS</s>\n<|user|>\nu1</s>\n<|assistant|>\na1</s>\n<|user|>\nu2</s>\n<|assistant|>\n",
  "command-r":
    "<|START_OF_TURN_TOKEN|><|SYSTEM_TOKEN|>S<|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|><|USER_TOKEN|>u1<|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>a1<|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|><|USER_TOKEN|>u2<|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>",
  granite:
    "<|start_of_role|>system<|end_of_role|>S<|end_of_text|>\n<|start_of_role|>user<|end_of_role|>u1<|end_of_text|>\n<|start_of_role|>assistant<|end_of_role|>a1<|end_of_text|>\n<|start_of_role|>user<|end_of_role|>u2<|end_of_text|>\n<|start_of_role|>assistant<|end_of_role|>",
  deepseek: "S<｜User｜>u1<｜Assistant｜>a1<｜end▁of▁sentence｜><｜User｜>u2<｜Assistant｜>",
  openchat:
    "GPT4 Correct System: S<|end_of_turn|>GPT4 Correct User: u1<|end_of_turn|>GPT4 Correct Assistant: a1<|end_of_turn|>GPT4 Correct User: u2<|end_of_turn|>GPT4 Correct Assistant:",
  vicuna: "S USER: u1 ASSISTANT: a1</s>USER: u2 ASSISTANT:",
  "phi-4":
    "<|im_start|>system<|im_sep|>S<|im_end|><|im_start|>user<|im_sep|>u1<|im_end|><|im_start|>assistant<|im_sep|>a1<|im_end|><|im_start|>user<|im_sep|>u2<|im_end|><|im_start|>assistant<|im_sep|>",
  exaone: "[|system|]S[|endofturn|]\n[|user|]u1\n[|assistant|]a1[|endofturn|]\n[|user|]u2\n[|assistant|]",
  alfred:
    "<start_system>S<end_message><start_user>u1<end_message><start_assistant>a1<end_message><start_user>u2<end_message><start_assistant>",
  "codellama-70b":
    "Source: system\n\n S <step> Source: user\n\n u1 <step> Source: assistant\n\n a1 <step> Source: user\n\n u2 <step> Source: assistant\nDestination: user\n\n ",
  falcon: "System: S\nUser: u1\nFalcon: a1\nUser: u2\nFalcon:",
  solar: "### System:\nS\n\n### User:\nu1\n\n### Assistant:\na1\n\n### User:\nu2\n\n### Assistant:\n",
  magicoder: "S\n\n@@ Instruction\nu1\n\n@@ Response\na1\n\n@@ Instruction\nu2\n\n@@ Response\n",
  starcoder2:
    "S\n\n### Instruction\nu1\n\n### Response\na1<|endoftext|>### Instruction\nu2\n\n### Response\n",
  chatqa: "System: S\n\nUser: u1\n\nAssistant: a1\n\nUser: u2\n\nAssistant:",
  alpaca: "S\n\n### Instruction:\nu1\n\n### Response:\na1\n\n### Instruction:\nu2\n\n### Response:\n",
};

describe("known families", () => {
  const messages = [say("system", "S"), say("user", "u1"), say("assistant", "a1"), say("user", "u2")];

  test.each(knownTemplates.map((known) => ({ name: known.name, known })))(
    "$name renders a conversation as documented",
    ({ name, known }) => {
      expect(print(known.template, { system: "S", messages })).toBe(documented[name]);
    },
  );

  test("every family is in the golden cases with the template it has now", () => {
    const templates = new Map(golden.cases.map(({ name, template }) => [name.split(":")[0], template]));
    for (const { name, template } of knownTemplates) expect(templates.get(name), name).toBe(template);
  });

  test.each(golden.cases)("$name: as the real text/template prints it", ({ name, template, chat }) => {
    expect(print(template, golden.chats[chat]!)).toBe(expected[name]);
  });

  test.each([
    ["{{ '<|im_start|>' }}", "chatml"],
    ["{{ '<|im_start|>' }}<tool_call>", "hermes"],
    ["{{ '<|start_header_id|>' }}", "llama3"],
    ["[INST] <<SYS>>", "llama2"],
    ["[INST] [AVAILABLE_TOOLS]", "mistral"],
    ["<start_of_turn>", "gemma"],
    ["{{ '<|user|>' + '<|end|>' }}", "phi-3"],
    ["{{ '<|user|>' + eos_token + '<|assistant|>' }}", "zephyr"],
    ["{{ '<|im_start|>user<|im_sep|>' }}", "phi-4"],
    ["'USER: ' + m.content + ' ASSISTANT:'", "vicuna"],
    ["'### Instruction:\\n'", "alpaca"],
    ["'### Instruction\\n' '### Response\\n'", "starcoder2"],
    ["'User: ' 'Assistant:'", "chatqa"],
    ["'User: ' 'Falcon:'", "falcon"],
    ["{% for m in messages %}{{ m.content }}{% endfor %}", null],
  ])("%s is %s", (text, name) => {
    expect(detectTemplate(text)?.name ?? null).toBe(name);
  });
});
