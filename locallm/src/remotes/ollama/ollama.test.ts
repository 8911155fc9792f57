import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { collect, type ScriptedEngine, startScriptedEngine } from "../../../test/scripted-engine.ts";
import { plainTurn, type Turn } from "../../dialogue/turn.ts";
import type { RemoteOptions, Upstream } from "../engine.ts";
import { ollama } from "./ollama.ts";

let engine: ScriptedEngine;
let upstream: Upstream;
beforeAll(async () => {
  engine = await startScriptedEngine("ollama");
  upstream = { ...engine.upstream, url: engine.upstream.url.replace("/v1", "") };
});
afterAll(() => engine.stop());
beforeEach(() => {
  engine.received.length = 0;
});

const user = [{ role: "user", content: "hi" }];
const lines = (...all: object[]) => all.map((line) => `${JSON.stringify(line)}\n`).join("");
const message = (fields: object) => ({
  model: "m",
  message: { role: "assistant", content: "", ...fields },
  done: false,
});
const ending = (fields: object = {}) => ({
  ...message({}),
  ...{ done: true, done_reason: "stop", prompt_eval_count: 7, prompt_eval_duration: 5_000, eval_count: 3 },
  ...{ eval_duration: 6_000, ...fields },
});

function ask(parts: Partial<Turn> = {}, options: RemoteOptions = {}, more = {}) {
  const turn = plainTurn(parts.messages ?? user, parts);
  return collect(ollama.turn(upstream, { turn, options, ...more }, engine.call({ newCallId: () => "made" })));
}

const whole = lines(
  ...[message({ thinking: "dünkt" }), message({ content: "ä😀" }), { done: false }],
  message({
    tool_calls: [
      { id: "c1", function: { index: 0, name: "f", arguments: { ü: 1 } } },
      { function: { name: "g", arguments: {} } },
    ],
  }),
  ending(),
);

describe("Ollama's protocol", () => {
  it("reads thinking, text, calls, counts and durations", async () => {
    engine.answers({ chunks: [whole] });
    expect(await ask()).toMatchObject({
      ...{ thinking: "dünkt", content: "ä😀" },
      calls: [
        { id: "c1", name: "f", arguments: { ü: 1 } },
        { id: "made", name: "g", arguments: {} },
      ],
      done: { done: { promptTokens: 7, evalTokens: 3, promptNs: 5_000, evalNs: 6_000, reason: "stop" } },
    });
  });

  it("reads the same from a stream that is cut at any byte", async () => {
    engine.answers({ chunks: [whole] });
    const expected = await ask();
    const bytes = Buffer.from(whole);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(bytes.length), { minLength: 1, maxLength: 6 }), async (cuts) => {
        const at = [0, ...cuts.sort((a, b) => a - b), bytes.length];
        const chunks = at.slice(1).map((end, index) => bytes.subarray(at[index], end));
        engine.answers({ chunks: chunks.filter(({ length }) => length > 0) });
        expect(await ask()).toEqual(expected);
      }),
      { numRuns: 30 },
    );
  });

  it.each<[string, string, string]>([
    ["an error as the first line", lines({ error: "out of memory" }), "remote_failed"],
    [
      "an error in the middle",
      lines(message({ content: "a" }), { error: "out of memory" }),
      "remote_broke_off",
    ],
    ["an end in the middle", lines(message({ content: "a" })), "remote_broke_off"],
    ["no end of the last line", whole.slice(0, -40), "remote_broke_off"],
    ["a line that is not an object", `${lines(message({ content: "a" }))}1\n`, "remote_broke_off"],
  ])("reports %s", async (_, stream, code) => {
    engine.answers({ chunks: [stream] });
    await expect(ask()).rejects.toMatchObject({ code });
  });

  it("reads counts that Ollama omits as 0", async () => {
    engine.answers({ chunks: [lines(ending({ eval_count: undefined, done_reason: "length" }))] });
    expect((await ask()).done).toMatchObject({ done: { evalTokens: 0, reason: "length" } });
  });

  it("passes options on unchanged, and names the fields that the protocol lacks", async () => {
    engine.answers({ headers: { "x-ignored-fields": "options.seed" }, chunks: [lines(ending())] });
    const options = { num_ctx: 4096, mirostat: 2 as const, stop: ["a"], seed: 1 };
    const tools = [{ type: "function", function: { name: "f" } }];
    const format = { kind: "schema" as const, schema: { type: "object" } };
    const parts: Partial<Turn> = {
      tools,
      toolChoice: { kind: "required" },
      severalCalls: false,
      think: "max",
      format,
    };
    const { ignored } = await ask(parts, options, { logprobs: { top: 2 } });
    expect(engine.received[0]).toMatchObject({
      path: "/api/chat",
      headers: { authorization: "Bearer secret" },
    });
    expect(engine.received[0]?.body).toEqual({
      ...{
        model: "m",
        messages: user,
        stream: true,
        options,
        tools,
        think: "max",
        format: { type: "object" },
      },
      ...{ logprobs: true, top_logprobs: 2 },
    });
    expect(ignored).toEqual(["tool_choice", "parallel_tool_calls", "options.seed"]);
    await ask({ tools, toolChoice: { kind: "none" } });
    expect(engine.received[1]?.body).not.toHaveProperty("tools");
  });

  it("completes a raw prompt, and fills in the middle with the template", async () => {
    engine.answers({
      chunks: [lines({ response: "a", done: false }, { ...ending(), message: undefined, response: "" })],
    });
    const read = await collect(ollama.complete(upstream, { prompt: "p", options: {} }, engine.call()));
    expect(read.content).toBe("a");
    expect(engine.received[0]).toMatchObject({ path: "/api/generate", body: { prompt: "p", raw: true } });
    await collect(ollama.complete(upstream, { prompt: "p", suffix: "s", options: {} }, engine.call()));
    expect(engine.received[1]?.body).not.toHaveProperty("raw");
  });

  it("embeds, and lists its models", async () => {
    const json = { "content-type": "application/json" };
    engine.answers({ headers: json, chunks: ['{"embeddings":[[1,2]],"prompt_eval_count":4}'] });
    const { vectors, tokens } = await ollama.embed(upstream, ["a"], engine.call());
    expect([vectors.map((vector) => [...vector]), tokens]).toEqual([[[1, 2]], [4]]);
    engine.answers(({ path }) => ({
      headers: json,
      chunks: [
        path === "/api/tags"
          ? '{"models":[{"name":"m:latest"}]}'
          : '{"models":[{"name":"m:latest","context_length":4096}]}',
      ],
    }));
    expect(await ollama.probe(upstream, engine.call())).toMatchObject({
      models: ["m:latest", "m"],
      contextLength: 4096,
    });
    engine.answers({ status: 404, chunks: [] });
    await expect(ollama.probe(upstream, engine.call())).rejects.toMatchObject({ code: "remote_failed" });
  });
});
