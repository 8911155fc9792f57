import { describe, expect, test } from "vitest";
import type { Lease } from "../../scheduler/lease.ts";
import type { GenerateDone } from "../../wire/inference/generate.ts";
import type { TurnEvent } from "../run-turn.ts";
import { encode, wholeAnswer } from "./chat-completions.ts";

const head = { id: "chatcmpl-1", created: 7, model: 'm"x' };
const ended = (reason: GenerateDone["reason"]): TurnEvent => ({
  kind: "done",
  done: {
    kind: "done",
    reason,
    stopString: null,
    promptTokens: 10,
    cachedTokens: 4,
    promptNs: 1,
    evalTokens: 3,
    evalNs: 1,
    truncatedTokens: 0,
    shiftedTokens: 0,
    context: null,
  },
  thinkingTokens: 2,
  lease: {} as Lease,
  dropped: { messages: 0, tokens: 0 },
  violations: [],
});
const answer: TurnEvent[] = [
  { kind: "thinking", text: "hm\n" },
  { kind: "content", text: 'a "b"\u2028' },
  { kind: "content", text: "é🙂" },
  { kind: "call", index: 0, id: "call_1", name: "f" },
  { kind: "arguments", index: 0, text: '{"a":' },
  { kind: "arguments", index: 0, text: "1}" },
  { kind: "called", index: 0, call: { id: "call_1", name: "f", arguments: { a: 1 }, text: '{"a":1}' } },
  { kind: "call", index: 1, id: "call_2", name: "g" },
  { kind: "arguments", index: 1, text: "{}" },
  { kind: "called", index: 1, call: { id: "call_2", name: "g", arguments: {}, text: "{}" } },
  ended("stop"),
];

async function* from(events: TurnEvent[]) {
  yield* events;
}

interface Chunk {
  id: string;
  created: number;
  model: string;
  choices: { delta: Record<string, unknown>; finish_reason: string | null }[];
  usage?: unknown;
}

async function stream(events: TurnEvent[], withUsage = false) {
  let text = "";
  for await (const part of encode(head, from(events), withUsage)) text += part;
  const lines = text.split("\n\n").filter((line) => line !== "");
  expect(lines.pop()).toBe("data: [DONE]");
  return lines.map((line) => JSON.parse(line.replace(/^data: /, "")) as Chunk);
}

describe("chat.completion.chunk", () => {
  test("sends the role, the pieces, then the finish reason, with one id and one time", async () => {
    const chunks = await stream(answer);
    expect(new Set(chunks.map(({ id, created, model }) => `${id} ${created} ${model}`))).toEqual(
      new Set(['chatcmpl-1 7 m"x']),
    );
    expect(chunks.map(({ choices }) => choices[0]!.delta)).toEqual([
      { role: "assistant", content: "" },
      { reasoning: "hm\n" },
      { content: 'a "b"\u2028' },
      { content: "é🙂" },
      { tool_calls: [{ index: 0, id: "call_1", type: "function", function: { name: "f", arguments: "" } }] },
      { tool_calls: [{ index: 0, function: { arguments: '{"a":' } }] },
      { tool_calls: [{ index: 0, function: { arguments: "1}" } }] },
      { tool_calls: [{ index: 1, id: "call_2", type: "function", function: { name: "g", arguments: "" } }] },
      { tool_calls: [{ index: 1, function: { arguments: "{}" } }] },
      {},
    ]);
    expect(chunks.map(({ choices }) => choices[0]!.finish_reason).slice(-2)).toEqual([null, "tool_calls"]);
  });

  test("sends the requested usage in a chunk without choices", async () => {
    expect((await stream(answer, true)).at(-1)).toMatchObject({
      choices: [],
      usage: { prompt_tokens: 10, completion_tokens: 3, total_tokens: 13 },
    });
    expect((await stream(answer, true)).slice(0, -1).every((chunk) => chunk.usage === null)).toBe(true);
    expect((await stream(answer)).some((chunk) => chunk.usage !== undefined)).toBe(false);
  });

  test("sends role and finish reason for an empty answer", async () => {
    expect((await stream([ended("length")])).map(({ choices }) => choices[0])).toEqual([
      { index: 0, delta: { role: "assistant", content: "" }, finish_reason: null },
      { index: 0, delta: {}, finish_reason: "length" },
    ]);
  });
});

test("the unstreamed answer equals the joined stream", async () => {
  const whole = await wholeAnswer(head, from(answer));
  expect(whole.choices[0]).toEqual({
    index: 0,
    finish_reason: "tool_calls",
    logprobs: null,
    message: {
      role: "assistant",
      content: 'a "b"\u2028é🙂',
      refusal: null,
      reasoning: "hm\n",
      tool_calls: [
        { id: "call_1", type: "function", function: { name: "f", arguments: '{"a":1}' } },
        { id: "call_2", type: "function", function: { name: "g", arguments: "{}" } },
      ],
    },
  });
  expect(whole.usage.prompt_tokens_details.cached_tokens).toBe(4);
  expect(whole.usage.completion_tokens_details.reasoning_tokens).toBe(2);
});
