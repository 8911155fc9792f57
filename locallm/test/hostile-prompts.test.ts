import { createHash } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createSmallStore, type ModelStore } from "./model-store.ts";
import {
  beside,
  hostilePrompts,
  hostileTemplates,
  ordinaryRequests,
  sendAll,
  sendBodies,
} from "./prompt-campaign.ts";
import { type ServerProcess, startServer } from "./server-process.ts";
import { ggufBytes, loadableModel, text, withEntry } from "./tiny-gguf.ts";

let store: ModelStore;
let server: ServerProcess;
beforeAll(async () => {
  store = await createSmallStore();
  server = await startServer({ models: store.folder, env: { LOCALLM_NUM_PARALLEL: "4" } });
});
afterAll(async () => {
  await server?.stop();
  await store?.remove();
});

const model = "small:a";
const options = { num_predict: 1, num_ctx: 512, temperature: 0 };
const chat = (content: string, role = "user") => ({
  model,
  messages: [{ role, content }],
  stream: false,
  options,
});
const promptTokens = async (path: string, body: unknown) =>
  (await server.ask<{ prompt_eval_count: number }>(path, body)).prompt_eval_count;

test("answers others while a template spends its budget", async () => {
  const template = "{{ len (js .System) }}".repeat(20);
  const body = { model, prompt: "x", system: "<é>".repeat(4_000_000), template, stream: false, options };
  let isOver = false;
  const attack = server.post("/api/generate", body).finally(() => {
    isOver = true;
  });
  let answered = 0;
  for (; answered < 5; answered += 1) await server.ask("/api/chat", chat("hi"));
  expect({ answered, isOver }).toEqual({ answered: 5, isOver: false });
  const response = await attack;
  expect(response.status).toBe(400);
  expect(await response.json()).toEqual({
    error: "template error: it takes more than 1000 ms of processor time",
  });
});

test("lists a model whose template takes too long, and rejects its chats with a named error", async () => {
  const lines = text(`${"\n".repeat(60_000)}{{ messages }}`);
  const bytes = ggufBytes(withEntry(loadableModel(), "tokenizer.chat_template", lines));
  const digest = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
  await server.post(`/api/blobs/${digest}`, undefined, { body: new Uint8Array(bytes) });
  await server.ask("/api/create", { model: "hostile", files: { "a.gguf": digest }, stream: false });
  const { models } = await server.ask<{ models: { name: string; capabilities: string[] }[] }>("/api/tags");
  const listed = models.find(({ name }) => name === "hostile:latest");
  expect(listed?.capabilities).toEqual(["completion"]);
  const refused = await server.post("/api/chat", { ...chat("hi"), model: "hostile" });
  expect([refused.status, await refused.json()]).toEqual([
    500,
    { error: "the chat template takes more than 1000 ms of processor time" },
  ]);
});

test("reads a control token as text in a message, and as one token in a raw prompt", async () => {
  const one = await promptTokens("/api/chat", chat("x"));
  expect(await promptTokens("/api/chat", chat("x<|im_end|>"))).toBe(one + "<|im_end|>".length);
  expect(await promptTokens("/api/generate", { model, prompt: "x<|im_end|>", stream: false, options })).toBe(
    2,
  );
});

test("reads control tokens everywhere with LOCALLM_SPECIAL_TOKENS=everywhere", async () => {
  const everywhere = await startServer({
    models: store.folder,
    env: { LOCALLM_SPECIAL_TOKENS: "everywhere" },
  });
  try {
    const count = async (content: string) =>
      (await everywhere.ask<{ prompt_eval_count: number }>("/api/chat", chat(content))).prompt_eval_count;
    expect(await count("x<|im_end|>")).toBe((await count("x")) + 1);
  } finally {
    await everywhere.stop();
  }
});

test("always rejects a template that prints nothing, and still answers other requests", async () => {
  const body = { model, prompt: "x", template: "{{ if false }}x{{ end }}", stream: false, options };
  for (let count = 0; count < 5; count += 1) {
    const refused = await server.post("/api/generate", body);
    expect([refused.status, await refused.json()]).toEqual([
      400,
      { error: "the prompt is empty: the template prints nothing for this request" },
    ]);
  }
  expect(await promptTokens("/api/chat", chat("hi"))).toBeGreaterThan(0);
});

test("rejects a text of more tokens than one answer lists", async () => {
  const tokenize = (chars: number) => server.post("/api/tokenize", { model, content: "a".repeat(chars) });
  expect(((await (await tokenize(5_000)).json()) as { count: number }).count).toBe(5_000);
  const refused = await tokenize(1_048_577);
  expect([refused.status, await refused.json()]).toEqual([
    400,
    { error: "content has more than 1048576 tokens; split it into several requests" },
  ]);
});

test.each(["wizard", "", "user<|im_end|>"])("rejects the unknown role %j", async (role) => {
  const refused = await server.post("/api/chat", chat("hi", role));
  expect(refused.status).toBe(400);
  expect(((await refused.json()) as { error: string }).error).toMatch(
    /^messages\[0\]\.role must be one of "system"/,
  );
});

test("answers others during hostile templates, prompts and bodies, which fail with named errors", async () => {
  await ordinaryRequests(server, () => true);
  const attacks = [...hostileTemplates(6, 5), ...hostilePrompts(8, 5)];
  expect((await beside(server, sendAll(server, attacks, 2))).failed).toEqual([]);
  const bodies = sendBodies({ url: server.url, count: 8, seed: 5, atOnce: 8 });
  expect((await beside(server, bodies)).failed).toEqual([]);
}, 120_000);
