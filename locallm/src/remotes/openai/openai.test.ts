import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  collect,
  done,
  eventStream,
  type ScriptedEngine,
  startScriptedEngine,
} from "../../../test/scripted-engine.ts";
import { plainTurn, type Turn } from "../../dialogue/turn.ts";
import type { ErrorCode, LocallmError } from "../../wire/errors.ts";
import type { RemoteOptions } from "../engine.ts";
import { mayRetryElsewhere } from "../failure.ts";
import { openai } from "./openai.ts";

let engine: ScriptedEngine;
beforeAll(async () => {
  engine = await startScriptedEngine();
});
afterAll(() => engine.stop());
beforeEach(() => {
  engine.received.length = 0;
});

const user = [{ role: "user", content: "hi" }];
let ids = 0;

function ask(parts: Partial<Turn> = {}, options: RemoteOptions = {}, more = {}) {
  const { messages = user, ...rest } = parts;
  const call = engine.call({ newCallId: () => `made_${ids++}` });
  return openai.turn(engine.upstream, { turn: plainTurn(messages, rest), options, ...more }, call);
}

async function answer(
  chunks: string | readonly (string | Uint8Array)[],
  headers: Record<string, string> = {},
) {
  ids = 0;
  engine.answers({ chunks: typeof chunks === "string" ? [chunks] : chunks, headers });
  return await collect(ask());
}

const delta = (fields: object, more: object = {}) => ({
  object: "chat.completion.chunk",
  choices: [{ index: 0, delta: fields, finish_reason: null, ...more }],
});
const stop = delta({}, { finish_reason: "stop" });
const text = (content: string) => delta({ content });
const part = (call: object) => delta({ tool_calls: [call] });
const counts = {
  ...{ prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
  prompt_tokens_details: { cached_tokens: 5 },
  completion_tokens_details: { reasoning_tokens: 2 },
};
const usage = { object: "chat.completion.chunk", choices: [], usage: counts };

describe("reading an answer of OpenAI's protocol", () => {
  it.each<[string, string, { content?: string; thinking?: string }]>([
    ["plain text", eventStream(text("a"), text("b"), stop, done), { content: "ab" }],
    [
      "a role-only delta, null and missing content",
      eventStream(delta({ role: "assistant", content: null }), delta({}), text("a"), stop, done),
      { content: "a" },
    ],
    [
      "reasoning (vLLM, Ollama)",
      eventStream(delta({ reasoning: "t" }), text("\n\na"), stop, done),
      { thinking: "t", content: "a" },
    ],
    [
      "reasoning_content (SGLang, llama-server)",
      eventStream(delta({ reasoning_content: "t" }), text("a"), stop, done),
      { thinking: "t", content: "a" },
    ],
    [
      "both names in one delta",
      eventStream(delta({ reasoning_content: "t", reasoning: "t" }), text("a"), stop, done),
      { thinking: "t", content: "a" },
    ],
    [
      "<think> in the content",
      eventStream(text("<th"), text("ink>t</thi"), text("nk>\n\na <think> b"), stop, done),
      { thinking: "t", content: "a <think> b" },
    ],
    ["content that only begins like a tag", eventStream(text("<thin"), stop, done), { content: "<thin" }],
    [
      "content as parts, with thinking (Mistral)",
      eventStream(
        delta({
          content: [
            { type: "thinking", thinking: [{ type: "text", text: "t" }] },
            { type: "text", text: "a" },
          ],
        }),
        stop,
        done,
      ),
      { thinking: "t", content: "a" },
    ],
    ["a refusal", eventStream(delta({ refusal: "no" }), stop, done), { content: "no" }],
    ["no end mark", eventStream(text("a"), stop), { content: "a" }],
    ["no finish reason", eventStream(text("a"), done), { content: "a" }],
    ["no empty line after the last event", eventStream(text("a"), stop).trimEnd(), { content: "a" }],
    [
      "comments and CRLF",
      `: keep-alive\r\n\r\n${eventStream(text("a"), stop, done).replaceAll("\n", "\r\n")}`,
      { content: "a" },
    ],
    [
      "other choices",
      eventStream({ choices: [{ index: 1, delta: { content: "x" } }] }, text("a"), stop, done),
      { content: "a" },
    ],
    ["chunks after the end", eventStream(text("a"), stop, done, text("late")), { content: "a" }],
  ])("reads %s", async (_, stream, { content = "", thinking = "" }) => {
    expect(await answer(stream)).toMatchObject({ content, thinking, done: { kind: "done" } });
  });

  it("reads a whole answer of an engine that does not stream", async () => {
    const call = { id: "c1", type: "function", function: { name: "f", arguments: '{"a":1}' } };
    const message = { role: "assistant", content: "a", reasoning_content: "t", tool_calls: [call] };
    const whole = { choices: [{ index: 0, message, finish_reason: "tool_calls" }], usage: counts };
    const read = await answer(JSON.stringify(whole), { "content-type": "application/json" });
    expect(read).toMatchObject({ content: "a", thinking: "t", calls: [{ id: "c1", arguments: { a: 1 } }] });
    expect(read.done).toMatchObject({ thinkingTokens: 2, done: { promptTokens: 7, evalTokens: 3 } });
  });

  it.each<[string, object[], object[]]>([
    [
      "pieces with an index, and the id only in the first",
      [
        part({ index: 0, id: "c1", function: { name: "f", arguments: "" } }),
        part({ index: 0, function: { arguments: '{"a"' } }),
        part({ index: 0, function: { arguments: ":1}" } }),
      ],
      [{ id: "c1", name: "f", arguments: { a: 1 }, text: '{"a":1}' }],
    ],
    [
      "neither id nor index",
      [
        part({ function: { name: "f", arguments: '{"a":1}' } }),
        part({ function: { name: "f", arguments: '{"a":2}' } }),
      ],
      [
        { id: "made_0", arguments: { a: 1 } },
        { id: "made_1", arguments: { a: 2 } },
      ],
    ],
    [
      "several calls in one delta",
      [
        delta({
          tool_calls: [
            { index: 0, id: "c1", function: { name: "f", arguments: "{}" } },
            { index: 1, id: "c2", function: { name: "g", arguments: "{}" } },
          ],
        }),
      ],
      [
        { id: "c1", name: "f" },
        { id: "c2", name: "g" },
      ],
    ],
    [
      "calls whose pieces are mixed",
      [
        part({ index: 0, id: "c1", function: { name: "f", arguments: '{"a":' } }),
        part({ index: 1, id: "c2", function: { name: "g", arguments: '{"b":' } }),
        part({ index: 0, function: { arguments: "1}" } }),
        part({ index: 1, function: { arguments: "2}" } }),
      ],
      [
        { id: "c1", arguments: { a: 1 } },
        { id: "c2", arguments: { b: 2 } },
      ],
    ],
    [
      "the index 0 for every call",
      [
        part({ index: 0, id: "c1", function: { name: "f", arguments: "{}" } }),
        part({ index: 0, id: "c2", function: { name: "f", arguments: "{}" } }),
      ],
      [{ id: "c1" }, { id: "c2" }],
    ],
    [
      "the same id twice",
      [
        part({ index: 0, id: "c1", function: { name: "f", arguments: "{}" } }),
        part({ index: 1, id: "c1", function: { name: "g", arguments: "{}" } }),
      ],
      [
        { id: "c1", name: "f" },
        { id: "made_0", name: "g" },
      ],
    ],
    [
      "id and name repeated in every piece",
      [
        part({ index: 0, id: "c1", function: { name: "f", arguments: '{"a"' } }),
        part({ index: 0, id: "c1", function: { name: "f", arguments: ":1}" } }),
      ],
      [{ id: "c1", name: "f", arguments: { a: 1 } }],
    ],
    [
      "arguments as an object",
      [part({ index: 0, id: "c1", function: { name: "f", arguments: { a: "}" } } })],
      [{ arguments: { a: "}" } }],
    ],
    [
      "no arguments",
      [part({ index: 0, id: "c1", function: { name: "f" } })],
      [{ arguments: {}, text: "{}" }],
    ],
    [
      "arguments that are cut off",
      [part({ index: 0, id: "c1", function: { name: "f", arguments: '{"a' } })],
      [{ arguments: null, text: '{"a' }],
    ],
    [
      "function_call",
      [
        delta({ function_call: { name: "f", arguments: '{"a"' } }),
        delta({ function_call: { arguments: ":1}" } }),
        delta({}, { finish_reason: "function_call" }),
      ],
      [{ id: "made_0", name: "f", arguments: { a: 1 } }],
    ],
    ["pieces that belong to nothing", [part({ index: 3, function: { arguments: "{}" } }), part({})], []],
  ])("reads tool calls with %s", async (_, events, calls) => {
    const read = await answer(eventStream(...events, stop, done));
    expect(read.calls).toMatchObject(calls);
    // One call after the other: our APIs have no other order.
    const order = read.pieces.map((piece) => ("index" in piece ? piece.index : -1));
    expect(order).toEqual([...order].sort((a, b) => a - b));
    for (const [index, call] of read.calls.entries()) {
      const parts = read.pieces.flatMap((piece) =>
        piece.kind === "arguments" && piece.index === index ? [piece.text] : [],
      );
      expect(parts.join("")).toBe(call.text);
    }
  });

  it("takes counts from usage, and marks estimates", async () => {
    const known = await answer(eventStream(text("a"), stop, usage, done));
    expect(known.done).toMatchObject({
      thinkingTokens: 2,
      done: { promptTokens: 7, evalTokens: 3, cachedTokens: 5 },
    });
    expect(known.done?.isEstimated).toBeUndefined();
    const estimated = await answer(eventStream(text("a"), text("b"), stop, done));
    expect(estimated.done).toMatchObject({ isEstimated: true, done: { evalTokens: 2, cachedTokens: 0 } });
    expect(estimated.done?.done.promptTokens).toBeGreaterThan(0);
  });

  it("takes llama-server's timings, and measures otherwise", async () => {
    const timings = { prompt_n: 2, prompt_ms: 1.5, predicted_n: 3, predicted_ms: 2.25, cache_n: 5 };
    const timed = await answer(eventStream(text("a"), { ...stop, timings }, done));
    expect(timed.done?.done).toMatchObject({
      promptTokens: 7,
      cachedTokens: 5,
      evalTokens: 3,
      promptNs: 1_500_000,
      evalNs: 2_250_000,
    });
    let clock = 0;
    engine.answers({ chunks: [eventStream(text("a"), stop, usage, done)] });
    const call = engine.call({ now: () => (clock += 10) });
    const measured = await collect(
      openai.turn(engine.upstream, { turn: plainTurn(user), options: {} }, call),
    );
    expect(measured.done?.done).toMatchObject({ promptNs: 10_000_000, evalNs: 10_000_000 });
  });

  it.each<[string, unknown]>([
    ["a fraction", 12.5],
    ["a negative number", -1],
    ["more than an integer can hold", 1e300],
    ["more than any engine computes", 2 ** 52],
    ["a text", "7"],
  ])("estimates the counts of an engine that reports %s", async (_, count) => {
    const reported = { prompt_tokens: count, completion_tokens: count };
    const { done: end } = await answer(eventStream(text("a"), stop, { choices: [], usage: reported }, done));
    const { promptTokens, evalTokens } = end!.done;
    for (const each of [promptTokens, evalTokens]) {
      expect(Number.isInteger(each)).toBe(true);
      expect(each).toBeLessThan(1000);
    }
  });

  it("limits durations to what JSON can hold", async () => {
    const timings = { prompt_ms: 1e300, predicted_ms: Number.MAX_SAFE_INTEGER };
    const { done: end } = await answer(eventStream(text("a"), { ...stop, timings }, done));
    expect(Number.isSafeInteger(end!.done.promptNs)).toBe(true);
    expect(Number.isSafeInteger(end!.done.evalNs)).toBe(true);
  });

  it("reads finish reasons and stop strings", async () => {
    const ended = async (more: object, options: RemoteOptions = {}) => {
      engine.answers({ chunks: [eventStream(text("a"), delta({}, more), usage, done)] });
      return (await collect(ask({}, options))).done?.done;
    };
    expect(await ended({ finish_reason: "length" })).toMatchObject({ reason: "length" });
    expect(await ended({ finish_reason: "tool_calls" })).toMatchObject({ reason: "stop", stopString: null });
    expect(await ended({ finish_reason: "stop", stop_reason: "END" })).toMatchObject({ stopString: "END" });
    expect(await ended({ finish_reason: "stop", stop_reason: 128009 })).toMatchObject({ stopString: null });
    expect(await ended({ finish_reason: "stop", matched_stop: "END" })).toMatchObject({ stopString: "END" });
    expect(await ended({}, { num_predict: 3 })).toMatchObject({ reason: "length" });
  });

  it("generates no text for num_predict 0, although engines compute at least one token", async () => {
    engine.answers({ chunks: [eventStream(text("a"), delta({}, { finish_reason: "length" }), usage, done)] });
    const read = await collect(ask({}, { num_predict: 0 }));
    expect(engine.received[0]?.body).toMatchObject({ max_tokens: 1 });
    expect(read).toMatchObject({
      content: "",
      done: { done: { reason: "length", evalTokens: 0, promptTokens: 7 } },
    });
  });

  it("passes log probabilities on with the text of their tokens", async () => {
    const token = {
      token: "a",
      logprob: -0.5,
      bytes: [97],
      top_logprobs: [{ token: "b", logprob: -1, bytes: null }],
    };
    const events = [delta({ content: "" }, { logprobs: { content: [token] } }), text("a"), stop, done];
    const read = await answer(eventStream(...events));
    const top = [{ token: "b", logprob: -1, bytes: [98] }];
    expect(read.pieces).toEqual([
      { kind: "content", text: "a", logprobs: [{ ...token, top_logprobs: top }] },
    ]);
  });

  const whole = eventStream(
    ...[
      delta({ role: "assistant", content: null }),
      delta({ reasoning: "dünkt" }),
      text("ä😀"),
      text("\u2028x"),
    ],
    ...[
      part({ index: 0, id: "c1", function: { name: "f", arguments: '{"ü":' } }),
      part({ index: 0, function: { arguments: '"\\"}"}' } }),
    ],
    ...[stop, usage, done],
  ).replace("\n", "\r\n");

  it("reads the same from a stream that is cut at any byte", async () => {
    const bytes = Buffer.from(`: ping\n\n${whole}`);
    const expected = { ...(await answer([bytes])), done: undefined };
    expect(expected).toMatchObject({
      content: "ä😀\u2028x",
      thinking: "dünkt",
      calls: [{ arguments: { ü: '"}' } }],
    });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(bytes.length), { minLength: 1, maxLength: 6 }), async (cuts) => {
        const at = [0, ...cuts.sort((a, b) => a - b), bytes.length];
        const chunks = at.slice(1).map((end, index) => bytes.subarray(at[index], end));
        expect({ ...(await answer(chunks.filter(({ length }) => length > 0))), done: undefined }).toEqual(
          expected,
        );
      }),
      { numRuns: 40 },
    );
  });

  it("keeps the connection for the next request, and cuts it when the reader leaves", async () => {
    await answer(eventStream(text("a"), stop, done));
    const before = engine.connections();
    for (let count = 0; count < 3; count++) await answer(eventStream(text("a"), stop, done));
    expect(engine.connections()).toBe(before);
    const gone = Promise.withResolvers<void>();
    engine.answers((_, response) => {
      response.once("close", () => gone.resolve());
      return { chunks: [eventStream(text("a"))], end: "hang" };
    });
    for await (const piece of ask()) if (piece.kind === "content") break;
    await gone.promise;
  });
});

describe("an engine that fails", () => {
  const failure = async (scripted: Parameters<ScriptedEngine["answers"]>[0]) => {
    engine.answers(scripted);
    const events = ask();
    return await collect(events).then(
      () => null,
      (error: LocallmError) => error,
    );
  };
  const json = { "content-type": "application/json" };
  const says = (body: unknown) => [typeof body === "string" ? body : JSON.stringify(body)];

  it.each<[string, number, unknown, ErrorCode, number, string]>([
    [
      "OpenAI's shape",
      400,
      { error: { message: "bad \u0007 value", type: "invalid_request_error" } },
      "remote_refused",
      400,
      "bad value",
    ],
    ["vLLM's older shape", 400, { object: "error", message: "no", code: 400 }, "remote_refused", 400, "no"],
    [
      "vLLM's window",
      400,
      { object: "error", message: "This model's maximum context length is 4096 tokens." },
      "remote_prompt_too_long",
      400,
      "4096",
    ],
    [
      "llama-server's window",
      400,
      { error: { code: 400, type: "exceed_context_size_error", message: "too many" } },
      "remote_prompt_too_long",
      400,
      "too many",
    ],
    [
      "SGLang's window",
      400,
      {
        object: "error",
        message: "The input (9 tokens) is longer than the model's context length (8 tokens).",
      },
      "remote_prompt_too_long",
      400,
      "9 tokens",
    ],
    [
      "TGI's validation",
      422,
      {
        error: "Input validation error: `inputs` must have less than 8 tokens. Given: 9",
        error_type: "validation",
      },
      "remote_prompt_too_long",
      400,
      "Given: 9",
    ],
    [
      "FastAPI's validation",
      422,
      { detail: [{ loc: ["body", "messages"], msg: "Field required" }] },
      "remote_refused",
      400,
      "body.messages: Field required",
    ],
    ["a wrong key", 401, { error: "Unauthorized" }, "remote_unauthorized", 502, "Unauthorized"],
    [
      "an unknown model",
      404,
      { error: { message: "no such model" } },
      "remote_model_missing",
      404,
      "no such model",
    ],
    ["a redirect", 307, "", "remote_failed", 502, "redirects"],
    [
      "an HTML page",
      502,
      "<html><head><title>502 Bad Gateway</title></head>x",
      "remote_failed",
      502,
      "HTML page: 502 Bad Gateway",
    ],
    ["an empty body", 500, "", "remote_failed", 502, "status 500"],
    ["a page of rubbish", 500, "x".repeat(100_000), "remote_failed", 502, "status 500"],
    ["no free place", 503, { error: { message: "Loading model" } }, "remote_busy", 503, "Loading model"],
  ])("answers with %s", async (_, status, body, code, ours, words) => {
    const error = await failure({ status, headers: json, chunks: says(body) });
    expect(error).toMatchObject({ code, status: ours });
    expect(error?.message).toContain(words);
    expect(error?.message).toContain(new URL(engine.upstream.url).host);
  });

  it.each([
    ["seconds", { "retry-after": "7" }, 7],
    [
      "a date, by the engine's own clock",
      { date: "Sun, 06 Nov 1994 08:49:37 GMT", "retry-after": "Sun, 06 Nov 1994 08:50:07 GMT" },
      30,
    ],
    ["a year", { "retry-after": "31536000" }, 3600],
    ["rubbish", { "retry-after": "soon" }, 1],
  ])("passes Retry-After on as %s", async (_, headers, seconds) => {
    const error = await failure({ status: 429, headers, chunks: says({ error: "later" }) });
    expect(error).toMatchObject({ code: "remote_busy", details: { retryAfterSeconds: seconds } });
  });

  const overloaded = { error: { message: "no memory", code: 503 } };
  it.each<[string, string, ErrorCode, boolean]>([
    ["an error as the first event", eventStream(overloaded), "remote_busy", true],
    ["an error after the first piece", eventStream(text("a"), overloaded), "remote_broke_off", false],
    [
      "TGI's error field",
      'error: {"error":"no memory","error_type":"generation"}\n\n',
      "remote_failed",
      true,
    ],
    ["an error as a text", eventStream({ error: "no memory" }), "remote_failed", true],
    [
      "vLLM's older shape",
      eventStream({ object: "error", message: "no memory", code: 400 }),
      "remote_refused",
      false,
    ],
    ["an event named error", 'event: error\ndata: {"message":"no memory"}\n\n', "remote_failed", true],
    ["an end before the first piece", ": ping\n\n", "remote_failed", true],
    ["an end in the middle", eventStream(text("a")), "remote_broke_off", false],
    [
      "an event cut in the middle",
      `${eventStream(text("a"))}data: {"choices":[{"del`,
      "remote_broke_off",
      false,
    ],
    ["JSON that is not valid", `${eventStream(text("a"))}data: {"a\n\n`, "remote_broke_off", false],
    [
      "finish reason abort",
      eventStream(text("a"), delta({}, { finish_reason: "abort" }), done),
      "remote_broke_off",
      false,
    ],
  ])("sends %s", async (_, stream, code, mayRetry) => {
    const error = await failure({ chunks: [stream] });
    expect(error).toMatchObject({ code });
    expect(mayRetryElsewhere(error)).toBe(mayRetry);
  });

  it("sends an HTML page with status 200", async () => {
    const error = await failure({ headers: { "content-type": "text/html" }, chunks: ["<html>"] });
    expect(error).toMatchObject({ code: "remote_failed" });
  });

  it("sends bytes that are not UTF-8", async () => {
    const bytes = Buffer.from(eventStream(text("a")) + eventStream(text("?")));
    bytes[bytes.lastIndexOf("?")] = 0xff;
    expect(await failure({ chunks: [bytes] })).toMatchObject({ code: "remote_broke_off" });
  });

  it("sends endless text", async () => {
    const chunk = eventStream(text("x".repeat(1024 * 1024)));
    const chunks = Array.from({ length: 20 }, () => chunk);
    const error = await failure({ chunks: [...chunks, eventStream(stop, done)] });
    expect(error).toMatchObject({ code: "remote_broke_off" });
    expect(error?.message).toContain("characters");
  });

  it("does not support the route", async () => {
    const error = await failure({ status: 501, headers: json, chunks: says({ error: { message: "no" } }) });
    expect(error).toMatchObject({ code: "remote_refused" });
  });

  it("cuts the connection", async () => {
    expect(await failure({ chunks: [], end: "cut" })).toMatchObject({ code: "remote_unreachable" });
    expect(await failure({ chunks: [eventStream(text("a"))], end: "cut" })).toMatchObject({
      code: "remote_broke_off",
    });
  });
});

describe("writing a request of OpenAI's protocol", () => {
  const sent = async (parts: Partial<Turn>, options: RemoteOptions = {}, more = {}) => {
    engine.answers({ chunks: [eventStream(text("a"), stop, usage, done)] });
    const { ignored } = await collect(ask(parts, options, more));
    return { ignored, ...engine.received[0]! };
  };
  const f = { type: "function", function: { name: "f", parameters: { type: "object" } } };

  it("sends only options that the model or the client set", async () => {
    const { body, headers, path, ignored } = await sent({});
    expect(path).toBe("/v1/chat/completions");
    expect(headers).toMatchObject({ authorization: "Bearer secret", "accept-encoding": "identity" });
    expect(body).toEqual({
      model: "m",
      messages: user,
      stream: true,
      stream_options: { include_usage: true },
    });
    expect(ignored).toEqual([]);
  });

  it("gives ids to calls and results that have none, by name and by order", async () => {
    const call = (name: string) => ({ function: { name, arguments: { a: 1 } } });
    const messages = [
      ...user,
      { role: "assistant", content: "", thinking: "t", tool_calls: [call("f"), call("g")] },
      { role: "tool", content: "of g", tool_name: "g" },
      { role: "tool", content: "of f" },
    ];
    const { body } = await sent({ messages, tools: [f] });
    expect(body["messages"]).toMatchObject([
      {},
      {
        reasoning: "t",
        reasoning_content: "t",
        tool_calls: [
          { id: "call_1", type: "function", function: { name: "f", arguments: '{"a":1}' } },
          { id: "call_2" },
        ],
      },
      { role: "tool", tool_call_id: "call_2", content: "of g", name: "g" },
      { role: "tool", tool_call_id: "call_1", content: "of f", name: "f" },
    ]);
  });

  it.each<[Partial<Turn>, object]>([
    [
      { think: true },
      { chat_template_kwargs: { enable_thinking: true, thinking: true }, reasoning_effort: "medium" },
    ],
    [{ think: false }, { chat_template_kwargs: { enable_thinking: false }, reasoning_effort: "none" }],
    [{ think: "low" }, { chat_template_kwargs: { enable_thinking: true }, reasoning_effort: "low" }],
    [{ think: "max" }, { reasoning_effort: "high" }],
    [{ format: { kind: "json" } }, { response_format: { type: "json_object" } }],
    [
      { format: { kind: "schema", schema: { type: "object" } } },
      {
        response_format: {
          type: "json_schema",
          json_schema: { name: "answer", schema: { type: "object" }, strict: true },
        },
      },
    ],
    [
      { tools: [f], toolChoice: { kind: "none" } },
      { tools: [f], tool_choice: "none" },
    ],
    [
      { tools: [f], toolChoice: { kind: "required" }, severalCalls: false },
      { tool_choice: "required", parallel_tool_calls: false },
    ],
    [
      { tools: [f], toolChoice: { kind: "named", name: "f" } },
      { tool_choice: { type: "function", function: { name: "f" } } },
    ],
  ])("sends %j", async (parts, body) => {
    expect((await sent(parts)).body).toMatchObject(body);
  });

  it("sends each engine its own option names, and names the fields that the protocol lacks", async () => {
    const options = {
      temperature: 0,
      top_k: 0,
      repeat_penalty: 0,
      seed: -1,
      num_predict: -1,
      num_keep: 4,
      num_ctx: 8192,
      stop: [],
    };
    const { body, ignored } = await sent({}, options);
    expect(body).toMatchObject({
      temperature: 0,
      top_k: -1,
      repetition_penalty: 1,
      repeat_penalty: 1,
      n_keep: 4,
    });
    for (const absent of ["seed", "max_tokens", "stop", "num_ctx"]) expect(body).not.toHaveProperty(absent);
    expect(ignored).toEqual(["options.num_ctx", "options.num_keep"]);
  });

  it.each<[string, Record<string, string>, object, string[]]>([
    ["llama-server", { server: "llama.cpp" }, {}, []],
    ["vLLM", { server: "uvicorn" }, {}, ["options.typical_p"]],
    [
      "Ollama",
      {},
      { system_fingerprint: "fp_ollama" },
      ["options.top_k", "options.typical_p", "tool_choice"],
    ],
    ["TGI", {}, { system_fingerprint: "3.3.4-sha-5739b5b" }, ["options.top_k", "options.typical_p", "think"]],
    [
      "LM Studio",
      { "x-powered-by": "Express" },
      { model: "m", system_fingerprint: "m" },
      ["options.typical_p", "think", "logprobs"],
    ],
    [
      "locallm",
      { "x-ignored-fields": "top_k, chat_template_kwargs, typical_p" },
      { system_fingerprint: "fp_locallm" },
      ["options.top_k", "options.typical_p"],
    ],
    ["an unknown engine", {}, {}, ["options.typical_p"]],
  ])("names what %s ignores", async (_, headers, fields, ignored) => {
    engine.answers({ headers, chunks: [eventStream({ ...text("a"), ...fields }, stop, done)] });
    const parts: Partial<Turn> = { tools: [f], toolChoice: { kind: "required" }, think: "low" };
    const read = await collect(ask(parts, { top_k: 3, typical_p: 0.5 }, { logprobs: { top: 1 } }));
    expect(read.ignored.sort()).toEqual(ignored.sort());
  });

  it("sends a request again without the fields that an engine rejects by name", async () => {
    const rejects = ["top_k", "stream_options", "reasoning_effort", "max_tokens", "response_format"];
    engine.answers(({ body }) => {
      const bad = rejects.find((name) => name in body);
      if (bad === undefined) return { chunks: [eventStream(text("a"), stop, done)] };
      // OpenAI names the field in `param`, vLLM in the message.
      const error =
        bad === "reasoning_effort"
          ? { message: `Input should be low: 'loc': ('body', '${bad}')` }
          : { message: "no", param: bad };
      return { status: 400, chunks: [JSON.stringify({ error })] };
    });
    const format = { kind: "schema" as const, schema: { type: "object" } };
    const read = await collect(ask({ think: false, format }, { top_k: 3, num_predict: 9 }));
    expect(read.ignored).toEqual(["options.top_k"]);
    expect(engine.received.at(-1)?.body).toMatchObject({
      max_completion_tokens: 9,
      guided_json: { type: "object" },
    });
    expect(engine.received).toHaveLength(6);
  });

  it("reports an option as ignored only if the engine rejected all fields for it", async () => {
    const rejecting = (...rejects: string[]) =>
      engine.answers(({ body }) => {
        const param = rejects.find((name) => name in body);
        if (param === undefined) return { chunks: [eventStream(text("a"), stop, done)] };
        return { status: 400, chunks: [JSON.stringify({ error: { message: "no", param } })] };
      });
    const wish: Partial<Turn> = { think: true, format: { kind: "schema", schema: {} } };
    rejecting("chat_template_kwargs", "repeat_penalty", "response_format");
    expect((await collect(ask(wish, { repeat_penalty: 1.1 }))).ignored).toEqual([]);
    rejecting(
      "chat_template_kwargs",
      "reasoning_effort",
      "repeat_penalty",
      "repetition_penalty",
      "response_format",
      "guided_json",
    );
    const { ignored } = await collect(ask(wish, { repeat_penalty: 1.1 }));
    expect(ignored.sort()).toEqual(["format", "options.repeat_penalty", "think"]);
    rejecting("model");
    await expect(collect(ask())).rejects.toMatchObject({ code: "remote_refused" });
  });

  it("sends a prompt without a template as a completion", async () => {
    const logprobs = { tokens: ["a"], token_logprobs: [-0.5], top_logprobs: [{ a: -0.5 }] };
    const chunk = (fields: object) => ({
      object: "text_completion",
      choices: [{ index: 0, finish_reason: null, ...fields }],
    });
    engine.answers({
      chunks: [
        eventStream(
          chunk({ text: "a", logprobs }),
          chunk({ text: "", finish_reason: "length" }),
          usage,
          done,
        ),
      ],
    });
    const wish = { prompt: "p", suffix: "s", options: { num_predict: 5 }, logprobs: { top: 0 } };
    const read = await collect(openai.complete(engine.upstream, wish, engine.call()));
    expect(engine.received[0]).toMatchObject({
      path: "/v1/completions",
      body: { prompt: "p", suffix: "s", max_tokens: 5, logprobs: 1 },
    });
    expect(read.pieces).toMatchObject([
      { kind: "content", text: "a", logprobs: [{ token: "a", logprob: -0.5 }] },
    ]);
    expect(read.done?.done.reason).toBe("length");
    await collect(openai.complete(engine.upstream, { prompt: "p", options: {} }, engine.call()));
    expect(engine.received[1]?.body["max_tokens"]).toBeNull();
  });

  it("embeds in batches and keeps the order", async () => {
    engine.answers(({ body }) => {
      const inputs = body["input"] as string[];
      const data = inputs.map((input, index) => ({ index, embedding: [Number(input), 1] })).reverse();
      return {
        headers: { "content-type": "application/json" },
        chunks: [JSON.stringify({ data, usage: { prompt_tokens: inputs.length } })],
      };
    });
    const inputs = Array.from({ length: 100 }, (_, index) => String(index));
    const { vectors, tokens } = await openai.embed(engine.upstream, inputs, engine.call());
    expect(vectors.map(([first]) => first)).toEqual(inputs.map(Number));
    expect(tokens.reduce((sum, each) => sum + each, 0)).toBe(100);
    engine.answers({ chunks: ['{"data":[{"embedding":[1,null]}]}'] });
    const failed = openai.embed(engine.upstream, ["a"], engine.call());
    await expect(failed).rejects.toMatchObject({ code: "remote_failed" });
  });

  it("stops all batches of embeddings when one fails", async () => {
    engine.answers(({ body }, response) => {
      if ((body["input"] as string[]).includes("0"))
        return { status: 400, chunks: ['{"error":{"message":"no"}}'] };
      // The other batches are answered late, and would be followed by further ones.
      setTimeout(() => {
        const data = (body["input"] as string[]).map((_, index) => ({ index, embedding: [1] }));
        response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ data }));
      }, 50);
      return undefined;
    });
    const inputs = Array.from({ length: 1000 }, (_, index) => String(index));
    const failed = openai.embed(engine.upstream, inputs, engine.call());
    await expect(failed).rejects.toMatchObject({ code: "remote_refused" });
    const sent = engine.received.length;
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(engine.received).toHaveLength(sent);
    expect(sent).toBeLessThanOrEqual(4);
  });

  it.each(["e", "1e999", "1e300", "1.2.3"])("ignores a load of %s in an engine's metrics", async (load) => {
    const pages: Record<string, string> = {
      "/v1/models": JSON.stringify({ data: [{ id: "m", owned_by: "vllm" }] }),
      "/metrics": `vllm:num_requests_running ${load}\nvllm:num_requests_waiting ${load}\n`,
    };
    engine.answers(({ path }) => ({ status: pages[path] ? 200 : 404, chunks: [pages[path] ?? ""] }));
    const { places, waiting } = await openai.probe(engine.upstream, engine.call());
    expect([places, waiting]).toEqual([null, null]);
  });

  it.each<[string, Record<string, unknown>, object]>([
    [
      "llama-server",
      {
        "/health": { status: "ok" },
        "/v1/models": { data: [{ id: "m", owned_by: "llamacpp" }] },
        "/slots": [
          { n_ctx: 512, is_processing: true },
          { n_ctx: 512, is_processing: false },
        ],
      },
      { models: ["m"], contextLength: 512, places: { total: 2, busy: 1 }, waiting: null },
    ],
    [
      "vLLM",
      {
        "/health": "",
        "/v1/models": { data: [{ id: "m", owned_by: "vllm", max_model_len: 4096 }] },
        "/metrics":
          '# TYPE x gauge\nvllm:num_requests_running{model_name="m",engine="0"} 3.0\nvllm:num_requests_running{engine="1"} 1.0\nvllm:num_requests_waiting{engine="0"} 2.0\n',
      },
      { contextLength: 4096, places: { total: null, busy: 4 }, waiting: 2 },
    ],
    ["an engine without /health", { "/v1/models": { data: [{ id: "m" }] } }, { models: ["m"], places: null }],
    ["an engine with /health only", { "/health": "ok" }, { models: null, contextLength: null }],
  ])("probes %s", async (_, pages, probe) => {
    engine.answers(({ path }) => {
      const page = pages[path];
      return page === undefined
        ? { status: 404, chunks: [] }
        : { chunks: [typeof page === "string" ? page : JSON.stringify(page)] };
    });
    expect(await openai.probe(engine.upstream, engine.call())).toMatchObject(probe);
    engine.answers({ status: 503, chunks: ['{"error":{"message":"Loading model"}}'] });
    await expect(openai.probe(engine.upstream, engine.call())).rejects.toMatchObject({ code: "remote_busy" });
  });
});
