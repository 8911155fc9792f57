import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { compileCache } from "../../../testing/compile-cache.ts";
import type { ModelStore } from "../model-store.ts";
import { startServerHere, type TestServer } from "../server-process.ts";
import { installedClients } from "./installed.ts";
import { chatModel, clientStore, embeddingModel, thinkingModel } from "./models.ts";

const run = promisify(execFile);
const aiSdk = fileURLToPath(new URL("ai-sdk.mjs", import.meta.url));
const clients = await installedClients();
const model = chatModel;
const messages = [{ role: "user", content: "Weather in Rome?" }];
const schema = {
  type: "object",
  properties: { city: { enum: ["Rome", "Oslo"] }, days: { type: "integer", minimum: 1, maximum: 9 } },
  required: ["city", "days"],
  additionalProperties: false,
};
const tool = {
  type: "function",
  function: { name: "get_weather", description: "Weather of a city", parameters: schema },
};
const isForecast = (value: unknown) => {
  const { city, days } = value as { city: string; days: number };
  return ["Rome", "Oslo"].includes(city) && days >= 1 && days <= 9;
};

describe.skipIf(clients === null)("JavaScript clients run unchanged (needs npm's registry)", () => {
  let store: ModelStore;
  let server: TestServer;
  beforeAll(async () => {
    store = await clientStore();
    server = await startServerHere({ models: store.folder });
  });
  afterAll(async () => {
    await server.stop();
    await store.remove();
  });
  const load = <Module>(name: "ollama" | "openai" | "@anthropic-ai/sdk" | "@langchain/ollama") =>
    clients!.load(name) as Promise<Module>;

  describe("ollama", () => {
    interface Answer {
      message: { content: string; tool_calls?: { function: { name: string; arguments: unknown } }[] };
      response: string;
      done: boolean;
      eval_count: number;
    }
    interface Client {
      list(): Promise<{ models: { name: string; modified_at: unknown }[] }>;
      ps(): Promise<{ models: { name: string }[] }>;
      show(request: object): Promise<{ template: string; capabilities: string[] }>;
      chat(request: object): Promise<Answer & AsyncIterable<Answer>>;
      generate(request: object): Promise<Answer & AsyncIterable<Answer>>;
      embed(request: object): Promise<{ embeddings: number[][] }>;
      copy(request: object): Promise<unknown>;
      create(request: object): Promise<AsyncIterable<{ status: string }>>;
      delete(request: object): Promise<unknown>;
      version(): Promise<{ version: string }>;
    }
    const client = async () => {
      const { Ollama } = await load<{ Ollama: new (options: object) => Client }>("ollama");
      return new Ollama({ host: server.url });
    };

    it("lists, shows, copies and deletes", async () => {
      const ollama = await client();
      expect((await ollama.version()).version).toMatch(/^\d+\.\d+\.\d+/);
      expect((await ollama.list()).models.map(({ name }) => name)).toContain(model);
      expect((await ollama.show({ model })).capabilities).toEqual(
        expect.arrayContaining(["completion", "tools"]),
      );
      await ollama.copy({ source: model, destination: "copied:1" });
      await ollama.delete({ model: "copied:1" });
      expect((await ollama.list()).models.map(({ name }) => name)).not.toContain("copied:1");
    });

    it("creates a quantised model, with its progress", async () => {
      const ollama = await client();
      const request = { model: "rounded:1", from: model, quantize: "Q5_0", stream: true };
      const told: string[] = [];
      for await (const { status } of await ollama.create(request)) told.push(status);
      expect(told).toContain("quantizing F32 model to Q5_0");
      expect(told.at(-1)).toBe("success");
      await ollama.delete({ model: "rounded:1" });
    });

    it("chats and generates, streamed and not", async () => {
      const ollama = await client();
      const whole = await ollama.chat({ model, messages });
      expect([whole.done, whole.eval_count > 0]).toEqual([true, true]);
      let text = "";
      for await (const part of await ollama.chat({ model, messages, stream: true }))
        text += part.message.content;
      expect(text).toBe(whole.message.content);
      let generated = "";
      for await (const part of await ollama.generate({ model, prompt: "x", stream: true }))
        generated += part.response;
      expect(generated).toBe((await ollama.generate({ model, prompt: "x" })).response);
      expect((await ollama.ps()).models.map(({ name }) => name)).toHaveLength(1);
    });

    it("accepts tools and a schema", async () => {
      const ollama = await client();
      const answer = await ollama.chat({ model, messages, format: schema, options: { num_predict: 100 } });
      expect(isForecast(JSON.parse(answer.message.content))).toBe(true);
      expect((await ollama.chat({ model, messages, tools: [tool] })).done).toBe(true);
    });

    it("recognises an error by its status", async () => {
      const ollama = await client();
      await expect(ollama.chat({ model: "absent", messages })).rejects.toMatchObject({ status_code: 404 });
    });

    it.skipIf(embeddingModel === null)("embeds (needs TEST_MODELS)", async () => {
      const ollama = await client();
      const { embeddings } = await ollama.embed({ model: embeddingModel, input: ["a", "b"] });
      expect(embeddings.map((vector) => vector.length)).toEqual([384, 384]);
    });
  });

  describe("openai", () => {
    interface Chunk {
      choices: {
        delta: { content?: string; tool_calls?: { index: number; function: { arguments: string } }[] };
      }[];
      usage?: { total_tokens: number } | null;
    }
    interface Completion {
      choices: {
        message: { content: string; tool_calls: { function: { name: string; arguments: string } }[] };
        finish_reason: string;
      }[];
    }
    interface Client {
      models: {
        list(): Promise<AsyncIterable<{ id: string }>>;
        retrieve(id: string): Promise<{ id: string }>;
      };
      chat: { completions: { create(request: object): Promise<Completion & AsyncIterable<Chunk>> } };
      completions: { create(request: object): Promise<{ choices: { text: string }[] }> };
      embeddings: { create(request: object): Promise<{ data: { embedding: number[] }[] }> };
      responses: {
        retrieve(id: string): Promise<{ id: string; output_text: string }>;
        delete(id: string): Promise<unknown>;
        inputItems: { list(id: string): Promise<AsyncIterable<{ role: string }>> };
        create(request: object): Promise<
          { id: string; output_text: string; status: string } & AsyncIterable<{
            type: string;
            delta?: string;
          }>
        >;
      };
    }
    const client = async () => {
      const { default: OpenAI } = await load<{ default: new (options: object) => Client }>("openai");
      return new OpenAI({ baseURL: `${server.url}/v1`, apiKey: "any", maxRetries: 0 });
    };

    it("lists and finds models", async () => {
      const openai = await client();
      const ids: string[] = [];
      for await (const each of await openai.models.list()) ids.push(each.id);
      expect(ids).toContain(model);
      expect((await openai.models.retrieve(model)).id).toBe(model);
    });

    it("chats, streamed and not, with usage", async () => {
      const openai = await client();
      const whole = await openai.chat.completions.create({ model, messages });
      let text = "";
      let total = 0;
      const stream = await openai.chat.completions.create({
        model,
        messages,
        stream: true,
        stream_options: { include_usage: true },
      });
      for await (const chunk of stream) {
        text += chunk.choices[0]?.delta.content ?? "";
        total = chunk.usage?.total_tokens ?? total;
      }
      expect([text, total > 0]).toEqual([whole.choices[0]!.message.content, true]);
    });

    it("calls tools, streamed and not", async () => {
      const openai = await client();
      const request = {
        model,
        messages,
        tools: [tool],
        tool_choice: "required",
        parallel_tool_calls: false,
        max_tokens: 200,
      };
      const whole = await openai.chat.completions.create(request);
      const [call] = whole.choices[0]!.message.tool_calls;
      expect([call!.function.name, isForecast(JSON.parse(call!.function.arguments))]).toEqual([
        "get_weather",
        true,
      ]);
      let streamed = "";
      for await (const chunk of await openai.chat.completions.create({ ...request, stream: true }))
        streamed += chunk.choices[0]?.delta.tool_calls?.[0]?.function.arguments ?? "";
      expect(streamed).toBe(call!.function.arguments);
    });

    it("follows a json_schema", async () => {
      const openai = await client();
      const format = { type: "json_schema", json_schema: { name: "forecast", strict: true, schema } };
      const answer = await openai.chat.completions.create({
        model,
        messages,
        response_format: format,
        max_tokens: 100,
      });
      expect(isForecast(JSON.parse(answer.choices[0]!.message.content))).toBe(true);
    });

    it("completes and responds, streamed too", async () => {
      const openai = await client();
      expect(
        (await openai.completions.create({ model, prompt: "x", max_tokens: 3 })).choices[0]!.text,
      ).not.toBe("");
      const whole = await openai.responses.create({ model, input: "hi", max_output_tokens: 5 });
      expect([whole.status, whole.output_text.length > 0]).toEqual(["incomplete", true]);
      let text = "";
      for await (const event of await openai.responses.create({
        model,
        input: "hi",
        max_output_tokens: 5,
        stream: true,
      }))
        if (event.type === "response.output_text.delta") text += event.delta;
      expect(text).toBe(whole.output_text);
    });

    it("continues, finds, lists and deletes responses", async () => {
      const { responses } = await client();
      const request = { model, max_output_tokens: 5 };
      const first = await responses.create({ ...request, input: "hi" });
      const second = await responses.create({ ...request, input: "more", previous_response_id: first.id });
      expect((await responses.retrieve(second.id)).output_text).toBe(second.output_text);
      const roles: string[] = [];
      for await (const { role } of await responses.inputItems.list(second.id)) roles.push(role);
      expect(roles).toEqual(["user", "assistant", "user"]);
      await responses.delete(second.id);
      await expect(responses.retrieve(second.id)).rejects.toMatchObject({ status: 404 });
      await expect(
        responses.create({ ...request, input: "x", previous_response_id: second.id }),
      ).rejects.toMatchObject({ status: 400, code: "previous_response_not_found" });
    });

    it("recognises an error by its code", async () => {
      const openai = await client();
      await expect(openai.chat.completions.create({ model: "absent", messages })).rejects.toMatchObject({
        status: 404,
        code: "model_not_found",
      });
    });

    it.skipIf(embeddingModel === null)("embeds, in base64 by default (needs TEST_MODELS)", async () => {
      const openai = await client();
      const { data } = await openai.embeddings.create({ model: embeddingModel, input: ["a", "b"] });
      expect(data.map(({ embedding }) => embedding.length)).toEqual([384, 384]);
    });
  });

  describe("@anthropic-ai/sdk", () => {
    interface Message {
      content: {
        id?: string;
        type: string;
        text?: string;
        thinking?: string;
        name?: string;
        input?: unknown;
      }[];
      stop_reason: string;
      usage: { input_tokens: number; cache_read_input_tokens: number; output_tokens: number };
    }
    interface MessageStream extends AsyncIterable<{ type: string }> {
      finalMessage(): Promise<Message>;
    }
    interface Client {
      messages: {
        create(request: object): Promise<Message & AsyncIterable<{ type: string }>>;
        stream(request: object): MessageStream;
        countTokens(request: object): Promise<{ input_tokens: number }>;
      };
      models: {
        list(): Promise<AsyncIterable<{ id: string }>>;
        retrieve(id: string): Promise<{ id: string; type: string }>;
      };
    }
    const client = async (options: object = { apiKey: "any" }) => {
      const { default: Anthropic } = await load<{ default: new (options: object) => Client }>(
        "@anthropic-ai/sdk",
      );
      return new Anthropic({ baseURL: server.url, maxRetries: 0, ...options });
    };
    const input = { name: "get_weather", description: "Weather of a city", input_schema: schema };
    const calling = {
      model,
      messages,
      max_tokens: 200,
      tools: [input],
      tool_choice: { type: "any", disable_parallel_tool_use: true },
    };
    /** Removes the cache counters, which differ between requests. */
    const answered = ({ content, stop_reason, usage }: Message) => ({
      content,
      stop_reason,
      tokens: [usage.input_tokens + usage.cache_read_input_tokens, usage.output_tokens],
    });

    it("sends messages, streamed and not, and counts their tokens", async () => {
      const anthropic = await client();
      const request = { model, messages, max_tokens: 9, system: [{ type: "text", text: "Be brief." }] };
      const whole = await anthropic.messages.create(request);
      const types: string[] = [];
      const stream = anthropic.messages.stream(request);
      for await (const { type } of stream) types.push(type);
      expect(answered(await stream.finalMessage())).toEqual(answered(whole));
      expect([types[0], types.at(-1), whole.stop_reason]).toEqual([
        "message_start",
        "message_stop",
        "max_tokens",
      ]);
      const { max_tokens: _, ...counted } = request;
      expect((await anthropic.messages.countTokens(counted)).input_tokens).toBe(answered(whole).tokens[0]);
    });

    it("calls tools, streamed and not, and sends results back", async () => {
      const anthropic = await client({ authToken: "any" });
      const whole = await anthropic.messages.create(calling);
      const [call] = whole.content;
      expect([whole.stop_reason, call!.name, isForecast(call!.input)]).toEqual([
        "tool_use",
        "get_weather",
        true,
      ]);
      const streamed = await anthropic.messages.stream(calling).finalMessage();
      expect(streamed.content[0]!.input).toEqual(call!.input);
      const results = [
        { type: "tool_result", tool_use_id: call!.id, content: "no such city", is_error: true },
      ];
      const talk = [
        ...messages,
        { role: "assistant", content: whole.content },
        { role: "user", content: results },
      ];
      const next = await anthropic.messages.create({
        ...calling,
        messages: talk,
        tool_choice: { type: "none" },
        max_tokens: 5,
      });
      expect(next.usage.output_tokens).toBe(5);
    });

    it("thinks, streamed and not, and shows it or not", async () => {
      const anthropic = await client();
      const request = { model: thinkingModel, messages, max_tokens: 9 };
      const shown = { ...request, thinking: { type: "enabled", budget_tokens: 1024 } };
      const whole = await anthropic.messages.create(shown);
      expect(whole.content).toMatchObject([{ type: "thinking", thinking: expect.stringMatching(/./) }]);
      expect(answered(await anthropic.messages.stream(shown).finalMessage())).toEqual(answered(whole));
      const omitted = { ...request, thinking: { type: "adaptive", display: "omitted" } };
      const streamed = await anthropic.messages.stream(omitted).finalMessage();
      expect(streamed.content).toMatchObject([{ type: "thinking", thinking: "" }]);
      expect(answered(streamed)).toEqual(answered(await anthropic.messages.create(omitted)));
    });

    it("lists and finds models, and recognises an error by its type", async () => {
      const anthropic = await client();
      const ids: string[] = [];
      for await (const each of await anthropic.models.list()) ids.push(each.id);
      expect(ids).toContain(model);
      expect(await anthropic.models.retrieve(model)).toMatchObject({ id: model, type: "model" });
      await expect(anthropic.messages.create({ ...calling, model: "absent" })).rejects.toMatchObject({
        status: 404,
        type: "not_found_error",
      });
      await expect(
        anthropic.messages.stream({ ...calling, messages: [] }).finalMessage(),
      ).rejects.toMatchObject({ status: 400, type: "invalid_request_error" });
    });
  });

  describe("@langchain/ollama", () => {
    interface Message {
      content: string;
      tool_calls?: { name: string; args: unknown }[];
    }
    interface Chat {
      invoke(input: unknown): Promise<Message>;
      stream(input: unknown): Promise<AsyncIterable<Message>>;
      bindTools(tools: unknown[]): Chat;
      withStructuredOutput(schema: object, options: object): { invoke(input: unknown): Promise<unknown> };
    }
    const chat = async (options: object = {}) => {
      const { ChatOllama } = await load<{ ChatOllama: new (options: object) => Chat }>("@langchain/ollama");
      return new ChatOllama({ model, baseUrl: server.url, ...options });
    };

    it("invokes and streams", async () => {
      const whole = await (await chat()).invoke("hi");
      let text = "";
      for await (const part of await (await chat()).stream("hi")) text += part.content;
      expect(text).toBe(whole.content);
    });

    it("binds tools and returns structured output", async () => {
      await (await chat()).bindTools([tool]).invoke("hi");
      const structured = (await chat({ numPredict: 100 })).withStructuredOutput(schema, {
        method: "jsonSchema",
      });
      expect(isForecast(await structured.invoke("hi"))).toBe(true);
    });

    it.skipIf(embeddingModel === null)("embeds (needs TEST_MODELS)", async () => {
      const { OllamaEmbeddings } = await load<{
        OllamaEmbeddings: new (options: object) => { embedQuery(text: string): Promise<number[]> };
      }>("@langchain/ollama");
      const vector = await new OllamaEmbeddings({ model: embeddingModel, baseUrl: server.url }).embedQuery(
        "a",
      );
      expect(vector).toHaveLength(384);
    });
  });

  // Runs in a separate process, because this test run would resolve the "source" condition of the SDK's
  // packages.
  it("the AI SDK with its Ollama provider generates and streams text, and an object by a schema", async () => {
    const { stdout } = await run(process.execPath, [aiSdk, clients!.folder, server.url, model], {
      env: { PATH: process.env["PATH"], NODE_COMPILE_CACHE: compileCache },
    });
    expect(stdout.trim()).toBe("all well");
  });
});
