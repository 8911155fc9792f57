import fc from "fast-check";
import { createDialogue } from "../src/dialogue/dialogue.ts";
import { plainTurn } from "../src/dialogue/turn.ts";
import { Headers } from "../src/library/headers.ts";
import type { PromptText } from "../src/wire/inference/generate.ts";
import { startModel } from "../test/runner/jobs.ts";
import { starterModelPath } from "../test/starter-model.ts";
import { templatesHere } from "../test/templates-here.ts";

export const title = "Prompts of ordinary conversations: token by token those of llama-server";

const count = 1000;

const words = fc.constantFrom(
  ...[
    "Hello",
    " the",
    "\n",
    "\n\n",
    "  ",
    "def f(x):\n\treturn x",
    "12345",
    "é",
    "中文",
    "🙂",
    "<b>",
    "a < b",
    "|",
    "don't",
  ],
  ...[
    "```js\nlet a;\n```",
    "<think>",
    '{"a": [1]}',
    "…",
    "\t",
    "http://x.y/z?q=1#f",
    "ﬁ",
    "\u200d",
    "e\u0301",
    "<|im",
  ],
);
const content = fc
  .array(words, { minLength: 1, maxLength: 30 })
  .map((parts) => parts.join(""))
  .filter((text) => text.trim() !== "");
const conversation = fc
  .tuple(fc.option(content), fc.array(content, { minLength: 1, maxLength: 7 }))
  .map(([system, texts]) => [
    ...(system === null ? [] : [{ role: "system", content: system }]),
    ...texts.map((text, index) => ({ role: index % 2 === 0 ? "user" : "assistant", content: text })),
  ]);

/**
 * LLAMA_SERVER is the address of a llama-server that runs the starter model's file with its Jinja template.
 */
export async function run(print: (line: string) => void): Promise<void> {
  const url = process.env["LLAMA_SERVER"];
  const path = await starterModelPath();
  if (url === undefined || path === null) return print("skipped: needs LLAMA_SERVER and the starter model");
  const ask = async <Answer>(route: string, body: unknown) =>
    (await (await fetch(url + route, { method: "POST", body: JSON.stringify(body) })).json()) as Answer;

  const headers = new Headers();
  const text = String((await headers.of(path)).metadata.get("tokenizer.chat_template"));
  const special = await headers.specialTokens(path);
  const source = {
    template: { language: "jinja" as const, text },
    bosText: special.bosText ?? "",
    eosText: special.eosText ?? "",
  };
  const dialogue = await createDialogue(source, templatesHere());
  const runner = await startModel(path, { numCtx: 2048 });
  const other: Record<string, number> = { open: 0, begun: 0 };
  const all: Record<string, number> = { open: 0, begun: 0 };
  try {
    for (const messages of fc.sample(conversation, { seed: 1, numRuns: count })) {
      const kind = messages.at(-1)!.role === "assistant" ? "begun" : "open";
      const prompt = (await dialogue.prompt(plainTurn(messages), runner.info)) as PromptText;
      const ours = await runner.tokenize(prompt, { addSpecial: true, parseSpecial: true });
      const { prompt: theirPrompt } = await ask<{ prompt: string }>("/apply-template", { messages });
      const asked = { content: theirPrompt, add_special: true, parse_special: true };
      const { tokens } = await ask<{ tokens: number[] }>("/tokenize", asked);
      all[kind]! += 1;
      if (ours.join() === tokens.join()) continue;
      other[kind]! += 1;
      if (other[kind]! <= 3)
        print(`\n- ${JSON.stringify(messages)}: ${ours.length} tokens, theirs ${tokens.length}\n`);
    }
  } finally {
    await runner.kill();
  }
  print("| conversations that end with | compared | with other tokens |");
  print("|---|---|---|");
  print(`| the user | ${all["open"]} | ${other["open"]} |`);
  print(`| an answer begun | ${all["begun"]} | ${other["begun"]} |`);
}
