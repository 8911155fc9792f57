import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ModelStore } from "../model-store.ts";
import { command, startServerHere, type TestServer, until } from "../server-process.ts";
import { installedClients } from "./installed.ts";
import { clientStore, embeddingModel, chatModel as model } from "./models.ts";

/** Asks through an official client. What it throws is what programs show. */
type Ask = (key: string, content: string) => Promise<unknown>;

interface OllamaClient {
  chat(request: object): Promise<unknown>;
  generate(request: object): Promise<unknown>;
  embed(request: object): Promise<unknown>;
}
interface OpenAiClient {
  readonly chat: { readonly completions: { create(request: object): Promise<unknown> } };
  readonly responses: { create(request: object): Promise<unknown> };
}
interface AnthropicClient {
  readonly messages: { create(request: object): Promise<unknown> };
}
type Constructor<Client> = new (options: object) => Client;

const clients = await installedClients();

describe.skipIf(clients === null)("official clients show what to do (needs npm's registry)", () => {
  let folder: string;
  let store: ModelStore;
  let server: TestServer;
  const keys: Record<string, string> = {};
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "locallm-sentences-"));
    store = await clientStore();
    for (const may of ["ask", "usage"]) {
      const { out } = await command(["keys", "create", "--name", may, "--may", may], {
        LOCALLM_KEYS: folder,
      });
      keys[may] = /sk-locallm-\S+/.exec(out)![0];
    }
    server = await startServerHere({
      models: store.folder,
      env: { LOCALLM_KEYS: folder, LOCALLM_MAX_QUEUE: "1", LOCALLM_NUM_PARALLEL: "1" },
    });
  });
  afterAll(async () => {
    await server?.stop();
    await store?.remove();
    await rm(folder, { recursive: true, force: true });
  });

  const ollama = async (key: string) => {
    const { Ollama } = (await clients!.load("ollama")) as { Ollama: Constructor<OllamaClient> };
    return new Ollama({ host: server.url, headers: { Authorization: `Bearer ${key}` } });
  };
  const openAi = async (apiKey: string) => {
    const { default: OpenAI } = (await clients!.load("openai")) as { default: Constructor<OpenAiClient> };
    return new OpenAI({ baseURL: `${server.url}/v1`, apiKey, maxRetries: 0 });
  };
  const anthropic = async (apiKey: string) => {
    const { default: Anthropic } = (await clients!.load("@anthropic-ai/sdk")) as {
      default: Constructor<AnthropicClient>;
    };
    return new Anthropic({ baseURL: server.url, apiKey, maxRetries: 0 });
  };
  const said = (content: string) => [{ role: "user", content }];
  const apis: [api: string, ask: Ask][] = [
    ["ollama, chat", async (key, text) => (await ollama(key)).chat({ model, messages: said(text) })],
    ["ollama, generate", async (key, text) => (await ollama(key)).generate({ model, prompt: text })],
    [
      "openai, chat completions",
      async (key, text) => (await openAi(key)).chat.completions.create({ model, messages: said(text) }),
    ],
    [
      "openai, chat completions streamed",
      async (key, text) =>
        (await openAi(key)).chat.completions.create({ model, messages: said(text), stream: true }),
    ],
    ["openai, responses", async (key, text) => (await openAi(key)).responses.create({ model, input: text })],
    [
      "anthropic, messages",
      async (key, text) =>
        (await anthropic(key)).messages.create({ model, max_tokens: 5, messages: said(text) }),
    ],
    [
      "anthropic, messages streamed",
      async (key, text) =>
        (await anthropic(key)).messages.create({ model, max_tokens: 5, messages: said(text), stream: true }),
    ],
  ];

  describe.each(apis)("%s", (_, ask) => {
    it("a key that may not ask: which permission, and how to get a key that has it", async () => {
      await expect(ask(keys["usage"]!, "hi")).rejects.toThrow(
        /does not have the permission .?"ask.?"; ask the administrator for one that has \(on the server: locallm keys create --name NAME --may ask\)/,
      );
    });

    it("a prompt that is too long: by how much, and where to set the window", async () => {
      const refused = expect(ask(keys["ask"]!, "x".repeat(3000))).rejects;
      await refused.toThrow(
        /prompt is too long: 30\d\d tokens exceed the context length of 2048; shorten it, or use a larger context, such as 4096: num_ctx in the request's options, PARAMETER num_ctx in the Modelfile, or LOCALLM_CONTEXT_LENGTH on the server/,
      );
    });

    it("a busy model: that it is, and what helps", async () => {
      const gone = new AbortController();
      const endless = { model, prompt: "x", shift: true, options: { num_predict: -1 } };
      const headers = { authorization: `Bearer ${keys["ask"]}` };
      const held = [1, 2].map(() =>
        server.post("/api/generate", endless, { headers, signal: gone.signal }).then(
          (response) => response.text(),
          () => null,
        ),
      );
      const queued = async () =>
        ((await (await fetch(`${server.url}/health`)).json()) as { queued: number }).queued;
      try {
        await until("one waits", async () => (await queued()) === 1);
        await expect(ask(keys["ask"]!, "hi")).rejects.toThrow(
          /server busy, please try again\. {2}maximum pending requests exceeded: 1 request waits; send it again in a moment, or raise LOCALLM_MAX_QUEUE or LOCALLM_NUM_PARALLEL on the server/,
        );
      } finally {
        gone.abort();
        await Promise.allSettled(held);
        await until("nobody waits", async () => (await queued()) === 0);
      }
    });
  });

  it.skipIf(embeddingModel === null)(
    "ollama, embed: an input that is too long (needs TEST_MODELS)",
    async () => {
      const client = await ollama(keys["ask"]!);
      const asked = client.embed({ model: embeddingModel, input: "word ".repeat(900), truncate: false });
      await expect(asked).rejects.toThrow(
        /input 0 has 90\d tokens, the limit is \d+; shorten it, leave out truncate, or use a larger context if the model was trained with one: num_ctx in the request's options, PARAMETER num_ctx in the Modelfile, or LOCALLM_CONTEXT_LENGTH/,
      );
    },
  );
});
