import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { collect, type ScriptedEngine, startScriptedEngine } from "../../../test/scripted-engine.ts";
import { plainTurn, type Turn } from "../../dialogue/turn.ts";
import type { RemoteOptions } from "../engine.ts";
import { anthropic } from "./anthropic.ts";

let engine: ScriptedEngine;
beforeAll(async () => {
  engine = await startScriptedEngine("anthropic");
});
afterAll(() => engine.stop());
beforeEach(() => {
  engine.received.length = 0;
});

const user = [{ role: "user", content: "hi" }];

function ask(parts: Partial<Turn> = {}, options: RemoteOptions = {}, more = {}) {
  const turn = plainTurn(parts.messages ?? user, parts);
  return collect(
    anthropic.turn(engine.upstream, { turn, options, ...more }, engine.call({ newCallId: () => "made" })),
  );
}

type Event = { type: string } & Record<string, unknown>;

function stream(...events: Event[]): string {
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
}

const start = {
  type: "message_start",
  message: {
    ...{ id: "msg_1", role: "assistant", content: [], stop_reason: null },
    usage: {
      input_tokens: 4,
      cache_read_input_tokens: 100,
      cache_creation_input_tokens: 10,
      output_tokens: 1,
    },
  },
};
const block = (index: number, content_block: object) => ({
  type: "content_block_start",
  index,
  content_block,
});
const delta = (index: number, fields: object) => ({ type: "content_block_delta", index, delta: fields });
const close = (index: number) => ({ type: "content_block_stop", index });
const ending = (stop_reason: string, stop_sequence: string | null = null) => [
  { type: "message_delta", delta: { stop_reason, stop_sequence }, usage: { output_tokens: 9 } },
  { type: "message_stop" },
];
const whole = stream(
  start,
  { type: "ping" },
  ...[
    block(0, { type: "thinking", thinking: "", signature: "" }),
    delta(0, { type: "thinking_delta", thinking: "dünkt" }),
  ],
  ...[delta(0, { type: "signature_delta", signature: "x" }), close(0)],
  ...[block(1, { type: "text", text: "" }), delta(1, { type: "text_delta", text: "ä😀" }), close(1)],
  ...[
    block(2, { type: "tool_use", id: "toolu_1", name: "f", input: {} }),
    delta(2, { type: "input_json_delta", partial_json: "" }),
  ],
  ...[
    delta(2, { type: "input_json_delta", partial_json: '{"ü":' }),
    delta(2, { type: "input_json_delta", partial_json: "1}" }),
    close(2),
  ],
  ...[block(3, { type: "tool_use", id: "toolu_2", name: "g", input: {} }), close(3)],
  ...ending("tool_use"),
);

describe("reading an answer of Anthropic's protocol", () => {
  it("reads thinking, text, calls, counts and the number of cached tokens", async () => {
    engine.answers({ chunks: [whole] });
    const read = await ask();
    expect(read).toMatchObject({
      ...{ thinking: "dünkt", content: "ä😀" },
      calls: [
        { id: "toolu_1", name: "f", arguments: { ü: 1 } },
        { id: "toolu_2", name: "g", arguments: {}, text: "{}" },
      ],
      done: {
        done: { promptTokens: 114, cachedTokens: 100, evalTokens: 9, reason: "stop", stopString: null },
      },
    });
    expect(read.done?.isEstimated).toBeUndefined();
  });

  it("reads the same from a stream that is cut at any byte", async () => {
    engine.answers({ chunks: [whole] });
    const expected = { ...(await ask()), done: undefined };
    const bytes = Buffer.from(whole);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(bytes.length), { minLength: 1, maxLength: 6 }), async (cuts) => {
        const at = [0, ...cuts.sort((a, b) => a - b), bytes.length];
        const chunks = at.slice(1).map((end, index) => bytes.subarray(at[index], end));
        engine.answers({ chunks: chunks.filter(({ length }) => length > 0) });
        expect({ ...(await ask()), done: undefined }).toEqual(expected);
      }),
      { numRuns: 30 },
    );
  });

  it.each<[string, Event[], object]>([
    ["a stop sequence", ending("stop_sequence", "END"), { reason: "stop", stopString: "END" }],
    ["the limit", ending("max_tokens"), { reason: "length" }],
    ["a full window", ending("model_context_window_exceeded"), { reason: "length" }],
    ["a refusal", ending("refusal"), { reason: "stop" }],
    ["no reason", [{ type: "message_stop" }], { reason: "stop" }],
  ])("reads the end by %s", async (_, events, done) => {
    engine.answers({ chunks: [stream(start, delta(0, { type: "text_delta", text: "a" }), ...events)] });
    expect((await ask()).done?.done).toMatchObject(done);
  });

  it("reads a whole message of an engine that does not stream", async () => {
    const content = [
      { type: "text", text: "a" },
      { type: "tool_use", id: "t1", name: "f", input: { a: 1 } },
    ];
    const message = {
      ...{ type: "message", content, stop_reason: "tool_use" },
      usage: { input_tokens: 3, output_tokens: 2 },
    };
    engine.answers({ headers: { "content-type": "application/json" }, chunks: [JSON.stringify(message)] });
    expect(await ask()).toMatchObject({
      content: "a",
      calls: [{ id: "t1", arguments: { a: 1 } }],
      done: { done: { promptTokens: 3, evalTokens: 2 } },
    });
  });

  it("accepts events that are out of order, lack a type, or come from later versions", async () => {
    const events = [
      delta(5, { type: "input_json_delta", partial_json: "{}" }),
      close(9),
      block(1, { type: "redacted_thinking", data: "x" }),
      { type: "future" },
    ];
    const nameless =
      'event: content_block_delta\ndata: {"index":0,"delta":{"type":"text_delta","text":"a"}}\n\n';
    engine.answers({ chunks: [stream(...events) + nameless + stream(...ending("end_turn"))] });
    expect(await ask()).toMatchObject({ content: "a", calls: [], done: { isEstimated: true } });
  });

  const overloaded = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };
  it.each<[string, Parameters<ScriptedEngine["answers"]>[0], string]>([
    ["an error as the first event", { chunks: [stream(overloaded)] }, "remote_busy"],
    [
      "an error in the middle",
      { chunks: [stream(start, delta(0, { type: "text_delta", text: "a" }), overloaded)] },
      "remote_broke_off",
    ],
    [
      "an end in the middle",
      { chunks: [stream(start, delta(0, { type: "text_delta", text: "a" }))] },
      "remote_broke_off",
    ],
    ["status 529", { status: 529, chunks: [JSON.stringify(overloaded)] }, "remote_busy"],
    [
      "a long prompt",
      {
        status: 400,
        chunks: [
          JSON.stringify({
            type: "error",
            error: { type: "invalid_request_error", message: "prompt is too long: 9 tokens > 8 maximum" },
          }),
        ],
      },
      "remote_prompt_too_long",
    ],
  ])("reports %s", async (_, answer, code) => {
    engine.answers(answer);
    await expect(ask()).rejects.toMatchObject({ code });
  });
});

describe("writing a request of Anthropic's protocol", () => {
  const sent = async (parts: Partial<Turn>, options: RemoteOptions = {}, more = {}) => {
    engine.answers({ chunks: [stream(start, ...ending("end_turn"))] });
    const { ignored } = await ask(parts, options, more);
    return { ignored, ...engine.received[0]! };
  };

  it("sends the key and the version, and no options that were not set", async () => {
    const { headers, body, path } = await sent({});
    expect(path).toBe("/v1/messages");
    expect(headers).toMatchObject({ "x-api-key": "secret", "anthropic-version": "2023-06-01" });
    const messages = [{ role: "user", content: [{ type: "text", text: "hi" }] }];
    expect(body).toEqual({ model: "m", max_tokens: 32_000, stream: true, messages });
  });

  it("sends the system text separately, and joins the results of one message's calls", async () => {
    const call = (name: string) => ({ function: { name, arguments: {} } });
    const { body } = await sent({
      messages: [
        ...[{ role: "system", content: "A" }, { role: "developer", content: "B" }, ...user],
        { role: "assistant", content: "", thinking: "t", tool_calls: [call("f"), call("g")] },
        ...[
          { role: "tool", content: "1", tool_name: "f" },
          { role: "tool", content: "2", tool_name: "g" },
        ],
        ...[
          { role: "system", content: "C" },
          { role: "user", content: " " },
        ],
      ],
    });
    expect(body).toMatchObject({
      system: "A\n\nB",
      messages: [
        { role: "user" },
        {
          role: "assistant",
          content: [{ type: "tool_use", id: "call_1", name: "f", input: {} }, { id: "call_2" }],
        },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "call_1", content: "1" },
            { tool_use_id: "call_2" },
            { type: "text", text: "C" },
          ],
        },
      ],
    });
  });

  const f = { type: "function", function: { name: "f" } };
  it.each<[Partial<Turn>, RemoteOptions, object, string[]]>([
    [
      { tools: [f], toolChoice: { kind: "required" }, severalCalls: false },
      {},
      {
        tools: [{ name: "f", input_schema: { type: "object" } }],
        tool_choice: { type: "any", disable_parallel_tool_use: true },
      },
      [],
    ],
    [
      { tools: [f], toolChoice: { kind: "named", name: "f" } },
      {},
      { tool_choice: { type: "tool", name: "f" } },
      [],
    ],
    [{ tools: [f], toolChoice: { kind: "none" } }, {}, { tool_choice: { type: "none" } }, []],
    [{ think: "high" }, {}, { thinking: { type: "enabled", budget_tokens: 16_000 } }, []],
    [{ think: true }, { num_predict: 2000 }, { max_tokens: 2000, thinking: { budget_tokens: 1024 } }, []],
    [{ think: true }, { num_predict: 100 }, { max_tokens: 100 }, ["think"]],
    [{ think: false }, {}, { thinking: { type: "disabled" } }, []],
    [
      { format: { kind: "schema", schema: { type: "object" } } },
      {},
      { output_config: { format: { type: "json_schema" } } },
      [],
    ],
    [{ format: { kind: "json" } }, {}, {}, ["format"]],
    [
      {},
      { temperature: 1.5, top_k: 0, stop: ["\n", "END"], seed: 1 },
      { temperature: 1, stop_sequences: ["END"] },
      ["options.seed", "options.temperature", "options.stop"],
    ],
  ])("sends %j with %j", async (parts, options, body, ignored) => {
    const request = await sent(parts, options);
    expect(request.body).toMatchObject(body);
    expect(request.ignored).toEqual(ignored);
  });

  it("rejects raw prompts and embeddings", async () => {
    const completion = collect(
      anthropic.complete(engine.upstream, { prompt: "p", options: {} }, engine.call()),
    );
    await expect(completion).rejects.toMatchObject({ code: "unsupported_capability" });
    const embedding = anthropic.embed(engine.upstream, ["a"], engine.call());
    await expect(embedding).rejects.toMatchObject({ code: "unsupported_capability" });
  });

  it("lists models, unless the list has further pages", async () => {
    const json = { "content-type": "application/json" };
    engine.answers({ headers: json, chunks: ['{"data":[{"id":"m"}],"has_more":false}'] });
    expect((await anthropic.probe(engine.upstream, engine.call())).models).toEqual(["m"]);
    engine.answers({ headers: json, chunks: ['{"data":[{"id":"n"}],"has_more":true}'] });
    expect((await anthropic.probe(engine.upstream, engine.call())).models).toBeNull();
  });
});
