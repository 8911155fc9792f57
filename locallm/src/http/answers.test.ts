import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Lease } from "../scheduler/lease.ts";
import { MessageBuilder } from "./anthropic/message-builder.ts";
import { encode as encodeMessage } from "./anthropic/messages.ts";
import { thinkingOf } from "./anthropic/signature.ts";
import * as native from "./native/chat.ts";
import * as completions from "./openai/chat-completions.ts";
import { ResponseBuilder } from "./openai/response-builder.ts";
import { encode as encodeResponse } from "./openai/responses.ts";
import type { Run } from "./run.ts";
import type { TurnEvent } from "./run-turn.ts";

/** Text that a model can write and that is awkward in JSON and event streams. */
const text = fc
  .array(
    fc.constantFrom(
      "a",
      '"',
      "\\",
      "\n",
      "\n\n",
      "data: ",
      "\u2028",
      "\u0000",
      "é",
      "🙂",
      "[DONE]",
      "{",
      " ",
    ),
    { minLength: 1, maxLength: 5 },
  )
  .map((parts) => parts.join(""));
const said = fc.record({ kind: fc.constantFrom("content" as const, "thinking" as const), text });
const called = fc.record({
  name: text,
  given: fc.dictionary(text, fc.jsonValue({ maxDepth: 1 })),
  cut: fc.nat(20),
});
const answers = fc
  .record({
    parts: fc.array(fc.oneof(said, called), { maxLength: 8 }),
    reason: fc.constantFrom("stop" as const, "length" as const),
  })
  .map(({ parts, reason }) => {
    let index = -1;
    const events = parts.flatMap((part): TurnEvent[] => {
      if ("kind" in part) return [part];
      index += 1;
      const { name } = part;
      const json = JSON.stringify(part.given);
      const given = JSON.parse(json) as Record<string, unknown>;
      const id = `call_${index}`;
      return [
        { kind: "call", index, id, name },
        { kind: "arguments", index, text: json.slice(0, part.cut) },
        { kind: "arguments", index, text: json.slice(part.cut) },
        { kind: "called", index, call: { id, name, arguments: given, text: json } },
      ];
    });
    return [...events, ended(reason)];
  });

function ended(reason: "stop" | "length"): TurnEvent {
  const counts = { promptTokens: 10, cachedTokens: 4, evalTokens: 7, truncatedTokens: 0, shiftedTokens: 0 };
  return {
    kind: "done",
    done: { kind: "done", reason, stopString: null, promptNs: 1, evalNs: 1, context: null, ...counts },
    thinkingTokens: 3,
    lease: { waitedMs: 0, numCtx: 2048 } as Lease,
    dropped: { messages: 0, tokens: 0 },
    violations: [],
  };
}

async function* from(events: readonly TurnEvent[]) {
  yield* events;
}

async function joined(parts: AsyncIterable<string>): Promise<string> {
  let all = "";
  for await (const part of parts) all += part;
  return all;
}

/** The data of each event, parsed line by line like a client does. */
function eventData(stream: string): unknown[] {
  const lines = stream.split("\n").flatMap((line) => (line.startsWith("data: ") ? [line.slice(6)] : []));
  return lines.filter((line) => line !== "[DONE]").map((line) => JSON.parse(line) as unknown);
}

const law = (holds: (events: TurnEvent[]) => Promise<void>) =>
  fc.assert(fc.asyncProperty(answers, holds), { seed: 9, numRuns: 200 });

describe("the streamed answer equals the unstreamed answer", () => {
  test("/api/chat", async () => {
    const model = { remotes: null } as Run["model"];
    const run = { options: { num_ctx: 2048 }, typedName: 'm"\n', startedMs: 0, model } as Run;
    interface Line {
      message: { content: string; thinking?: string; tool_calls?: unknown[] };
      done: boolean;
    }
    await law(async (events) => {
      const lines = (await joined(native.encode(run, from(events)))).trimEnd().split("\n");
      const chunks = lines.map((line) => JSON.parse(line) as Line);
      const whole = await native.wholeAnswer(run, from(events));
      expect(chunks.map(({ done }) => done)).toEqual(chunks.map((_, at) => at === chunks.length - 1));
      expect({
        content: chunks.map(({ message }) => message.content).join(""),
        thinking: chunks.map(({ message }) => message.thinking ?? "").join(""),
        calls: chunks.flatMap(({ message }) => message.tool_calls ?? []),
      }).toEqual({
        content: whole.message.content,
        thinking: whole.message.thinking ?? "",
        calls: whole.message.tool_calls ?? [],
      });
      expect(chunks.at(-1)).toMatchObject({ model: 'm"\n', eval_count: 7, done_reason: reasonOf(events) });
    });
  });

  test("/v1/chat/completions", async () => {
    const head = { id: "chatcmpl-1", created: 7, model: 'm"\n' };
    interface Call {
      index: number;
      function: { arguments: string };
    }
    interface Chunk {
      choices: {
        delta: { content?: string; reasoning?: string; tool_calls?: Call[] };
        finish_reason: string | null;
      }[];
      usage: unknown;
    }
    await law(async (events) => {
      const chunks = eventData(await joined(completions.encode(head, from(events), true))) as Chunk[];
      const { choices, usage } = await completions.wholeAnswer(head, from(events));
      const { message } = choices[0]!;
      const deltas = chunks.flatMap((chunk) => chunk.choices.map(({ delta }) => delta));
      const calls: Call[] = [];
      for (const { index, ...call } of deltas.flatMap((delta) => delta.tool_calls ?? [])) {
        if (calls[index] === undefined) calls[index] = call as Call;
        else calls[index].function.arguments += call.function.arguments;
      }
      expect({
        content: deltas.map((delta) => delta.content ?? "").join(""),
        reasoning: deltas.map((delta) => delta.reasoning ?? "").join(""),
        calls,
        reasons: chunks.flatMap((chunk) => chunk.choices.flatMap((choice) => choice.finish_reason ?? [])),
        usages: chunks.map((chunk) => chunk.usage),
      }).toEqual({
        content: message.content ?? "",
        reasoning: message.reasoning ?? "",
        calls: message.tool_calls ?? [],
        reasons: [choices[0]!.finish_reason],
        usages: [...Array<null>(chunks.length - 1).fill(null), usage],
      });
      expect(usage.completion_tokens_details.reasoning_tokens).toBe(3);
    });
  });

  test("/v1/responses", async () => {
    const builder = () => new ResponseBuilder("m", {}, () => 7);
    interface Event {
      type: string;
      output_index?: number;
      item?: Record<string, unknown>;
      delta?: string;
      response?: { output: Record<string, unknown>[]; usage: unknown };
    }
    await law(async (events) => {
      const all = eventData(await joined(encodeResponse(builder(), from(events), async () => {}))) as Event[];
      const last = all.at(-1)!;
      const whole = builder();
      for (const event of events) whole.take(event);
      const shown = (items: readonly Record<string, unknown>[]) => items.map(({ id: _, ...rest }) => rest);
      expect(shown(last.response!.output)).toEqual(shown(whole.response["output"] as never[]));
      expect(last.response!.usage).toEqual(whole.response["usage"]);
      // Each done item equals the item in the response, and its deltas add up to its text.
      const done = all.filter(({ type }) => type === "response.output_item.done");
      expect(done.map(({ item }) => item)).toEqual(last.response!.output);
      for (const [index, item] of last.response!.output.entries()) {
        const deltas = all.filter((event) => event.output_index === index && event.delta !== undefined);
        const content = item["content"] as { text: string }[] | undefined;
        expect(deltas.map(({ delta }) => delta).join("")).toBe(content?.[0]?.text ?? item["arguments"]);
      }
    });
  });

  test.each([false, true])("/v1/messages, thinking omitted: %s", async (omitsThinking) => {
    const builder = () => new MessageBuilder({ model: "m", omitsThinking, stopSequences: [], maxTokens: 7 });
    interface Block {
      type: string;
      thinking?: string;
      signature?: string;
      [field: string]: unknown;
    }
    interface Event {
      type: string;
      index?: number;
      content_block?: Block;
      delta?: Record<string, string>;
      usage?: unknown;
      message?: { content: unknown[]; usage: unknown };
    }
    await law(async (events) => {
      const all = eventData(await joined(encodeMessage(builder(), from(events)))) as Event[];
      expect(all.map(shortName).join("")).toMatch(/^<p(\[d*\])*d>$/);
      const whole = builder();
      for (const event of events) whole.take(event);
      const content: Block[] = [];
      for (const { type, index = 0, content_block: block, delta = {} } of all) {
        if (type === "content_block_start") content.push({ ...block! });
        if (type === "content_block_start") expect(index).toBe(content.length - 1);
        if (type !== "content_block_delta") continue;
        const open = content[index]!;
        if (delta["type"] === "text_delta") open["text"] = String(open["text"]) + delta["text"];
        if (delta["type"] === "thinking_delta") open.thinking = open.thinking! + delta["thinking"];
        if (delta["type"] === "signature_delta") open.signature = delta["signature"]!;
        if (delta["type"] === "input_json_delta")
          open["json"] = String(open["json"] ?? "") + delta["partial_json"];
      }
      const shown = content.map(({ json, ...block }) =>
        json === undefined ? block : { ...block, input: JSON.parse(String(json)) as unknown },
      );
      expect(shown).toEqual(whole.message["content"]);
      // Anthropic gives a whole message these fields, too.
      const ofMessage = { cache_creation: null, inference_geo: null, service_tier: "standard", speed: null };
      expect(whole.message["usage"]).toEqual({ ...(all.at(-2)!.usage as object), ...ofMessage });
      // Clients must be able to send back all of the thinking, even if it was not shown to them.
      const thought = content.filter(({ type }) => type === "thinking") as { thinking: string }[];
      expect(thought.map(thinkingOf).join("")).toBe(
        events.map((event) => (event.kind === "thinking" ? event.text : "")).join(""),
      );
      if (omitsThinking) expect(thought.map(({ thinking }) => thinking).join("")).toBe("");
    });
  });
});

function shortName({ type }: { type: string }): string {
  const names: Record<string, string> = {
    message_start: "<",
    ping: "p",
    content_block_start: "[",
    content_block_delta: "d",
    content_block_stop: "]",
    message_delta: "d",
    message_stop: ">",
  };
  return names[type] ?? "?";
}

function reasonOf(events: readonly TurnEvent[]): string | undefined {
  const last = events.at(-1);
  return last?.kind === "done" ? last.done.reason : undefined;
}
