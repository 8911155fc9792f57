import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isFullSize } from "../../testing/test-size.ts";
import { createModelStore, type ModelStore } from "./model-store.ts";
import { command, startServerHere, type TestServer } from "./server-process.ts";
import { smallLlama } from "./small-llama.ts";

/**
 * Tests `LOCALLM_CONTEXT_LENGTH=auto` with a model that was trained with 8,192 tokens. Each of its tokens is
 * one byte.
 */
let store: ModelStore;
let server: TestServer;
beforeAll(async () => {
  store = await createModelStore();
  const path = join(store.folder, "small.gguf");
  await writeFile(path, smallLlama(1, 8192));
  await store.add("grows", path, { parameters: { num_thread: 1 } });
  await rm(path);
  const template = "{{ range .Tools }}{{ . }}{{ end }}{{ range .Messages }}{{ .Content }}{{ end }}";
  await store.derive("agent", { from: "grows", template });
  const infill = "{{ if .Suffix }}{{ .Prompt }}{{ .Suffix }}{{ else }}{{ .Prompt }}{{ end }}";
  await store.derive("infills", { from: "grows", template: infill });
  await store.derive("fixed", { from: "grows", parameters: { num_ctx: 1000 } });
  const env = { LOCALLM_CONTEXT_LENGTH: "auto", LOCALLM_NUM_PARALLEL: "2" };
  server = await startServerHere({ models: store.folder, env });
});
afterAll(async () => {
  await server?.stop();
  await store?.remove();
});

interface Loaded {
  readonly model: string;
  readonly context_length: number;
  readonly context_why: string;
  readonly context_limit?: number;
  readonly context_limit_why?: string;
}

interface Explained {
  readonly explain: { readonly loaded: Loaded[]; readonly decisions: { what: string; why: string }[] };
}

const explained = async () => (await server.ask<Explained>("/api/ps?explain")).explain;
const loaded = async () => (await explained()).loaded[0]!;
/** The loads since the server started. */
const loads = async () => (await explained()).decisions.filter(({ what }) => what === "ready").length;
const unloaded = async (model: string) => {
  await server.ask("/api/generate", { model, keep_alive: 0 });
  while ((await explained()).loaded.length > 0) await new Promise((resolve) => setTimeout(resolve, 10));
};
const text = (chars: number, letter = "x") => letter.repeat(chars);
const generate = (prompt: string, options: Record<string, unknown> = {}, more: object = {}) => ({
  model: "grows",
  ...{ prompt, stream: false },
  options: { num_predict: 4, temperature: 0, ...options },
  ...more,
});

test("starts with 2048 tokens, grows in powers of two, and says why", async () => {
  await server.ask("/api/generate", generate("hi"));
  expect(await loaded()).toMatchObject({
    context_length: 2048,
    context_why: "LOCALLM_CONTEXT_LENGTH=auto, first window",
    context_limit: 8192,
    context_limit_why: "the model was trained with a window of 8192 tokens",
  });
  await server.ask("/api/generate", generate(text(2044)));
  expect((await loaded()).context_length).toBe(2048);
  expect(await server.ask("/api/generate", generate(text(2045)))).toMatchObject({ prompt_eval_count: 2045 });
  const grown = {
    context_length: 4096,
    context_why: "LOCALLM_CONTEXT_LENGTH=auto, for a prompt of 2045 tokens and an answer of up to 4",
  };
  expect(await loaded()).toMatchObject(grown);

  // A shorter prompt does not shrink the window, and it may use the whole window.
  const before = await loads();
  await server.ask("/api/generate", generate("hi"));
  await server.ask("/api/generate", generate(text(3000)));
  expect(await loaded()).toMatchObject(grown);
  expect(await loads()).toBe(before);
  const ps = await command(["ps"], { LOCALLM_HOST: server.url });
  expect(ps.out).toContain(`grows:latest: context of 4096 tokens: ${grown.context_why}`);
});

const longTool = (chars: number) => ({
  type: "function",
  function: { name: "f", description: text(chars), parameters: { type: "object" } },
});
const few = { num_predict: 4, temperature: 0 };
/** Requests with a prompt of so many characters, or some more. */
const asking: Record<string, (chars: number) => readonly [path: string, body: object]> = {
  raw: (chars) => ["/api/generate", { ...generate(text(chars)), raw: true }],
  generate: (chars) => ["/api/generate", generate(text(chars - 4), {}, { model: "agent", system: "abcd" })],
  chat: (chars) => [
    "/api/chat",
    { model: "agent", messages: [{ role: "user", content: text(chars) }], stream: false, options: few },
  ],
  "chat with tools": (chars) => [
    "/api/chat",
    {
      ...{ model: "agent", messages: [{ role: "user", content: "hi" }], stream: false, options: few },
      tools: [longTool(chars)],
    },
  ],
  messages: (chars) => [
    "/v1/messages",
    { model: "agent", messages: [{ role: "user", content: text(chars) }], max_tokens: 4 },
  ],
  completions: (chars) => ["/v1/completions", { model: "grows", prompt: ["hi", text(chars)], max_tokens: 4 }],
  infill: (chars) => [
    "/v1/completions",
    { model: "infills", prompt: text(chars - 4), suffix: "abcd", max_tokens: 4 },
  ],
};

test.each<[string, number, number]>([
  ...[2044, 2045, 4092, 4093, 8188].flatMap((chars): [string, number, number][] => {
    const window = chars <= 2044 ? 2048 : chars <= 4092 ? 4096 : 8192;
    return isFullSize || chars === 2045 || chars === 4092
      ? [
          ["raw", chars, window],
          ["chat", chars, window],
        ]
      : [["raw", chars, window]];
  }),
  ["generate", 2044, 2048],
  ["generate", 2045, 4096],
  ["infill", 4093, 8192],
  ["messages", 4093, 8192],
  ["completions", 4093, 8192],
  ["chat with tools", 3000, 4096],
])("loads a model once for a first prompt: %s of %i tokens", async (kind, chars, window) => {
  await unloaded("grows");
  const before = await loads();
  const [path, body] = asking[kind]!(chars);
  await server.ask(path, body);
  expect([(await loads()) - before, (await loaded()).context_length]).toEqual([1, window]);
});

test("loads a model once for several first prompts, also if one of them does not fit", async () => {
  await unloaded("grows");
  const before = await loads();
  const answers = await Promise.all(
    [100, 9000, 5000, 2500].map(
      async (chars) => (await server.post("/api/generate", generate(text(chars)))).status,
    ),
  );
  expect(answers).toEqual([200, 400, 200, 200]);
  expect([(await loads()) - before, await loaded()]).toMatchObject([
    1,
    {
      context_length: 8192,
      context_why: "LOCALLM_CONTEXT_LENGTH=auto, for a prompt of 5000 tokens and an answer of up to 4",
    },
  ]);
});

test("makes room for num_predict, or for 1024 tokens if the request sets none", async () => {
  const stop = [..." abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"];
  await unloaded("grows");
  await server.ask("/api/generate", { ...generate("hi"), options: { num_predict: 3000, stop } });
  expect((await loaded()).context_length).toBe(4096);
  await unloaded("grows");
  await server.ask("/v1/completions", { model: "grows", prompt: text(1000), max_tokens: 1 });
  expect((await loaded()).context_length).toBe(2048);
  await server.ask("/api/generate", { ...generate(text(1100)), options: { stop } });
  expect((await loaded()).context_length).toBe(4096);
});

test("continues a conversation without computing it again", async () => {
  await unloaded("grows");
  const messages = [{ role: "user", content: text(1900, "q") }];
  const chat = async () =>
    await server.ask<{ message: { role: string; content: string }; prompt_cached_count?: number }>(
      "/api/chat",
      { model: "grows", messages, stream: false, options: { num_predict: 8, temperature: 0 } },
    );
  const first = await chat();
  expect((await loaded()).context_length).toBe(2048);
  messages.push(first.message, { role: "user", content: text(2500, "r") });
  const second = await chat();
  expect((await loaded()).context_length).toBe(8192);
  expect(second.prompt_cached_count).toBeGreaterThan(1900);
  expect(second).not.toHaveProperty("truncated");
});

test("reloads once for parallel requests, after the running answer", async () => {
  await unloaded("grows");
  const before = await loads();
  const running = server.post("/api/generate", { ...generate("hi", { num_predict: 300 }), stream: true });
  const started = await running;
  const both = [text(2500, "a"), text(2500, "b")].map((prompt) =>
    server.ask("/api/generate", generate(prompt)),
  );
  const lines = (await started.text()).trim().split("\n");
  expect(JSON.parse(lines.at(-1)!)).toMatchObject({ done: true, eval_count: 300 });
  for (const answer of await Promise.all(both)) expect(answer).toMatchObject({ prompt_eval_count: 2500 });
  expect((await loads()) - before).toBe(2);
  expect((await loaded()).context_length).toBe(4096);
});

test("rejects a prompt over the limit with the numbers, the reason and the setting, and keeps the model", async () => {
  await unloaded("grows");
  await server.ask("/api/generate", generate("hi"));
  const before = await loads();
  const body = { model: "grows", messages: [{ role: "user", content: text(9000) }], max_tokens: 4 };
  for (const path of ["/v1/chat/completions", "/v1/messages"]) {
    const refused = await server.post(path, body);
    expect(refused.status).toBe(400);
    expect(((await refused.json()) as { error: { message: string } }).error.message).toMatch(
      /^prompt is too long: 90\d\d tokens exceed the context length of 8192; shorten it: the model was trained with a window of 8192 tokens \(LOCALLM_CONTEXT_LENGTH=auto\)$/,
    );
  }
  expect(await (await server.post("/api/generate", generate(text(8192)))).json()).toMatchObject({
    error: expect.stringMatching(/^prompt is too long: 8192 tokens exceed the context length of 8192; /),
  });
  const endless = await server.post("/api/generate", generate(text(3_000_000)));
  expect(await endless.json()).toMatchObject({ error: expect.stringMatching(/^prompt is too long: /) });
  expect(await loads()).toBe(before);
  expect((await loaded()).context_length).toBe(2048);
});

test("drops the oldest messages only beyond the limit, where the API allows it", async () => {
  const messages = ["a", "b", "c"].map((letter) => ({ role: "user", content: text(3500, letter) }));
  const answer = await server.ask("/api/chat", {
    ...{ model: "grows", messages, stream: false },
    options: { num_predict: 1 },
  });
  expect(answer).toMatchObject({ truncated: { messages: 1 } });
  expect((await loaded()).context_length).toBe(8192);
});

test("does not grow the window if the request or the model sets num_ctx", async () => {
  await unloaded("grows");
  const small = await server.post("/api/generate", generate(text(600), { num_ctx: 512 }));
  expect(await small.json()).toMatchObject({
    error:
      "prompt is too long: 600 tokens exceed the context length of 512; shorten it, or use a larger context, such as 1024: num_ctx in the request's options, PARAMETER num_ctx in the Modelfile, or LOCALLM_CONTEXT_LENGTH on the server (the limit is from option num_ctx of a request)",
  });
  expect(await loaded()).toMatchObject({ context_length: 512, context_why: "option num_ctx of a request" });
  const fixed = await server.post("/api/generate", generate(text(2000), {}, { model: "fixed" }));
  expect(await fixed.json()).toMatchObject({
    error: expect.stringMatching(/context length of 1000; .*from PARAMETER num_ctx of the model\)$/),
  });
  const shown = (await explained()).loaded.find(({ model }) => model === "fixed:latest");
  expect(shown?.context_length).toBeGreaterThanOrEqual(1000);
  expect(shown).not.toHaveProperty("context_limit");
});

test("tells an assistant how large the window can get", async () => {
  const words = ["launch", "claude", "--model", "agent", "--config"];
  const wired = await command(words, { LOCALLM_HOST: server.url });
  expect(wired.out).toContain("CLAUDE_CODE_MAX_CONTEXT_TOKENS='8192'");
});
