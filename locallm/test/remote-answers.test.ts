import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createSmallStore, embeddingModelPath, type ModelStore } from "./model-store.ts";
import {
  done,
  eventStream,
  type ScriptedAnswer,
  type ScriptedEngine,
  startScriptedEngine,
} from "./scripted-engine.ts";
import { command, metricsOf, startServerHere, type TestServer, until } from "./server-process.ts";

/** A locallm in front of a second locallm, which is the engine. */
let folder: string;
let store: ModelStore;
let engine: TestServer;
let front: TestServer;
/** An engine whose model can see. */
let seeing: ScriptedEngine;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "locallm-remote-answers-"));
  store = await createSmallStore();
  if (embeddingModelPath !== null) await store.add("embedder", embeddingModelPath);
  seeing = await startScriptedEngine();
  [engine, front] = await Promise.all([
    startServerHere({ models: store.folder }),
    startServerHere({
      env: {
        LOCALLM_CREDENTIALS: join(folder, "credentials.json"),
        LOCALLM_REMOTES: new URL(seeing.upstream.url).host,
      },
    }),
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
  await seeing?.stop();
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

describe("a model that can see", () => {
  const png = Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), Buffer.alloc(20, 7)]).toString(
    "base64",
  );
  const gif = Buffer.from("GIF89a!").toString("base64");
  beforeAll(async () => {
    seeing.answers(({ path, method }) => (method === "GET" ? { status: 404, chunks: [] } : answers[path]));
    const url = seeing.upstream.url;
    const info = { capabilities: ["completion", "tools", "vision"] };
    for (const protocol of ["openai", "anthropic", "ollama"] as const) {
      const remotes = [{ url: protocol === "ollama" ? url.slice(0, -3) : url, model: "m", protocol }];
      await front.ask("/api/create", { model: `sees-${protocol}`, remotes, info, stream: false });
    }
  });

  const answers: Record<string, ScriptedAnswer> = {
    "/v1/chat/completions": {
      chunks: [
        eventStream({ choices: [{ delta: { content: "A cat." }, finish_reason: null }] }),
        eventStream({ choices: [{ delta: {}, finish_reason: "stop" }] }, done),
      ],
    },
    "/v1/messages": {
      chunks: [
        eventStream(
          { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
          { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "A cat." } },
          { type: "content_block_stop", index: 0 },
          { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 3 } },
          { type: "message_stop" },
        ),
      ],
    },
    "/api/chat": {
      chunks: [
        `${JSON.stringify({ message: { role: "assistant", content: "A cat." }, done: true, done_reason: "stop" })}\n`,
      ],
    },
  };

  const imageBlock = (data = png, media_type = "image/png") => ({
    type: "image",
    source: { type: "base64", media_type, data },
  });
  const call = { type: "tool_use", id: "toolu_1", name: "look", input: {} };
  const result = (content: unknown[]) => ({ type: "tool_result", tool_use_id: "toolu_1", content });
  const text = (words: string) => ({ type: "text", text: words });
  /** An image between texts, one in a result, and the next question in the same message. */
  const messages = [
    { role: "user", content: [text("What is"), imageBlock(), text("this?")] },
    { role: "assistant", content: [call] },
    { role: "user", content: [result([text("seen"), imageBlock(gif, "image/gif")]), text("And this?")] },
  ];
  const tools = [{ name: "look", input_schema: { type: "object" } }];
  const dataUrl = (type: string, data: string) => ({
    type: "image_url",
    image_url: { url: `data:${type};base64,${data}` },
  });
  const lastBody = () => seeing.received.filter(({ method }) => method === "POST").at(-1)!.body;

  test.each<[string, unknown]>([
    ["anthropic", messages],
    [
      "openai",
      [
        { role: "user", content: [text("What is"), dataUrl("image/png", png), text("this?")] },
        { role: "assistant", content: "", tool_calls: [expect.objectContaining({ id: "toolu_1" })] },
        { role: "tool", tool_call_id: "toolu_1", name: "look", content: "seen" },
        {
          role: "user",
          content: [text("Images in the result of toolu_1:"), dataUrl("image/gif", gif), text("And this?")],
        },
      ],
    ],
    [
      "ollama",
      [
        { role: "user", content: "What is\nthis?", images: [png] },
        { role: "assistant", content: "", tool_calls: [expect.objectContaining({ id: "toolu_1" })] },
        { role: "tool", tool_call_id: "toolu_1", tool_name: "look", content: "seen", images: [gif] },
        { role: "user", content: "And this?" },
      ],
    ],
  ])("gets the images of /v1/messages over the protocol %s", async (protocol, expected) => {
    const body = { model: `sees-${protocol}`, max_tokens: 9, messages, tools };
    const answer = await front.ask<Json>("/v1/messages", body);
    expect(at(answer, "content", 0, "text")).toBe("A cat.");
    expect(lastBody()["messages"]).toEqual(expected);
  });

  const url = `data:image/png;base64,${png}`;
  test.each<[string, object]>([
    ["/api/chat", { messages: [{ role: "user", content: "What?", images: [png] }] }],
    ["/api/generate", { prompt: "What?", images: [png] }],
    [
      "/v1/chat/completions",
      { messages: [{ role: "user", content: [{ type: "image_url", image_url: { url } }, text("What?")] }] },
    ],
    [
      "/v1/responses",
      {
        input: [
          {
            role: "user",
            content: [
              { type: "input_image", image_url: url },
              { type: "input_text", text: "What?" },
            ],
          },
        ],
      },
    ],
  ])("gets the images of %s over every protocol", async (path, body) => {
    const shapes = {
      anthropic: { content: [imageBlock(), text("What?")] },
      openai: { content: [dataUrl("image/png", png), text("What?")] },
      ollama: { content: "What?", images: [png] },
    };
    for (const [protocol, message] of Object.entries(shapes)) {
      await front.ask(path, { ...body, model: `sees-${protocol}`, stream: false });
      expect(lastBody()["messages"]).toEqual([{ role: "user", ...message }]);
    }
  });

  const imageOf = (bytes: number) => Buffer.alloc(bytes, "GIF89a").toString("base64");
  test.each<[string, object, RegExp]>([
    ["not base64", imageBlock("iVBORw0KGgo"), /^invalid image data: messages\[0\].content\[0\].source.data$/],
    ["no image", imageBlock("aGk="), /\.source.data must be a JPEG, PNG, GIF or WebP image$/],
    [
      "too large",
      imageBlock(imageOf(10 * 2 ** 20 + 1), "image/gif"),
      /\.source.data is an image of 10485761 bytes; the limit is 10485760$/,
    ],
    [
      "not of the type it says",
      imageBlock(png, "image/jpeg"),
      /\.source.media_type says image\/jpeg, but the image is image\/png$/,
    ],
    ["of no type that engines accept", imageBlock("Qk0=", "image/bmp"), /\.source.media_type must be/],
    [
      "on the web",
      { type: "image", source: { type: "url", url: "http://127.0.0.1:1/a.png" } },
      /^images are not fetched from 127\.0\.0\.1:1: .* LOCALLM_IMAGE_HOSTS$/,
    ],
    [
      "a file",
      { type: "image", source: { type: "file", file_id: "file_1" } },
      /\.source.type is not supported: "file"/,
    ],
  ])("rejects an image that is %s", async (_, block, message) => {
    for (const content of [[block], [result([block])]]) {
      const isResult = content[0] !== block;
      const talk = [...(isResult ? [{ role: "assistant", content: [call] }] : []), { role: "user", content }];
      const body = { model: "sees-anthropic", max_tokens: 9, messages: talk };
      const response = await front.post("/v1/messages", body);
      const { error, type } = (await response.json()) as {
        type: string;
        error: { type: string; message: string };
      };
      expect([response.status, type, error.type], error.message).toEqual([
        400,
        "error",
        "invalid_request_error",
      ]);
      expect(error.message.replace("messages[1].content[0].content[0]", "messages[0].content[0]")).toMatch(
        message,
      );
    }
  });

  test.each<[string, object, string]>([
    [
      "/api/chat",
      { messages: [{ role: "user", content: "", images: [gif, "aGk="] }] },
      "messages[0].images[1] must be",
    ],
    [
      "/api/chat",
      { messages: [{ role: "system", content: "", images: [gif] }] },
      "messages[0].images is only possible",
    ],
    ["/api/generate", { prompt: "x", images: [gif], raw: true }, "images is not supported together with raw"],
    [
      "/v1/chat/completions",
      { messages: [{ role: "system", content: [dataUrl("image/gif", gif)] }] },
      "content[0].image_url",
    ],
    [
      "/v1/chat/completions",
      { messages: [{ role: "user", content: [dataUrl("image/png", gif)] }] },
      "image_url.url says image/png",
    ],
    [
      "/v1/responses",
      { input: [{ role: "user", content: [{ type: "input_image", file_id: "f" }] }] },
      "input[0].content[0]",
    ],
  ])("rejects images of %s that cannot be passed on: %#", async (path, body, error) => {
    const answer = await refusal(path, { ...body, model: "sees-openai", stream: false });
    expect(answer).toEqual({ status: 400, text: expect.stringContaining(error) as string });
  });

  test("is the only one that gets images: other capabilities and real engines that cannot see reject them", async () => {
    const remotes = [{ url: seeing.upstream.url, model: "m" }];
    await front.ask("/api/create", {
      model: "blind",
      remotes,
      info: { capabilities: ["completion"] },
      stream: false,
    });
    const content = [imageBlock(), text("What?")];
    for (const [model, name] of [
      ["blind", "blind"],
      ["openai", "small:a"],
      ["anthropic", "small:a"],
      ["ollama", "small:a"],
    ])
      expect(
        await refusal("/v1/messages", { model, max_tokens: 9, messages: [{ role: "user", content }] }),
      ).toEqual({
        status: 400,
        text: expect.stringContaining(`\\"${name}\\" does not support vision`) as string,
      });
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
