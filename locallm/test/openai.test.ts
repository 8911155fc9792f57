import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { brokenStream } from "./crowd.ts";
import { hermesTemplate } from "./hermes-template.ts";
import { createSmallStore, embeddingModelPath, type ModelStore } from "./model-store.ts";
import { startServerHere, type TestServer, until } from "./server-process.ts";

type Answer = Record<string, unknown>;
interface ErrorBody {
  error: { message: string; type: string; param: string | null; code: string | null };
}

const model = "small:a";
const messages = [{ role: "user", content: "hi" }];
const weather = {
  type: "function",
  function: {
    name: "get_weather",
    description: "Weather of a city",
    parameters: {
      type: "object",
      properties: {
        city: { type: "string", maxLength: 8 },
        days: { type: "integer", minimum: 1, maximum: 9 },
      },
      required: ["city", "days"],
    },
  },
};
const clock = {
  type: "function",
  function: { name: "now", parameters: { type: "object", properties: {}, additionalProperties: false } },
};

describe("the OpenAI API", () => {
  let store: ModelStore;
  let server: TestServer;
  beforeAll(async () => {
    store = await createSmallStore();
    await store.derive("tools:1", { from: model, template: hermesTemplate });
    await store.derive("thinks:1", {
      from: model,
      template:
        "{{ range .Messages }}{{ .Content }}{{ end }}{{ if .Think }}<think>{{ end }}{{ if false }}</think>{{ end }}",
    });
    await store.derive("insert:1", {
      from: model,
      template: "{{ if .Suffix }}P{{ .Prompt }}S{{ .Suffix }}M{{ else }}{{ .Prompt }}{{ end }}",
    });
    await store.derive("warm:1", { from: model, parameters: { temperature: 0, num_predict: 3 } });
    if (embeddingModelPath !== null) await store.add("all-minilm:22m", embeddingModelPath);
    server = await startServerHere({ models: store.folder });
  });
  afterAll(async () => {
    await server.stop();
    await store.remove();
  });

  const chat = (body: Answer) => ({ model, messages, max_tokens: 3, temperature: 0, ...body });
  const ask = (body: Answer) => server.ask<Completion>("/v1/chat/completions", chat(body));
  interface Completion {
    id: string;
    choices: {
      finish_reason: string;
      message: { content: string | null; tool_calls?: Call[]; reasoning?: string };
    }[];
    usage: Record<string, unknown>;
  }
  interface Call {
    id: string;
    index?: number;
    type?: string;
    function: { name?: string; arguments: string };
  }
  const events = async (path: string, body: Answer) => {
    const response = await server.post(path, { ...body, stream: true });
    expect(response.headers.get("content-type")).toMatch(/^text\/event-stream/);
    return (await response.text()).split("\n\n").filter((line) => line !== "");
  };
  const data = (lines: string[]) =>
    lines.map((line) => JSON.parse(line.replace(/^(event: .*\n)?data: /, "")) as Answer);

  describe("errors", () => {
    const long = "word ".repeat(3000);
    it.each<[string, string, Answer | string, number, Partial<ErrorBody["error"]>]>([
      [
        "no model",
        "/v1/chat/completions",
        { messages },
        400,
        { param: "model", type: "invalid_request_error" },
      ],
      ["an empty model", "/v1/completions", { model: "", prompt: "x" }, 400, { param: "model" }],
      [
        "an unknown model",
        "/v1/chat/completions",
        { model: "absent", messages },
        404,
        {
          message: "model 'absent' not found",
          type: "not_found_error",
          code: "model_not_found",
          param: "model",
        },
      ],
      [
        "no messages",
        "/v1/chat/completions",
        { model },
        400,
        { message: "[] is too short - 'messages'", param: "messages" },
      ],
      [
        "empty messages",
        "/v1/chat/completions",
        chat({ messages: [] }),
        400,
        { message: "[] is too short - 'messages'", param: "messages" },
      ],
      [
        "messages of the wrong type",
        "/v1/chat/completions",
        chat({ messages: "x" }),
        400,
        { param: "messages" },
      ],
      [
        "an unknown role",
        "/v1/chat/completions",
        chat({ messages: [{ role: "wizard", content: "x" }] }),
        400,
        { param: "messages[0].role" },
      ],
      [
        "a temperature of the wrong type",
        "/v1/chat/completions",
        chat({ temperature: "hot" }),
        400,
        { param: "temperature" },
      ],
      [
        "a temperature out of range",
        "/v1/chat/completions",
        chat({ temperature: 3 }),
        400,
        { param: "temperature" },
      ],
      ["max_tokens of 0", "/v1/chat/completions", chat({ max_tokens: 0 }), 400, { param: "max_tokens" }],
      [
        "max_completion_tokens below 0",
        "/v1/chat/completions",
        chat({ max_completion_tokens: -1 }),
        400,
        { param: "max_completion_tokens" },
      ],
      [
        "five stops",
        "/v1/chat/completions",
        chat({ stop: ["a", "b", "c", "d", "e"] }),
        400,
        { param: "stop" },
      ],
      ["n of 2", "/v1/chat/completions", chat({ n: 2 }), 400, { code: "unsupported_parameter", param: "n" }],
      [
        "best_of 2",
        "/v1/completions",
        { model, prompt: "x", best_of: 2 },
        400,
        { code: "unsupported_parameter", param: "best_of" },
      ],
      [
        "top_logprobs without logprobs",
        "/v1/chat/completions",
        chat({ top_logprobs: 2 }),
        400,
        { param: "top_logprobs" },
      ],
      [
        "too many top_logprobs",
        "/v1/chat/completions",
        chat({ logprobs: true, top_logprobs: 21 }),
        400,
        { param: "top_logprobs", message: "top_logprobs must be between 0 and 20" },
      ],
      [
        "a number as logprobs of chat",
        "/v1/chat/completions",
        chat({ logprobs: 5 }),
        400,
        { param: "logprobs" },
      ],
      [
        "logprobs of completions below 0",
        "/v1/completions",
        { model, prompt: "x", logprobs: -1 },
        400,
        { param: "logprobs" },
      ],
      [
        "logprobs of an echoed prompt",
        "/v1/completions",
        { model, prompt: "x", logprobs: 1, echo: true },
        400,
        { code: "unsupported_parameter", param: "logprobs" },
      ],
      [
        "logprobs of responses",
        "/v1/responses",
        { model, input: "x", top_logprobs: 1 },
        400,
        { code: "unsupported_parameter", param: "top_logprobs" },
      ],
      [
        "an unknown tool",
        "/v1/chat/completions",
        chat({
          model: "tools:1",
          tools: [clock],
          tool_choice: { type: "function", function: { name: "nope" } },
        }),
        400,
        { param: "tool_choice" },
      ],
      [
        "a tool choice without tools",
        "/v1/chat/completions",
        chat({ tool_choice: "required" }),
        400,
        { param: "tool_choice" },
      ],
      [
        "tools for a model without tool support",
        "/v1/chat/completions",
        chat({ tools: [clock] }),
        400,
        { message: '"small:a" does not support tools' },
      ],
      [
        "thinking for a model without thinking support",
        "/v1/chat/completions",
        chat({ reasoning_effort: "high" }),
        400,
        { message: '"small:a" does not support thinking' },
      ],
      [
        "an unknown response_format",
        "/v1/chat/completions",
        chat({ response_format: { type: "xml" } }),
        400,
        { param: "response_format.type" },
      ],
      [
        "json_schema without a schema",
        "/v1/chat/completions",
        chat({ response_format: { type: "json_schema", json_schema: { name: "x" } } }),
        400,
        { param: "response_format.json_schema.schema" },
      ],
      [
        "a schema that allows nothing",
        "/v1/chat/completions",
        chat({ response_format: { type: "json_schema", json_schema: { name: "x", schema: { not: {} } } } }),
        400,
        {
          message: 'invalid format: expected "json" or a JSON schema; the schema allows nothing',
        },
      ],
      [
        "a web image",
        "/v1/chat/completions",
        chat({
          messages: [
            {
              role: "user",
              content: [{ type: "image_url", image_url: { url: "http://127.0.0.1:1/x.png" } }],
            },
          ],
        }),
        400,
        { message: '"small:a" does not support vision' },
      ],
      [
        "a bias that is not a number",
        "/v1/chat/completions",
        chat({ logit_bias: { "5": "x" } }),
        400,
        { param: "logit_bias.5" },
      ],
      [
        "one message longer than the context",
        "/v1/chat/completions",
        chat({ messages: [{ role: "user", content: long }] }),
        400,
        { code: "context_length_exceeded" },
      ],
      [
        "a prompt longer than the context",
        "/v1/completions",
        { model, prompt: long },
        400,
        { code: "context_length_exceeded" },
      ],
      ["no prompt", "/v1/completions", { model }, 400, { param: "prompt" }],
      [
        "suffix for a model without suffix support",
        "/v1/completions",
        { model, prompt: "x", suffix: "y" },
        400,
        { message: '"small:a" does not support insert' },
      ],
      ["embeddings without input", "/v1/embeddings", { model }, 400, { param: "input" }],
      ["empty input", "/v1/embeddings", { model, input: [] }, 400, { param: "input" }],
      ["an empty text among inputs", "/v1/embeddings", { model, input: ["a", ""] }, 400, { param: "input" }],
      [
        "an unknown encoding",
        "/v1/embeddings",
        { model, input: "x", encoding_format: "hex" },
        400,
        { param: "encoding_format" },
      ],
      [
        "an unknown previous response",
        "/v1/responses",
        { model, input: "x", previous_response_id: "resp_1" },
        400,
        { param: "previous_response_id", code: "previous_response_not_found" },
      ],
      [
        "a previous response of a wrong type",
        "/v1/responses",
        { model, input: "x", previous_response_id: 1 },
        400,
        { param: "previous_response_id" },
      ],
      [
        "a conversation",
        "/v1/responses",
        { model, input: "x", conversation: "conv_1" },
        400,
        { param: "conversation", code: "unsupported_parameter" },
      ],
      [
        "background",
        "/v1/responses",
        { model, input: "x", background: true },
        400,
        { param: "background", code: "unsupported_parameter" },
      ],
      [
        "a function without a name",
        "/v1/responses",
        { model: "tools:1", input: "x", tools: [{ type: "web_search" }, { type: "function" }] },
        400,
        { param: "tools[1].name" },
      ],
      [
        "a required call where every tool runs elsewhere",
        "/v1/responses",
        { model: "tools:1", input: "x", tools: [{ type: "web_search" }], tool_choice: "required" },
        400,
        { param: "tool_choice" },
      ],
      ["broken JSON", "/v1/chat/completions", '{"model":', 400, { type: "invalid_request_error" }],
      ["no body", "/v1/chat/completions", "", 400, { message: "missing request body" }],
      ["files", "/v1/files", {}, 404, { code: "unknown_url", type: "invalid_request_error" }],
      ["images", "/v1/images/generations", { prompt: "x" }, 404, { code: "unknown_url" }],
      ["fine-tuning", "/v1/fine_tuning/jobs", {}, 404, { code: "unknown_url" }],
      ["assistants", "/v1/assistants", {}, 404, { code: "unknown_url" }],
      ["a wrong method", "/v1/models", {}, 405, { type: "invalid_request_error" }],
    ])("%s", async (_, path, body, status, error) => {
      const response = await server.post(path, body);
      expect(await response.json()).toMatchObject({ error });
      expect(response.status).toBe(status);
    });

    it("an unknown model gets 404 with its code also on models/{id}", async () => {
      const response = await fetch(`${server.url}/v1/models/absent`);
      expect([response.status, ((await response.json()) as ErrorBody).error.code]).toEqual([
        404,
        "model_not_found",
      ]);
    });

    it.each([
      ["/v1/chat/completions", { messages, max_tokens: 100_000 }],
      ["/v1/completions", { prompt: "x", max_tokens: 100_000 }],
      ["/v1/responses", { input: "x", max_output_tokens: 100_000 }],
    ])("%s: an error after the first event is an event, and no [DONE] follows", async (path, body) => {
      const response = await server.post(path, { model, stream: true, temperature: 0, ...body });
      const text = await brokenStream(server, response);
      const last = text.trim().split("\n\n").at(-1)!;
      const shown = JSON.parse(last.replace(/^(event: error\n)?data: /, "")) as Answer;
      if (path === "/v1/responses") expect(shown).toMatchObject({ type: "error", code: "api_error" });
      else expect(shown).toMatchObject({ error: { type: "api_error" } });
      expect(text).not.toContain("[DONE]");
      await until(
        "the next request works",
        async () => (await server.post("/v1/chat/completions", chat({}))).status === 200,
      );
    });
  });

  describe("chat/completions", () => {
    it("returns a complete answer with consistent token counts", async () => {
      const answer = await ask({});
      expect(answer).toMatchObject({
        object: "chat.completion",
        model,
        choices: [{ index: 0, finish_reason: "length", message: { role: "assistant" } }],
      });
      expect(answer.id).toMatch(/^chatcmpl-[0-9a-f]{32}$/);
      expect(answer.usage["total_tokens"]).toBe(Number(answer.usage["prompt_tokens"]) + 3);
    });

    it("streams role, content, finish, usage and [DONE]", async () => {
      const lines = await events("/v1/chat/completions", chat({ stream_options: { include_usage: true } }));
      expect(lines.pop()).toBe("data: [DONE]");
      const chunks = data(lines) as {
        choices: { delta: Answer; finish_reason: string | null }[];
        usage?: Answer;
      }[];
      expect(chunks[0]!.choices[0]!.delta).toEqual({ role: "assistant", content: "" });
      expect(chunks.at(-2)!.choices[0]).toMatchObject({ delta: {}, finish_reason: "length" });
      expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { completion_tokens: 3 } });
      const whole = await ask({});
      expect(chunks.map((chunk) => chunk.choices[0]?.delta["content"] ?? "").join("")).toBe(
        whole.choices[0]!.message.content,
      );
    });

    it("accepts developer as system, and text in parts", async () => {
      const count = async (list: Answer[]) => (await ask({ messages: list })).usage["prompt_tokens"];
      const parts = [
        { type: "text", text: "h" },
        { type: "text", text: "i" },
      ];
      expect(
        await count([
          { role: "developer", content: "be" },
          { role: "user", content: parts },
        ]),
      ).toBe(
        await count([
          { role: "system", content: "be" },
          { role: "user", content: "h\ni" },
        ]),
      );
    });

    it("uses the model's parameters unless the request sets them", async () => {
      const answer = await server.ask<Completion>("/v1/chat/completions", { model: "warm:1", messages });
      const again = await server.ask<Completion>("/v1/chat/completions", { model: "warm:1", messages });
      expect(answer.usage["completion_tokens"]).toBe(3);
      expect(again.choices[0]!.message.content).toBe(answer.choices[0]!.message.content);
    });

    it("prefers max_completion_tokens to max_tokens; accepts options as an extension", async () => {
      expect((await ask({ max_completion_tokens: 2 })).usage["completion_tokens"]).toBe(2);
      const native = await server.ask<Completion>("/v1/chat/completions", {
        model,
        messages,
        options: { num_predict: 4, num_ctx: 512 },
      });
      expect(native.usage["completion_tokens"]).toBe(4);
    });

    it("names ignored fields, accepts any bearer token and treats null as absent", async () => {
      const response = await server.post(
        "/v1/chat/completions",
        chat({
          ...{ user: "u", store: true, metadata: {}, service_tier: "auto" },
          ...{ logprobs: null, tools: null, logit_bias: {} },
        }),
        {
          headers: { authorization: "Bearer anything" },
        },
      );
      expect(response.status).toBe(200);
      expect(response.headers.get("x-ignored-fields")?.split(", ").sort()).toEqual([
        "metadata",
        "service_tier",
        "store",
        "user",
      ]);
      const without = await server.post("/v1/chat/completions", chat({}), {
        headers: { authorization: "Bearer " },
      });
      expect((await server.post("/v1/chat/completions", chat({ logprobs: false }))).status).toBe(200);
      expect(without.status).toBe(200);
    });

    it("reports in a header how much of a too long conversation it dropped", async () => {
      const old = { role: "user", content: "x".repeat(3000) };
      const response = await server.post(
        "/v1/chat/completions",
        chat({ messages: [old, { role: "assistant", content: "a" }, ...messages] }),
      );
      expect(response.status).toBe(200);
      expect(response.headers.get("x-truncated")).toMatch(/^messages=\d, tokens=\d+$/);
    });

    it("stops at a string or any of a list", async () => {
      const whole = (await ask({ max_tokens: 20 })).choices[0]!.message.content!;
      const stop = whole.slice(4, 6);
      for (const stops of [stop, [stop, "never"]]) {
        const cut = await ask({ max_tokens: 20, stop: stops });
        expect(cut.choices[0]).toMatchObject({
          finish_reason: "stop",
          message: { content: whole.slice(0, whole.indexOf(stop)) },
        });
      }
    });

    it("a logit bias changes the answer", async () => {
      const first = (await ask({ max_tokens: 1 })).choices[0]!.message.content!;
      const { tokens } = await server.ask<{ tokens: number[] }>("/api/tokenize", {
        model,
        content: first,
        add_special: false,
      });
      const biased = await ask({ max_tokens: 1, logit_bias: { [tokens[0]!]: -100 } });
      expect(biased.choices[0]!.message.content).not.toBe(first);
    });

    it("enforces response_format with a grammar", async () => {
      const schema = {
        type: "object",
        properties: { ok: { type: "boolean" }, n: { type: "integer", minimum: 10, maximum: 12 } },
        required: ["ok", "n"],
      };
      const format = { type: "json_schema", json_schema: { name: "x", schema } };
      const answer = await ask({ max_tokens: 60, temperature: 1, seed: 1, response_format: format });
      const { ok, n } = JSON.parse(answer.choices[0]!.message.content!) as { ok: boolean; n: number };
      expect([typeof ok, n >= 10 && n <= 12, answer.choices[0]!.finish_reason]).toEqual([
        "boolean",
        true,
        "stop",
      ]);
    });
  });

  describe("tools", () => {
    const withTools = { model: "tools:1", max_tokens: 300, temperature: 1, tools: [weather, clock] };

    it.each([1, 2, 3])("required produces a valid call (seed %i)", async (seed) => {
      const { message, finish_reason: reason } = (await ask({ ...withTools, seed, tool_choice: "required" }))
        .choices[0]!;
      expect([reason, message.content]).toEqual(["tool_calls", null]);
      for (const call of message.tool_calls!) {
        const given = JSON.parse(call.function.arguments) as Answer;
        if (call.function.name === "now") expect(given).toEqual({});
        else
          expect([typeof given["city"], Number(given["days"]) >= 1 && Number(given["days"]) <= 9]).toEqual([
            "string",
            true,
          ]);
      }
    });

    it("calls a named tool once", async () => {
      const answer = await ask({
        ...withTools,
        seed: 4,
        tool_choice: { type: "function", function: { name: "get_weather" } },
      });
      expect(answer.choices[0]!.message.tool_calls!.map((call) => call.function.name)).toEqual([
        "get_weather",
      ]);
    });

    it("calls no tool with tool_choice none", async () => {
      const answer = await ask({ ...withTools, max_tokens: 5, tool_choice: "none" });
      expect(answer.choices[0]!.message.tool_calls).toBeUndefined();
    });

    it("streams index, id and name first, then arguments in pieces", async () => {
      const body = chat({ ...withTools, seed: 1, tool_choice: "required" });
      const lines = await events("/v1/chat/completions", body);
      expect(lines.pop()).toBe("data: [DONE]");
      const chunks = data(lines) as {
        choices: { delta: { tool_calls?: Call[] }; finish_reason: string | null }[];
      }[];
      const deltas = chunks.flatMap((chunk) => chunk.choices[0]!.delta.tool_calls ?? []);
      const calls = new Map<number, Call>();
      for (const delta of deltas) {
        const call = calls.get(delta.index!);
        if (call === undefined) {
          expect(delta).toMatchObject({
            type: "function",
            function: { name: expect.any(String), arguments: "" },
          });
          calls.set(delta.index!, delta);
        } else call.function.arguments += delta.function.arguments;
      }
      const whole = (await server.ask<Completion>("/v1/chat/completions", body)).choices[0]!.message
        .tool_calls!;
      expect([...calls.values()].map((call) => call.function)).toEqual(whole.map((call) => call.function));
      expect(deltas.length).toBeGreaterThan(calls.size * 2);
      expect(chunks.at(-1)!.choices[0]!.finish_reason).toBe("tool_calls");
    });

    it("passes a call and its result back to the model", async () => {
      const call = { id: "call_1", type: "function", function: { name: "now", arguments: "{}" } };
      const answer = await ask({
        ...withTools,
        max_tokens: 2,
        messages: [
          ...messages,
          { role: "assistant", content: null, tool_calls: [call] },
          { role: "tool", tool_call_id: "call_1", content: "12:00" },
        ],
      });
      expect(answer.usage["completion_tokens"]).toBe(2);
    });
  });

  it("returns thinking separately as reasoning", async () => {
    const answer = await ask({ model: "thinks:1", reasoning_effort: "low", max_tokens: 4 });
    expect(answer.choices[0]!.message).toMatchObject({ content: "", reasoning: expect.stringMatching(/./) });
    expect(answer.usage["completion_tokens_details"]).toEqual({ reasoning_tokens: 4 });
    const silent = await ask({ model: "thinks:1", reasoning_effort: "none", max_tokens: 4 });
    expect(silent.choices[0]!.message.reasoning).toBeUndefined();
  });

  describe("log probabilities", () => {
    // Cached and computed prompts differ in the last digits.
    const exact = { deterministic: true };
    interface Logprobs {
      content: { token: string; logprob: number; bytes: number[]; top_logprobs: Answer[] }[];
      refusal: null;
    }
    interface Older {
      tokens: string[];
      token_logprobs: number[];
      top_logprobs: Record<string, number>[] | null;
      text_offset: number[];
    }
    interface Choices<Kind> {
      choices: { text: string; message: { content: string }; logprobs: Kind | null }[];
    }

    it("of chat are those of the content, streamed too", async () => {
      const request = chat({ logprobs: true, top_logprobs: 2, max_tokens: 10, options: exact });
      const { choices } = await server.ask<Choices<Logprobs>>("/v1/chat/completions", request);
      const { content, refusal } = choices[0]!.logprobs!;
      expect([content.map(({ token }) => token).join(""), refusal]).toEqual([
        choices[0]!.message.content,
        null,
      ]);
      expect(content[0]).toMatchObject({ logprob: content[0]!.top_logprobs[0]!["logprob"] });
      expect(content.every(({ top_logprobs: top }) => top.length === 2)).toBe(true);
      const chunks = data(
        (await events("/v1/chat/completions", request)).slice(0, -1),
      ) as unknown as Choices<Logprobs>[];
      expect(chunks.flatMap((chunk) => chunk.choices[0]?.logprobs?.content ?? [])).toEqual(content);
      const bare = await server.ask<Choices<Logprobs>>("/v1/chat/completions", chat({ logprobs: true }));
      expect(bare.choices[0]!.logprobs!.content.map((each) => each.top_logprobs)).toEqual([[], [], []]);
      expect(
        (await server.ask<Choices<Logprobs>>("/v1/chat/completions", chat({}))).choices[0]!.logprobs,
      ).toBeNull();
    });

    it("of completions are one list per field for each choice, streamed too", async () => {
      const request = {
        model,
        prompt: ["a", "b"],
        max_tokens: 10,
        temperature: 0,
        logprobs: 2,
        options: exact,
      };
      const { choices } = await server.ask<Choices<Older>>("/v1/completions", request);
      for (const { text, logprobs } of choices) {
        const { tokens, token_logprobs: sampled, top_logprobs: top, text_offset: offsets } = logprobs!;
        expect([tokens.join(""), tokens.length]).toEqual([text, offsets.length]);
        for (const [index, token] of tokens.entries()) {
          expect(text.slice(offsets[index]).startsWith(token)).toBe(true);
          expect(top![index]![token]).toBe(sampled[index]);
        }
      }
      const streamed = (index: number) => (chunk: Answer) => {
        const [choice] = (chunk as unknown as { choices: { index: number; logprobs: Older | null }[] })
          .choices;
        return choice?.index === index && choice.logprobs !== null ? [choice.logprobs] : [];
      };
      const chunks = data((await events("/v1/completions", request)).slice(0, -1));
      for (const [index, { logprobs }] of choices.entries()) {
        const parts = chunks.flatMap(streamed(index));
        expect(parts.flatMap((part) => part.tokens)).toEqual(logprobs!.tokens);
        expect(parts.flatMap((part) => part.text_offset)).toEqual(logprobs!.text_offset);
        expect(parts.flatMap((part) => part.top_logprobs)).toEqual(logprobs!.top_logprobs);
      }
      const none = await server.ask<Choices<Older>>("/v1/completions", { ...request, logprobs: 0 });
      expect(none.choices[0]!.logprobs).toEqual({ ...choices[0]!.logprobs, top_logprobs: null });
    });
  });

  describe("completions", () => {
    const complete = (body: Answer) =>
      server.ask<{
        choices: { text: string; index: number; finish_reason: string }[];
        usage: Record<string, number>;
      }>("/v1/completions", { model, max_tokens: 3, temperature: 0, ...body });

    it("uses the prompt as is, without a template", async () => {
      const { tokens } = await server.ask<{ tokens: number[] }>("/api/tokenize", {
        model,
        content: "Once upon",
      });
      const text = await complete({ prompt: "Once upon" });
      expect(text.usage).toMatchObject({ prompt_tokens: tokens.length, completion_tokens: 3 });
      expect((await complete({ prompt: tokens })).choices[0]!.text).toBe(text.choices[0]!.text);
    });

    it("accepts a list of prompts and echo", async () => {
      const one = await complete({ prompt: "a" });
      const two = await complete({ prompt: ["a", "b"], echo: true });
      expect(two.choices.map((choice) => choice.index)).toEqual([0, 1]);
      expect(two.choices[0]!.text).toBe(`a${one.choices[0]!.text}`);
      expect(two.choices[1]!.text.startsWith("b")).toBe(true);
    });

    it("takes the sampling fields of llama-server and vLLM, and checks them as options", async () => {
      const drawn = { prompt: "x", seed: 7, temperature: 2, top_p: 1, max_tokens: 12 };
      const textOf = async (more: Answer) => (await complete({ ...drawn, ...more })).choices[0]!.text;
      const likeliest = await textOf({ temperature: 0 });
      expect(await textOf({ top_k: 0 })).not.toBe(likeliest);
      expect(await textOf({ top_k: 1 })).toBe(likeliest);
      expect(await textOf({ top_k: 0, min_p: 1 })).toBe(likeliest);
      expect(await textOf({ top_k: 1, repetition_penalty: 9 })).not.toBe(likeliest);
      expect(await textOf({ top_k: 0, options: { top_k: 1 } })).not.toBe(likeliest);
      for (const [field, message] of [
        ["dry_base", 'option "dry_base" must be between 1 and 100'],
        ["mirostat", 'option "mirostat" must be between 0 and 2'],
      ] as const) {
        const refused = await server.post("/v1/completions", { model, ...drawn, [field]: -1 });
        expect([refused.status, await refused.text()]).toEqual([
          400,
          expect.stringContaining(JSON.stringify(message).slice(1, -1)),
        ]);
      }
    });

    it("inserts a suffix as the template defines", async () => {
      const inserted = await complete({ model: "insert:1", prompt: "x", suffix: "y" });
      expect(inserted.usage["prompt_tokens"]).toBe(
        (await complete({ prompt: "PxSyM" })).usage["prompt_tokens"],
      );
    });

    it("streams to [DONE]", async () => {
      const lines = await events("/v1/completions", {
        model,
        prompt: ["a", "b"],
        max_tokens: 2,
        temperature: 0,
        stream_options: { include_usage: true },
      });
      expect(lines.pop()).toBe("data: [DONE]");
      const chunks = data(lines) as {
        choices: { text: string; index: number; finish_reason: string | null }[];
        usage?: Answer;
      }[];
      expect(chunks.pop()).toMatchObject({ choices: [], usage: { completion_tokens: 4 } });
      expect(
        chunks
          .filter((chunk) => chunk.choices[0]!.finish_reason === "length")
          .map((chunk) => chunk.choices[0]!.index),
      ).toEqual([0, 1]);
    });
  });

  it("lists and finds models, with their creation time and owner", async () => {
    const list = await server.ask<{ object: string; data: Answer[] }>("/v1/models");
    expect(list.data.map((each) => each["id"])).toEqual(expect.arrayContaining([model, "tools:1"]));
    const one = await server.ask<Answer>("/v1/models/small:a");
    expect(one).toEqual({
      ...{ id: "small:a", object: "model", created: expect.any(Number), owned_by: "library" },
      capabilities: ["completion"],
    });
  });

  describe.skipIf(embeddingModelPath === null)("embeddings (needs TEST_MODELS)", () => {
    const embed = (body: Answer) =>
      server.ask<{ data: { embedding: number[] | string; index: number }[]; usage: Answer }>(
        "/v1/embeddings",
        { model: "all-minilm:22m", ...body },
      );

    it("floats, base64 and token lists give the same vectors; dimensions shorten them", async () => {
      const floats = (await embed({ input: ["hello", "world"] })).data;
      expect(floats.map((each) => [each.index, each.embedding.length])).toEqual([
        [0, 384],
        [1, 384],
      ]);
      const [coded] = (await embed({ input: "hello", encoding_format: "base64" })).data;
      const bytes = Buffer.from(coded!.embedding as string, "base64");
      expect(bytes.readFloatLE(0)).toBeCloseTo((floats[0]!.embedding as number[])[0]!, 5);
      const { tokens } = await server.ask<{ tokens: number[] }>("/api/tokenize", {
        model: "all-minilm:22m",
        content: "hello",
      });
      const [fromTokens] = (await embed({ input: [tokens] })).data;
      expect((fromTokens!.embedding as number[])[5]).toBeCloseTo((floats[0]!.embedding as number[])[5]!, 4);
      const [cut] = (await embed({ input: "hello", dimensions: 16 })).data;
      expect(Math.hypot(...(cut!.embedding as number[]))).toBeCloseTo(1, 4);
    });
  });

  describe("responses", () => {
    const body = { model, input: "hi", max_output_tokens: 3, temperature: 0 };
    interface ResponseBody {
      id: string;
      store: boolean;
      previous_response_id: string | null;
      status: string;
      output: (Answer & { type: string })[];
      usage: Record<string, number>;
    }

    it("answers with items and usage; a truncated answer is incomplete", async () => {
      const answer = await server.ask<ResponseBody>("/v1/responses", body);
      expect(answer).toMatchObject({
        object: "response",
        status: "incomplete",
        incomplete_details: { reason: "max_output_tokens" },
        output: [{ type: "message", role: "assistant", content: [{ type: "output_text" }] }],
      });
      expect(answer.usage["output_tokens"]).toBe(3);
    });

    it("streams all events, numbered", async () => {
      const lines = await events("/v1/responses", body);
      const all = data(lines) as { type: string; sequence_number: number }[];
      expect(lines.map((line) => /^event: (.*)/.exec(line)![1])).toEqual(all.map(({ type }) => type));
      expect(all.map(({ sequence_number: number }) => number)).toEqual(all.map((_, index) => index));
      expect([...new Set(all.map(({ type }) => type))]).toEqual([
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.incomplete",
      ]);
    });

    it("calls functions and accepts calls and their outputs", async () => {
      const tool = { type: "function", name: "now", parameters: clock.function.parameters };
      const request = {
        ...body,
        model: "tools:1",
        max_output_tokens: 200,
        tools: [tool],
        tool_choice: { type: "function", name: "now" },
      };
      const answer = await server.ask<ResponseBody>("/v1/responses", request);
      expect(answer).toMatchObject({
        status: "completed",
        output: [{ type: "function_call", name: "now", arguments: expect.stringMatching(/^\{\s*\}$/) }],
      });
      const types = (data(await events("/v1/responses", request)) as { type: string }[]).map(
        ({ type }) => type,
      );
      expect(types).toEqual(
        expect.arrayContaining([
          "response.function_call_arguments.delta",
          "response.function_call_arguments.done",
          "response.completed",
        ]),
      );
      const [call] = answer.output;
      const input = [
        { role: "user", content: [{ type: "input_text", text: "time?" }] },
        call!,
        { type: "function_call_output", call_id: call!["call_id"], output: "12:00" },
      ];
      const next = await server.ask<ResponseBody>("/v1/responses", {
        ...request,
        input,
        tool_choice: "none",
        max_output_tokens: 2,
      });
      expect(next.usage["output_tokens"]).toBe(2);
    });

    it("leaves out tools that run elsewhere or are unknown, and says so", async () => {
      const now = { type: "function", name: "now", parameters: clock.function.parameters };
      const others = [
        { type: "web_search", external_web_access: false },
        { type: "namespace", name: "agents", description: "x", tools: [now] },
        { type: "mcp", server_label: "x", server_url: "https://mcp.example", require_approval: "never" },
        { type: "image_generation", output_format: "png" },
        { type: "local_shell" },
        { type: "\u0000 未来 🛠️" },
      ];
      const input = [
        { role: "user", content: "time?" },
        { type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search" } },
        { type: "mcp_list_tools", id: "m_1", server_label: "x", tools: [] },
        { type: "local_shell_call_output", id: "l_1", output: "x" },
      ];
      const response = await server.post("/v1/responses", {
        ...body,
        model: "tools:1",
        input,
        tools: [...others.slice(0, 3), now, ...others.slice(3)],
        tool_choice: "auto",
        max_output_tokens: 3,
      });
      expect(response.status).toBe(200);
      const ignored = decodeURIComponent(response.headers.get("x-ignored-fields") ?? "");
      for (const name of [
        "tools[0].type=web_search",
        "tools[1].type=namespace",
        "tools[6].type=",
        "input[1].type=web_search_call",
      ])
        expect(ignored).toContain(name);
      expect(ignored).not.toContain("tools[3]");
      const elsewhere = await server.post("/v1/responses", {
        ...{ ...body, model: "tools:1", tools: [now, ...others], max_output_tokens: 3 },
        tool_choice: { type: "web_search" },
      });
      expect([elsewhere.status, elsewhere.headers.get("x-ignored-fields")]).toEqual([
        200,
        expect.stringContaining("tool_choice"),
      ]);
      const chatted = await server.post(
        "/v1/chat/completions",
        chat({ model: "tools:1", tools: [{ type: "custom", custom: { name: "x" } }, clock], max_tokens: 3 }),
      );
      expect([chatted.status, decodeURIComponent(chatted.headers.get("x-ignored-fields") ?? "")]).toEqual([
        200,
        expect.stringContaining("tools[0].type=custom"),
      ]);
    });

    it("calls custom tools with a text and accepts their outputs", async () => {
      const grammar = { type: "grammar", syntax: "lark", definition: 'start: "*** Begin Patch" /.+/' };
      const request = {
        ...{ ...body, model: "tools:1", max_output_tokens: 300 },
        tools: [
          { type: "custom", name: "apply_patch", description: "Edits files.", format: grammar },
          { type: "custom", name: "say", format: { type: "text" } },
        ],
        tool_choice: { type: "custom", name: "apply_patch" },
      };
      const answer = await server.ask<ResponseBody>("/v1/responses", request);
      const [call] = answer.output;
      expect(call).toMatchObject({
        ...{ type: "custom_tool_call", name: "apply_patch", call_id: expect.any(String) },
        input: expect.any(String),
      });
      expect(call).not.toHaveProperty("arguments");
      const streamed = data(await events("/v1/responses", request)) as {
        type: string;
        delta?: string;
        input?: string;
      }[];
      const deltas = streamed.filter(({ type }) => type === "response.custom_tool_call_input.delta");
      const done = streamed.find(({ type }) => type === "response.custom_tool_call_input.done");
      expect(deltas.map(({ delta }) => delta).join("")).toBe(done!.input);
      const next = await server.ask<ResponseBody>("/v1/responses", {
        ...request,
        input: [
          { role: "user", content: "patch it" },
          call!,
          { type: "custom_tool_call_output", call_id: call!["call_id"], output: "Done." },
        ],
        tool_choice: { type: "allowed_tools", mode: "required", tools: [{ type: "custom", name: "say" }] },
      });
      expect(next.output.at(-1)).toMatchObject({ type: "custom_tool_call", name: "say" });
    });

    const next = (previous: ResponseBody, input: unknown, more: Answer = {}) =>
      server.ask<ResponseBody>("/v1/responses", {
        ...body,
        input,
        previous_response_id: previous.id,
        ...more,
      });
    const stored = async (path: string, method = "GET") => {
      const response = await fetch(`${server.url}/v1/responses/${path}`, { method });
      return { status: response.status, body: (await response.json()) as Answer };
    };
    const itemsOf = async (id: string, query = "?order=asc") =>
      (await stored(`${id}/input_items${query}`)).body as { data: Answer[] } & Answer;

    it("continues a stored response as if the client sent the whole conversation", async () => {
      const first = await server.ask<ResponseBody>("/v1/responses", { ...body, instructions: "be kind" });
      expect(first).toMatchObject({ store: true, previous_response_id: null });
      const second = await next(first, [{ role: "user", content: [{ type: "input_text", text: "more" }] }]);
      expect(second.previous_response_id).toBe(first.id);
      const third = await next(second, "last", { instructions: "be kind" });
      const whole = await server.ask<ResponseBody>("/v1/responses", {
        ...body,
        instructions: "be kind",
        input: [
          { role: "user", content: "hi" },
          ...first.output,
          { role: "user", content: "more" },
          ...second.output,
          { role: "user", content: "last" },
        ],
      });
      expect(third.usage["input_tokens"]).toBe(whole.usage["input_tokens"]);
      expect(third.output[0]!["content"]).toEqual(whole.output[0]!["content"]);
      // Instructions apply to one request only.
      expect((await next(first, "x")).usage["input_tokens"]).toBeLessThan(
        (await next(first, "x", { instructions: "be kind" })).usage["input_tokens"]!,
      );
      // Two answers to the same response do not affect each other.
      expect((await next(first, "more")).usage["input_tokens"]).toBe(second.usage["input_tokens"]);
      expect((await itemsOf(third.id)).data.map((item) => [item["role"], item["type"]])).toEqual([
        ["user", "message"],
        ["assistant", "message"],
        ["user", "message"],
        ["assistant", "message"],
        ["user", "message"],
      ]);
    });

    it("continues after a call with its output alone, streamed too", async () => {
      const tool = { type: "function", name: "now", parameters: clock.function.parameters };
      const request = { ...body, model: "tools:1", tools: [tool], max_output_tokens: 100 };
      const called = await server.ask<ResponseBody>("/v1/responses", { ...request, tool_choice: "required" });
      const [call] = called.output;
      const output = { type: "function_call_output", call_id: call!["call_id"], output: "12:00" };
      const answered = await next(called, [output], {
        ...request,
        input: [output],
        tool_choice: "none",
        max_output_tokens: 2,
      });
      expect(answered.usage["output_tokens"]).toBe(2);
      const last = data(
        await events("/v1/responses", {
          ...request,
          previous_response_id: called.id,
          input: [output],
          tool_choice: "none",
          max_output_tokens: 2,
        }),
      ).at(-1) as { response: ResponseBody };
      expect(last.response.usage["input_tokens"]).toBe(answered.usage["input_tokens"]);
      expect((await stored(last.response.id)).body).toEqual(last.response);
    });

    it("returns, lists and deletes what it stores", async () => {
      const response = await server.ask<ResponseBody>("/v1/responses", {
        ...body,
        input: ["a", "b", "c"].map((text) => ({ role: "user", content: text })),
      });
      expect(await stored(response.id)).toEqual({ status: 200, body: response });
      const all = (await itemsOf(response.id)).data;
      expect(all).toMatchObject([
        { type: "message", role: "user", content: [{ type: "input_text", text: "a" }] },
        { content: [{ text: "b" }] },
        { content: [{ text: "c" }] },
      ]);
      const ids = all.map(({ id }) => id);
      expect(await itemsOf(response.id, "")).toMatchObject({
        object: "list",
        first_id: ids[2],
        last_id: ids[0],
        has_more: false,
      });
      const page = await itemsOf(response.id, `?limit=1&order=asc&after=${ids[0]}`);
      expect([page.data.map(({ id }) => id), page["has_more"]]).toEqual([[ids[1]], true]);
      for (const query of ["?limit=0", "?limit=101", "?limit=x", "?order=up"])
        expect((await stored(`${response.id}/input_items${query}`)).status).toBe(400);
      expect((await stored(`${response.id}?stream=true`)).status).toBe(400);
      expect(await stored(response.id, "DELETE")).toEqual({
        status: 200,
        body: { id: response.id, object: "response", deleted: true },
      });
      for (const [path, method] of [
        [response.id, "GET"],
        [response.id, "DELETE"],
        [`${response.id}/input_items`, "GET"],
        ["__proto__", "GET"],
        [encodeURIComponent("../x"), "DELETE"],
      ] as const)
        expect(await stored(path, method)).toMatchObject({
          status: 404,
          body: { error: { type: "not_found_error" } },
        });
    });

    it("does not store a response with store: false, or one that failed", async () => {
      const response = await server.ask<ResponseBody>("/v1/responses", { ...body, store: false });
      expect(response.store).toBe(false);
      expect((await stored(response.id)).status).toBe(404);
      const unfit = await server.post("/v1/responses", { ...body, input: "word ".repeat(3000) });
      expect(unfit.status).toBe(400);
      const begun = await server.ask<ResponseBody>("/v1/responses", body);
      const wrong = await server.post("/v1/responses", {
        ...body,
        previous_response_id: begun.id,
        input: [{ role: "wizard", content: "x" }],
      });
      expect(await wrong.json()).toMatchObject({ error: { param: "input[0].role" } });
    });
  });
});
