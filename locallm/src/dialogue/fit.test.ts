import { expect, test } from "vitest";
import { templatesHere } from "../../test/templates-here.ts";
import { createDialogue } from "./dialogue.ts";
import { fitTurn } from "./fit.ts";
import { type TurnPrompt, wholeText } from "./prompt-text.ts";
import { type Message, plainTurn } from "./turn.ts";

const text = "{% for m in messages %}{{ m.content }}|{% endfor %}";
const source = { template: { language: "jinja" as const, text }, bosText: "", eosText: "" };
const dialogue = await createDialogue(source, templatesHere());
const talk = (...turns: [string, string][]): Message[] => turns.map(([role, content]) => ({ role, content }));
const words = (text: string) => Array.from(text.matchAll(/[^|]+\|?/g), (_, index) => index);
const fit = (messages: Message[], contextLength: number, truncate = true) =>
  fitTurn(dialogue, plainTurn(messages), {
    contextLength,
    vocabulary: { addBos: false, markers: [] },
    longestToken: null,
    truncate,
    tokenize: async (prompt) => words(wholeText(prompt)),
  });

const long = "x".repeat(100);
const conversation = talk(
  ["user", `1${long}`],
  ["system", `s${long}`],
  ["assistant", `2${long}`],
  ["tool", `3${long}`],
  ["user", `4${long}`],
);
const firsts = (prompt: TurnPrompt) =>
  wholeText(prompt)
    .split("|")
    .map((part) => part.slice(0, 1))
    .join("");

test("keeps a conversation that fits, and does not count a short one", async () => {
  expect(await fit(conversation, 6)).toMatchObject({
    prompt: [0, 1, 2, 3, 4],
    dropped: { messages: 0, tokens: 0 },
  });
  expect(await fit(talk(["user", "hi"]), 8)).toMatchObject({ prompt: "hi|" });
});

test("leaves room for one token of the answer", async () => {
  expect((await fit(conversation, 5)).prompt).toHaveLength(4);
  await expect(fit(conversation, 5, false)).rejects.toMatchObject({
    details: { promptTokens: 5, contextLength: 5 },
  });
});

test("drops the oldest messages first; keeps system messages and the last message, and no tool result without its call", async () => {
  const four = await fit(conversation, 5);
  expect([firsts(four.text), four.dropped]).toEqual(["s234", { messages: 1, tokens: 1 }]);
  const three = await fit(conversation, 4);
  expect([firsts(three.text), three.dropped]).toEqual(["s4", { messages: 3, tokens: 3 }]);
});

test("reports both counts if the rest does not fit", async () => {
  await expect(fit(conversation, 1)).rejects.toMatchObject({
    code: "prompt_too_long",
    details: { promptTokens: 2, contextLength: 1 },
  });
  await expect(fit(conversation, 4, false)).rejects.toMatchObject({ details: { promptTokens: 5 } });
});

test("rejects or shortens a text by its length if it is too long to count", async () => {
  const huge = talk(["user", "a".repeat(300_000)], ["assistant", "b"], ["user", "c"]);
  let tokenized = 0;
  const asked = (messages: Message[], truncate: boolean) =>
    fitTurn(dialogue, plainTurn(messages), {
      contextLength: 4,
      vocabulary: { addBos: false, markers: [] },
      longestToken: 10,
      truncate,
      tokenize: async (prompt) => {
        tokenized += wholeText(prompt).length;
        return words(wholeText(prompt));
      },
    });
  await expect(asked(huge, false)).rejects.toMatchObject({ details: { promptTokens: "over 3" } });
  expect(await asked(huge, true)).toMatchObject({ text: "b|c|", dropped: { messages: 1 } });
  expect(tokenized).toBeLessThan(100);
});
