import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { plainTurn, type Turn } from "../src/dialogue/turn.ts";
import { RemoteConnections } from "../src/remotes/connection.ts";
import type { Protocol, RemoteCall, RemoteOptions, Upstream } from "../src/remotes/engine.ts";
import { engines } from "../src/remotes/engines.ts";
import { chatModel, clientStore, embeddingModel, thinkingModel } from "./clients/models.ts";
import { hasLlamaServer, startLlamaServer } from "./llama-server.ts";
import type { ModelStore } from "./model-store.ts";
import { collect } from "./scripted-engine.ts";
import { startServerHere, type TestServer } from "./server-process.ts";
import { smallLlama } from "./small-llama.ts";

let store: ModelStore;
let server: TestServer;
let llama: Awaited<ReturnType<typeof startLlamaServer>> | null = null;
const connections = new RemoteConnections({ addressCheck: async () => () => true });
const call = (signal = new AbortController().signal): RemoteCall => ({ fetch: connections.fetch, signal });

beforeAll(async () => {
  store = await clientStore();
  server = await startServerHere({ models: store.folder });
  if (!hasLlamaServer) return;
  const path = join(store.folder, "llama-server.gguf");
  await writeFile(path, smallLlama(1));
  llama = await startLlamaServer(path);
});
afterAll(async () => {
  connections.close();
  await llama?.stop();
  await server.stop();
  await store.remove();
});

const own = (protocol: Protocol, model = chatModel): Upstream => ({
  ...{ url: protocol === "ollama" ? server.url : `${server.url}/v1`, model, protocol, key: null },
  ...{ weight: 1, maxRequests: null },
});
const llamaServer = (): Upstream => ({ ...own("openai"), url: llama!.url, model: "m" });

const messages = [
  { role: "system", content: "Be brief." },
  { role: "user", content: "Hello 你好" },
];
const options: RemoteOptions = { temperature: 0, num_predict: 12 };
const schema = {
  type: "object",
  properties: { a: { enum: ["x"] } },
  required: ["a"],
  additionalProperties: false,
};
const parameters = {
  type: "object",
  properties: { city: { enum: ["Oslo"] } },
  required: ["city"],
  additionalProperties: false,
};
const weather = { type: "function", function: { name: "weather", description: "d", parameters } };

const ask = (upstream: Upstream, parts: Partial<Turn> = {}, more: RemoteOptions = options) =>
  collect(
    engines[upstream.protocol].turn(
      upstream,
      { turn: plainTurn(parts.messages ?? messages, parts), options: more },
      call(),
    ),
  );

async function direct(parts: Record<string, unknown> = {}) {
  const body = { model: chatModel, messages, options, stream: false, ...parts };
  return await server.ask<{ message: { content: string }; eval_count: number; prompt_eval_count: number }>(
    "/api/chat",
    body,
  );
}

describe.each<Protocol>(["openai", "anthropic", "ollama"])("a locallm behind the protocol %s", (protocol) => {
  it("gives the same answer and counts as a direct request", async () => {
    const expected = await direct();
    const answer = await ask(own(protocol));
    expect(answer.content).toBe(expected.message.content);
    expect(answer.done?.done).toMatchObject({
      ...{ reason: "length", evalTokens: expected.eval_count, promptTokens: expected.prompt_eval_count },
    });
    expect(answer.done?.isEstimated).toBeUndefined();
    expect(answer.ignored).toEqual([]);
  });

  it("returns thinking separately", async () => {
    // Anthropic's protocol thinks only if more than 1,024 tokens are asked for.
    const num_predict = protocol === "anthropic" ? 1100 : 100;
    const answer = await ask(own(protocol, thinkingModel), { think: true }, { ...options, num_predict });
    expect(answer.thinking.length).toBeGreaterThan(0);
    expect(answer.done?.thinkingTokens).toBeGreaterThan(0);
  });

  it("enforces a schema", async () => {
    const format = { kind: "schema" as const, schema };
    expect(
      JSON.parse((await ask(own(protocol), { format }, { temperature: 0, num_predict: 400 })).content),
    ).toEqual({ a: "x" });
  });

  it.skipIf(protocol === "ollama")("calls a tool, and takes its result", async () => {
    const tools = [weather];
    const first = await ask(
      own(protocol),
      { tools, toolChoice: { kind: "named", name: "weather" }, severalCalls: false },
      { temperature: 0, num_predict: 200 },
    );
    expect(first.calls).toMatchObject([{ name: "weather", arguments: { city: "Oslo" } }]);
    const { id, name, arguments: given } = first.calls[0]!;
    const called = { id, function: { name, arguments: given as Record<string, unknown> } };
    const next = [
      ...messages,
      { role: "assistant", content: "", tool_calls: [called] },
      { role: "tool", content: "rain", tool_call_id: id, tool_name: name },
    ];
    const expected = await direct({ messages: next, tools });
    const second = await ask(own(protocol), { messages: next, tools });
    expect(second.done?.done.promptTokens).toBe(expected.prompt_eval_count);
  });

  it("stops when its reader leaves", async () => {
    const events = engines[protocol].turn(
      own(protocol),
      { turn: plainTurn(messages), options: { num_predict: 1_000_000, num_ctx: 2048, stop: ["\u0000"] } },
      call(),
    );
    const before = server.log.length;
    for await (const { kind } of events) if (kind === "content") break;
    const ended = () =>
      server.log
        .slice(before)
        .some(
          (line) =>
            (line["msg"] === "request" && line["status"] === 499) ||
            line["cancelled"] === true ||
            line["error"] === "client_gone",
        );
    await expect.poll(ended, { timeout: 10_000 }).toBe(true);
  });

  it("passes on the engine's message for a rejected request and for a missing model", async () => {
    const unknown = ask(own(protocol, "nobody:1"));
    await expect(unknown).rejects.toMatchObject({ code: "remote_model_missing", status: 404 });
    await expect(unknown).rejects.toThrow(/nobody:1/);
    const long = ask(own(protocol), { messages: [{ role: "user", content: "word ".repeat(20_000) }] });
    await expect(long).rejects.toMatchObject({ code: "remote_prompt_too_long", status: 400 });
  });

  it("lists its models", async () => {
    const probe = await engines[protocol].probe(own(protocol), call());
    expect(probe.models).toContain(chatModel);
  });
});

describe.each<Protocol>(["openai", "ollama"])("a locallm behind the protocol %s", (protocol) => {
  it("completes a raw prompt, with log probabilities", async () => {
    const body = { model: chatModel, prompt: "Once upon", options, stream: false };
    const expected = await server.ask<{ response: string }>("/api/generate", body);
    const wish = { prompt: "Once upon", options, logprobs: { top: 2 } };
    const answer = await collect(engines[protocol].complete(own(protocol), wish, call()));
    expect(answer.content).toBe(expected.response);
    const logprobs = answer.pieces.flatMap((piece) => ("logprobs" in piece ? (piece.logprobs ?? []) : []));
    expect(logprobs).toHaveLength(12);
    expect(logprobs[0]?.top_logprobs).toHaveLength(2);
  });

  it.skipIf(embeddingModel === null)("embeds (needs TEST_MODELS)", async () => {
    const input = ["a dog", "eine Katze", "x"];
    const body = { model: embeddingModel, input };
    const expected = await server.ask<{ embeddings: number[][]; prompt_eval_count: number }>(
      "/api/embed",
      body,
    );
    const { vectors, tokens } = await engines[protocol].embed(own(protocol, embeddingModel!), input, call());
    expect(vectors.map((vector) => [...vector].map((x) => Math.fround(x)))).toEqual(
      expected.embeddings.map((vector) => vector.map(Math.fround)),
    );
    expect(tokens).toEqual([expected.prompt_eval_count, 0, 0]);
  });
});

describe.skipIf(!hasLlamaServer)("llama-server (needs the Python package xllamacpp)", () => {
  it("streams text, with its own counts and durations", async () => {
    const first = await ask(llamaServer());
    const second = await ask(llamaServer());
    expect(first.content).not.toBe("");
    expect(second.content).toBe(first.content);
    expect(second.done?.done).toMatchObject({ reason: "length", evalTokens: 12 });
    expect(second.done?.done.cachedTokens).toBeGreaterThan(0);
    expect(second.done?.isEstimated).toBeUndefined();
    expect(first.ignored).toEqual([]);
  });

  it("obeys options that only it has, and names those that it ignores", async () => {
    const { ignored } = await ask(
      llamaServer(),
      {},
      { ...options, typical_p: 0.5, mirostat: 2, num_ctx: 64 },
    );
    expect(ignored).toEqual(["options.num_ctx"]);
  });

  it("enforces a schema", async () => {
    const format = { kind: "schema" as const, schema };
    const more = { temperature: 0, num_predict: 400 };
    expect(JSON.parse((await ask(llamaServer(), { format }, more)).content)).toEqual({ a: "x" });
  });

  it("completes a raw prompt, with log probabilities", async () => {
    const wish = { prompt: "Once upon", options, logprobs: { top: 2 } };
    const answer = await collect(engines.openai.complete(llamaServer(), wish, call()));
    const logprobs = answer.pieces.flatMap((piece) => ("logprobs" in piece ? (piece.logprobs ?? []) : []));
    expect(logprobs).toHaveLength(12);
    expect(answer.done?.done.evalTokens).toBe(12);
  });

  it("reports its slots, and frees one when a reader leaves", async () => {
    const busy = async () => (await engines.openai.probe(llamaServer(), call())).places?.busy;
    const wish = { turn: plainTurn(messages), options: { num_predict: -1, stop: ["\u0000"] } };
    for await (const { kind } of engines.openai.turn(llamaServer(), wish, call())) {
      if (kind === "content") break;
    }
    await expect.poll(busy, { timeout: 10_000 }).toBe(0);
    const probe = await engines.openai.probe(llamaServer(), call());
    expect(probe).toMatchObject({ places: { total: 2, busy: 0 }, contextLength: 512 });
  });

  it("passes on the engine's message for a prompt that is too long", async () => {
    const long = ask(llamaServer(), { messages: [{ role: "user", content: "word ".repeat(5_000) }] });
    await expect(long).rejects.toMatchObject({ code: "remote_prompt_too_long" });
  });
});
