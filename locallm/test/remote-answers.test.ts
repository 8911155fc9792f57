import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createSmallStore, embeddingModelPath, type ModelStore } from "./model-store.ts";
import { command, metricsOf, type ServerProcess, startServer, until } from "./server-process.ts";

/** A locallm in front of a second locallm, which is the engine. */
let folder: string;
let store: ModelStore;
let engine: ServerProcess;
let front: ServerProcess;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "locallm-remote-answers-"));
  store = await createSmallStore();
  if (embeddingModelPath !== null) await store.add("embedder", embeddingModelPath);
  [engine, front] = await Promise.all([
    startServer({ models: store.folder }),
    startServer({ env: { LOCALLM_CREDENTIALS: join(folder, "credentials.json") } }),
  ]);
  const modelfile = join(folder, "Modelfile");
  await writeFile(modelfile, `FROM ${engine.url}/v1#small:a\nSYSTEM Be brief.`);
  const created = await command(["create", "openai", "-f", modelfile], {
    LOCALLM_CREDENTIALS: join(folder, "credentials.json"),
    LOCALLM_HOST: new URL(front.url).host,
  });
  expect(created.code).toBe(0);
  // The command line has allowed the engine's host, so the rest can be created over HTTP.
  const system = "Be brief.";
  for (const [model, remote] of Object.entries({
    anthropic: { url: `${engine.url}/v1`, model: "small:a", protocol: "anthropic" },
    ollama: { url: engine.url, model: "small:a", protocol: "ollama" },
  }))
    await front.ask("/api/create", { model, system, remotes: [remote], stream: false });
});
afterAll(async () => {
  await Promise.all([front?.stop(), engine?.stop()]);
  await store?.remove();
  await rm(folder, { recursive: true, force: true });
});

type Json = Record<string, never>;

const options = { temperature: 0, num_predict: 12 };
const user = [{ role: "user", content: "Hello" }];
const withSystem = [{ role: "system", content: "Be brief." }, ...user];

interface Api {
  readonly path: string;
  readonly body: Record<string, unknown>;
  /** The text of a whole answer. */
  whole(answer: Json): unknown;
  /** The text of a line or event of a stream. */
  piece(event: Json): unknown;
}

const at = (value: unknown, ...path: (string | number)[]): unknown =>
  path.reduce<unknown>((inner, key) => (inner as Record<string | number, unknown> | undefined)?.[key], value);

const chat: Api = {
  path: "/api/chat",
  body: { messages: user, options },
  whole: (answer) => at(answer, "message", "content"),
  piece: (event) => at(event, "message", "content"),
};
const chats: Record<string, Api> = {
  "/api/chat": chat,
  "/v1/chat/completions": {
    path: "/v1/chat/completions",
    body: { messages: user, temperature: 0, max_tokens: 12 },
    whole: (answer) => at(answer, "choices", 0, "message", "content"),
    piece: (event) => at(event, "choices", 0, "delta", "content"),
  },
  "/v1/responses": {
    path: "/v1/responses",
    body: { input: "Hello", temperature: 0, max_output_tokens: 12 },
    whole: (answer) => at(answer, "output", 0, "content", 0, "text"),
    piece: (event) => (at(event, "type") === "response.output_text.delta" ? at(event, "delta") : ""),
  },
  "/v1/messages": {
    path: "/v1/messages",
    body: { messages: user, temperature: 0, max_tokens: 12 },
    whole: (answer) => at(answer, "content", 0, "text"),
    piece: (event) => at(event, "delta", "text"),
  },
  "/api/generate with a system text": {
    path: "/api/generate",
    body: { prompt: "Hello", system: "Be brief.", options },
    whole: (answer) => at(answer, "response"),
    piece: (event) => at(event, "response"),
  },
};
const completions: Record<string, Api> = {
  "/api/generate": {
    path: "/api/generate",
    body: { prompt: "Once", options },
    whole: (answer) => at(answer, "response"),
    piece: (event) => at(event, "response"),
  },
  "/v1/completions": {
    path: "/v1/completions",
    body: { prompt: "Once", temperature: 0, max_tokens: 12 },
    whole: (answer) => at(answer, "choices", 0, "text"),
    piece: (event) => at(event, "choices", 0, "text"),
  },
};

async function streamed({ path, body, piece }: Api, model: string): Promise<string> {
  const response = await front.post(path, { ...body, model, stream: true });
  expect(response.status).toBe(200);
  return (await response.text())
    .split("\n")
    .map((line) => line.replace(/^data: /, ""))
    .filter((line) => line.startsWith("{"))
    .map((line) => piece(JSON.parse(line) as Json) ?? "")
    .join("");
}

async function refusal(path: string, body: unknown) {
  const response = await front.post(path, body);
  return { status: response.status, text: await response.text() };
}

describe.each(["openai", "anthropic", "ollama"])("an engine with the protocol %s", (model) => {
  test.each(Object.entries(chats))("answers %s, whole and streamed", async (_, api) => {
    const expected = await engine.ask<{ message: { content: string } }>("/api/chat", {
      ...{ model: "small:a", messages: withSystem, options, stream: false },
    });
    expect(expected.message.content).not.toBe("");
    const whole = await front.ask<Json>(api.path, { ...api.body, model, stream: false });
    expect(api.whole(whole)).toBe(expected.message.content);
    expect(await streamed(api, model)).toBe(expected.message.content);
  });

  test.skipIf(model === "anthropic").each(Object.entries(completions))(
    "completes %s, whole and streamed",
    async (_, api) => {
      const expected = await engine.ask<{ response: string }>("/api/generate", {
        ...{ model: "small:a", prompt: "Once", options, stream: false, raw: true },
      });
      const whole = await front.ask<Json>(api.path, { ...api.body, model, stream: false });
      expect(api.whole(whole)).toBe(expected.response);
      expect(await streamed(api, model)).toBe(expected.response);
    },
  );

  test("reports counters, durations and where the answer is from", async () => {
    const body = {
      model,
      messages: user,
      options: { ...options, num_gpu: 0 },
      keep_alive: "1h",
      stream: false,
    };
    const response = await front.post("/api/chat", body);
    const answer = (await response.json()) as Record<string, unknown>;
    const own = await engine.ask("/api/chat", {
      ...{ model: "small:a", messages: withSystem, options, stream: false },
    });
    expect(answer).toMatchObject({
      done_reason: "length",
      remote_host: expect.stringContaining(engine.url) as string,
      remote_model: "small:a",
      prompt_eval_count: own["prompt_eval_count"],
      eval_count: 12,
    });
    for (const field of ["total_duration", "load_duration", "prompt_eval_duration", "eval_duration"])
      expect(answer[field]).toBeGreaterThanOrEqual(0);
    expect(response.headers.get("x-ignored-fields")).toContain("keep_alive");
    expect(await front.ask("/api/ps")).toEqual({ models: [] });
  });

  test("stops when the client leaves", async () => {
    const active = async () => (await metricsOf(engine))("slots_active", 'model="small:a"');
    const leaving = new AbortController();
    const response = await front.post(
      "/api/chat",
      { model, messages: user, options: { temperature: 0, num_predict: 4000 } },
      { signal: leaving.signal },
    );
    await response.body?.getReader().read();
    leaving.abort();
    await until("the engine's slot is free", async () => (await active()) === 0);
    const generated = (await metricsOf(engine))("generated_tokens_total", 'model="small:a"');
    expect(generated).toBeLessThan(1000);
  });

  test("passes the engine's error on", async () => {
    const body = { model, messages: [{ role: "user", content: "Hello ".repeat(40_000) }], stream: false };
    const answer = await refusal("/api/chat", { ...body, options });
    expect(answer).toEqual({ status: 400, text: expect.stringContaining("prompt is too long") as string });
  });
});

test.skipIf(embeddingModelPath === null).each(["openai", "ollama"] as const)(
  "an engine with the protocol %s embeds (needs TEST_MODELS)",
  async (protocol) => {
    const url = protocol === "openai" ? `${engine.url}/v1` : engine.url;
    const model = `embedder-${protocol}`;
    await front.ask("/api/create", { model, remotes: [{ url, model: "embedder", protocol }], stream: false });
    const input = ["one", "two words"];
    const expected = await engine.ask<{ embeddings: number[][] }>("/api/embed", { model: "embedder", input });
    const answer = await front.ask<{ embeddings: number[][] }>("/api/embed", { model, input });
    expect(answer).toMatchObject({ model, prompt_eval_count: expected["prompt_eval_count" as never] });
    for (const [index, vector] of answer.embeddings.entries())
      for (const [at, value] of vector.entries())
        expect(value).toBeCloseTo(expected.embeddings[index]?.[at] ?? Number.NaN, 4);
    const openai = await front.ask<{ data: { embedding: number[] }[] }>("/v1/embeddings", { model, input });
    expect(openai.data.map(({ embedding }) => embedding.length)).toEqual([384, 384]);
    expect(
      (await front.ask<{ embedding: number[] }>("/api/embeddings", { model, prompt: "one" })).embedding,
    ).toHaveLength(384);
  },
);

describe("a remote model", () => {
  const model = "openai";

  test("is loaded and unloaded without the engine", async () => {
    expect(await front.ask("/api/generate", { model })).toMatchObject({ done_reason: "load" });
    expect(await front.ask("/api/chat", { model, keep_alive: 0 })).toMatchObject({ done_reason: "unload" });
  });

  test.each([
    ["/api/generate", { prompt: "x", context: [1] }, "context is not supported"],
    ["/api/generate", { prompt: "x", template: "{{ .Prompt }}" }, "template is not supported"],
    ["/api/generate", { prompt: "x", raw: true, system: "s" }, "raw mode does not support"],
    [
      "/api/generate",
      { prompt: "x", raw: true, format: "json" },
      "format is not supported together with raw",
    ],
    ["/v1/completions", { prompt: [1, 2] }, "prompt is not supported with tokens"],
    ["/v1/embeddings", { input: [[1, 2]] }, "input is not supported with tokens"],
    ["/api/tokenize", { content: "x" }, "does not support tokenize, because it is a remote model"],
    ["/api/detokenize", { tokens: [1] }, "does not support detokenize"],
    ["/v1/messages/count_tokens", { messages: user }, "does not support count_tokens"],
  ])("rejects what another engine cannot serve: %s %j", async (path, body, error) => {
    const answer = await refusal(path, { model, ...body });
    expect(answer).toEqual({ status: 400, text: expect.stringContaining(error) as string });
  });

  test("checks requests against the capabilities in its Modelfile", async () => {
    const remotes = [{ url: `${engine.url}/v1`, model: "small:a" }];
    const info = { capabilities: ["completion"] };
    await front.ask("/api/create", { model: "plain", remotes, info, stream: false });
    const tool = { type: "function", function: { name: "f", parameters: { type: "object" } } };
    for (const [path, body, capability] of [
      ["/api/chat", { messages: user, tools: [tool] }, "tools"],
      ["/api/chat", { messages: user, think: true }, "thinking"],
      ["/api/embed", { input: "x" }, "embeddings"],
      ["/api/generate", { prompt: "a", suffix: "b" }, "insert"],
    ] as const)
      expect(await refusal(path, { model: "plain", ...body })).toEqual({
        status: 400,
        text: expect.stringContaining(`does not support ${capability}`) as string,
      });
  });

  test("says how an answer violates its schema", async () => {
    // The engine cannot enforce the pattern, and the answer is too short to match it.
    const schema = { type: "object", properties: { a: { type: "string", minLength: 90 } }, required: ["a"] };
    for (const model of ["openai", "ollama"]) {
      const answer = await front.ask("/api/chat", {
        model,
        messages: user,
        format: schema,
        options,
        stream: false,
      });
      expect(answer["format_violations"]).toEqual([expect.any(String)]);
    }
  });

  test("that the engine does not have is an error", async () => {
    const remotes = [{ url: `${engine.url}/v1`, model: "missing" }];
    await front.ask("/api/create", { model: "missing", remotes, stream: false });
    const answer = await refusal("/api/chat", { model: "missing", messages: user, stream: false });
    expect(answer).toMatchObject({ text: expect.stringContaining("missing") as string });
    expect(answer.status).toBeGreaterThanOrEqual(400);
  });

  test("whose host is no longer allowed is rejected, without a restart", async () => {
    await writeFile(join(folder, "remotes.json"), '{"hosts":[]}', { mode: 0o600 });
    const answer = await refusal("/v1/chat/completions", { model, messages: user });
    expect(answer.status).toBe(403);
    expect(answer.text).toContain(`locallm remote allow ${new URL(engine.url).host}`);
  });
});
