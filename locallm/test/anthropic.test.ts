import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { brokenStream } from "./crowd.ts";
import { hermesTemplate } from "./hermes-template.ts";
import { createSmallStore, type ModelStore } from "./model-store.ts";
import { startServerHere, type TestServer, until } from "./server-process.ts";

type Json = Record<string, unknown>;
type Block = { type: string } & Json;
interface Message {
  id: string;
  content: Block[];
  stop_reason: string;
  stop_sequence: string | null;
  usage: Usage;
}
interface Usage {
  input_tokens: number;
  cache_read_input_tokens: number;
  cache_creation_input_tokens: number;
  output_tokens: number;
  output_tokens_details: { thinking_tokens: number };
}
interface ErrorBody {
  type: string;
  error: { type: string; message: string };
  request_id: string;
}
type Event = { type: string; index?: number } & Json;

const model = "small:a";
const user = (content: unknown) => ({ role: "user", content });
const messages = [user("hi")];
const text = (words: string) => ({ type: "text", text: words });
const weather = {
  name: "get_weather",
  description: "Weather of a city",
  input_schema: {
    type: "object",
    properties: { city: { enum: ["Rome", "Oslo"] }, days: { type: "integer", minimum: 1, maximum: 9 } },
    required: ["city", "days"],
    additionalProperties: false,
  },
};
const clock = { name: "now", input_schema: { type: "object", properties: {}, additionalProperties: false } };
const use = (id: string, name = "get_weather") => ({ type: "tool_use", id, name, input: { city: "Rome" } });
const result = (id: string, more: Json = {}) => ({ type: "tool_result", tool_use_id: id, ...more });

describe("Anthropic's API", () => {
  let store: ModelStore;
  let server: TestServer;
  beforeAll(async () => {
    store = await createSmallStore();
    await store.derive("tools:1", { from: model, template: hermesTemplate });
    await store.derive("thinks:1", {
      from: model,
      template:
        "{{ range .Messages }}[{{ .Thinking }}|{{ .Content }}]{{ end }}{{ if .Think }}{{ .ThinkLevel }}<think>{{ end }}{{ if false }}</think>{{ end }}",
    });
    server = await startServerHere({ models: store.folder });
  });
  afterAll(async () => {
    await server.stop();
    await store.remove();
  });

  const request = (body: Json): Json => ({ model, messages, max_tokens: 3, temperature: 0, ...body });
  const ask = (body: Json) => server.ask<Message>("/v1/messages", request(body));
  const count = async (body: Json) =>
    (await server.ask<{ input_tokens: number }>("/v1/messages/count_tokens", { model, messages, ...body }))
      .input_tokens;
  const promptTokens = ({ usage }: Message) => usage.input_tokens + usage.cache_read_input_tokens;
  /** Returns the length of the prompt, which shows how much of the request the model gets. */
  const seen = async (body: Json) => promptTokens(await ask({ ...body, max_tokens: 1 }));
  const stream = async (body: Json) => {
    const response = await server.post("/v1/messages?beta=true", request({ ...body, stream: true }));
    expect(response.headers.get("content-type")).toMatch(/^text\/event-stream/);
    return eventsOf(await response.text());
  };
  const eventsOf = (body: string) =>
    body
      .split("\n\n")
      .filter((each) => each !== "")
      .map((each) => {
        const [, name, data] = /^event: (\w+)\ndata: (.*)$/.exec(each)!;
        const parsed = JSON.parse(data!) as Event;
        expect(parsed.type).toBe(name);
        return parsed;
      });

  describe("rejects with Anthropic's error", () => {
    const content = (blocks: unknown, role = "user") => ({ messages: [{ role, content: blocks }] });
    const image = (source: unknown) => content([{ type: "image", source }]);
    const edit = (type: string) => ({ context_management: { edits: [{ type }] } });
    it.each<[string, Json, RegExp]>([
      ["no model", { model: undefined }, /^model is required$/],
      ["no max_tokens", { max_tokens: undefined }, /^max_tokens is required$/],
      ["max_tokens below 0", { max_tokens: -1 }, /^max_tokens must be at least 0$/],
      ["max_tokens as text", { max_tokens: "9" }, /^max_tokens must be a/],
      ["no messages", { messages: undefined }, /^messages is required$/],
      ["empty messages", { messages: [] }, /^messages must have at least 1 item$/],
      ["messages as text", { messages: "hi" }, /^messages must be an array$/],
      ["a message as text", { messages: ["hi"] }, /^messages\[0\] must be an object$/],
      [
        "an unknown role",
        { messages: [{ role: "tool", content: "x" }] },
        /^messages\[0\].role must be one of/,
      ],
      ["no content", { messages: [{ role: "user" }] }, /^messages\[0\].content is required$/],
      ["content as a number", content(5), /^messages\[0\].content must be a string or an array$/],
      ["empty content", content([]), /^messages\[0\].content must not be empty$/],
      ["empty text", content(""), /^messages\[0\].content must not be empty$/],
      [
        "an empty system message",
        { messages: [user("x"), { role: "system", content: "" }, user("y")] },
        /^messages\[1\].content must not be empty$/,
      ],
      ["a block as text", content(["hi"]), /^messages\[0\].content\[0\] must be an object$/],
      ["a block as null", content([null]), /^messages\[0\].content\[0\] is required$/],
      ["a block as an array", content([[]]), /^messages\[0\].content\[0\] must be an object$/],
      ["a block without a type", content([{ text: "x" }]), /^messages\[0\].content\[0\].type is required$/],
      [
        "a type that is a number",
        content([{ type: 7 }]),
        /^messages\[0\].content\[0\].type must be a string$/,
      ],
      [
        "an unknown block",
        content([{ type: "x".repeat(999) }]),
        /^messages\[0\].content\[0\].type is not supported: "x{60}"$/,
      ],
      [
        "a block with a name of the prototype",
        content([{ type: "__proto__" }]),
        /content\[0\].type is not supported/,
      ],
      ["text that is a number", content([{ type: "text", text: 5 }]), /content\[0\].text must be a string$/],
      ["a text block without text", content([{ type: "text" }]), /content\[0\].text is required$/],
      ["a user's tool_use", content([use("a")]), /content\[0\].type is not supported: "tool_use"$/],
      [
        "a user's thinking",
        content([{ type: "thinking", thinking: "" }]),
        /content\[0\].type is not supported: "thinking"$/,
      ],
      [
        "an assistant's image",
        content([{ type: "image" }], "assistant"),
        /content\[0\].type is not supported: "image"$/,
      ],
      ["a block of an unknown type", content([{ type: "robot" }], "assistant"), /"robot"$/],
      [
        "tool_use without a name",
        content([{ type: "tool_use", id: "a" }], "assistant"),
        /content\[0\].name is required$/,
      ],
      [
        "tool_use without an id",
        content([{ type: "tool_use", name: "a", id: "" }], "assistant"),
        /content\[0\].id must have at least 1 character$/,
      ],
      [
        "tool_use with a text as input",
        content([{ ...use("a"), input: "{}" }], "assistant"),
        /content\[0\].input must be an object$/,
      ],
      [
        "tool_result without tool_use",
        content([result("toolu_1")]),
        /content\[0\].tool_use_id does not match the id of a tool_use block before it$/,
      ],
      [
        "tool_result before its tool_use",
        { messages: [user([result("a")]), { role: "assistant", content: [use("a")] }, user("x")] },
        /^messages\[0\].content\[0\].tool_use_id does not match/,
      ],
      [
        "tool_result without an id",
        content([{ type: "tool_result" }]),
        /content\[0\].tool_use_id is required$/,
      ],
      [
        "a result of a wrong type",
        { messages: [{ role: "assistant", content: [use("a")] }, user([result("a", { content: 5 })])] },
        /^messages\[1\].content\[0\].content must be a string or an array$/,
      ],
      [
        "an unknown block in a result",
        {
          messages: [
            { role: "assistant", content: [use("a")] },
            user([result("a", { content: [{ type: "video" }] })]),
          ],
        },
        /^messages\[1\].content\[0\].content\[0\].type is not supported: "video"$/,
      ],
      [
        "an image",
        image({ type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" }),
        /^"small:a" does not support vision$/,
      ],
      [
        "an image of invalid base64",
        image({ type: "base64", media_type: "image/png", data: "%%%" }),
        /^invalid image data: messages\[0\].content\[0\].source.data$/,
      ],
      [
        "an image without data",
        image({ type: "base64", media_type: "image/png" }),
        /source.data is required$/,
      ],
      [
        "an image of another type",
        image({ type: "base64", media_type: "image/bmp", data: "Qk0=" }),
        /source.media_type must be/,
      ],
      [
        "an image on the web",
        image({ type: "url", url: "http://127.0.0.1:1/x.png" }),
        /^"small:a" does not support vision$/,
      ],
      [
        "an image in a result",
        {
          messages: [
            { role: "assistant", content: [use("a")] },
            user([
              result("a", {
                content: [
                  {
                    type: "image",
                    source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" },
                  },
                ],
              }),
            ]),
          ],
        },
        /^"small:a" does not support vision$/,
      ],
      [
        "an image on the web in a result",
        {
          messages: [
            { role: "assistant", content: [use("a")] },
            user([
              result("a", {
                content: [{ type: "image", source: { type: "url", url: "http://127.0.0.1:1/x.png" } }],
              }),
            ]),
          ],
        },
        /^"small:a" does not support vision$/,
      ],
      ["an image without a source", content([{ type: "image" }]), /content\[0\].source is required$/],
      [
        "a PDF",
        content([{ type: "document", source: { type: "base64", data: "AAAA" } }]),
        /source.type is not supported: "base64"; send the document's text$/,
      ],
      ["system as a number", { system: 5 }, /^system must be a string or an array$/],
      ["an image as system", { system: [{ type: "image" }] }, /^system\[0\].type is not supported: "image"$/],
      ["temperature above 1", { temperature: 1.5 }, /^temperature must be at most 1$/],
      ["top_k below 0", { top_k: -1 }, /^top_k must be at least 0$/],
      ["stop_sequences as text", { stop_sequences: "x" }, /^stop_sequences must be an array$/],
      [
        "65 stop sequences",
        { stop_sequences: Array<string>(65).fill("x") },
        /^stop_sequences must have at most 64 items$/,
      ],
      ["tools as an object", { tools: {} }, /^tools must be an array$/],
      [
        "a tool without a name",
        { model: "tools:1", tools: [{ input_schema: {} }] },
        /^tools\[0\].name is required$/,
      ],
      [
        "a tool without a schema",
        { model: "tools:1", tools: [{ name: "x" }] },
        /^tools\[0\].input_schema is required$/,
      ],
      [
        "a choice of a tool that runs elsewhere",
        {
          model: "tools:1",
          tools: [clock, { type: "web_search_20250305", name: "web_search" }],
          tool_choice: { type: "tool", name: "web_search" },
        },
        /^tool_choice names "web_search", which is not in tools$/,
      ],
      [
        "two tools of one name",
        { model: "tools:1", tools: [clock, clock] },
        /^tools\[1\].name must be unique$/,
      ],
      ["tools for a model without tools", { tools: [clock] }, /^"small:a" does not support tools$/],
      [
        "a tool_choice without tools",
        { tool_choice: { type: "any" } },
        /^tool_choice needs tools to choose from$/,
      ],
      ["an unknown tool_choice", { tool_choice: { type: "some" } }, /^tool_choice.type must be one of/],
      [
        "tool_choice tool without a name",
        { model: "tools:1", tools: [clock], tool_choice: { type: "tool" } },
        /^tool_choice.name is required$/,
      ],
      [
        "a tool that is not offered",
        { model: "tools:1", tools: [clock], tool_choice: { type: "tool", name: "x" } },
        /^tool_choice names "x", which is not in tools$/,
      ],
      ["unknown thinking", { thinking: { type: "much" } }, /^thinking.type must be one of/],
      ["thinking as a boolean", { thinking: true }, /^thinking must be an object$/],
      [
        "a thinking budget of 0",
        { thinking: { type: "enabled", budget_tokens: 0 } },
        /^thinking.budget_tokens must be at least 1$/,
      ],
      [
        "a display that is no text",
        { thinking: { type: "adaptive", display: 1 } },
        /^thinking.display must be a string/,
      ],
      ["an unknown effort", { output_config: { effort: "none" } }, /^output_config.effort must be one of/],
      [
        "an unknown output format",
        { output_config: { format: { type: "xml" } } },
        /^output_config.format.type must be one of "json_schema"$/,
      ],
      [
        "a schema that allows nothing",
        { output_config: { format: { type: "json_schema", schema: { not: {} } } } },
        /^invalid format/,
      ],
      [
        "clearing of tool results",
        edit("clear_tool_uses_20250919"),
        /^context_management.edits\[0\].type is not supported: "clear_tool_uses_20250919"$/,
      ],
      ["compaction", edit("compact_20260112"), /"compact_20260112"$/],
      ["MCP servers", { mcp_servers: [{ url: "http://127.0.0.1:1" }] }, /^mcp_servers is not supported$/],
      ["a container", { container: "x" }, /^container is not supported$/],
      [
        "a prompt that is too long",
        content("word ".repeat(3000)),
        /^prompt is too long: \d+ tokens exceed the context length of 2048; /,
      ],
    ])("%s", async (_, body, message) => {
      const response = await server.post("/v1/messages", request(body));
      const { type, error, request_id: id } = (await response.json()) as ErrorBody;
      expect(error.message).toMatch(message);
      expect([type, error.type, response.status]).toEqual(["error", "invalid_request_error", 400]);
      expect(id).toBe(response.headers.get("x-request-id"));
    });

    it.each<[string, string, Json | string, number, string]>([
      ["an unknown model", "/v1/messages", { ...request({}), model: "claude-x" }, 404, "not_found_error"],
      [
        "an unknown model to count for",
        "/v1/messages/count_tokens",
        { model: "x", messages },
        404,
        "not_found_error",
      ],
      [
        "an image to count",
        "/v1/messages/count_tokens",
        {
          model,
          messages: [
            user([
              { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" } },
            ]),
          ],
        },
        400,
        "invalid_request_error",
      ],
      ["batches", "/v1/messages/batches", {}, 404, "not_found_error"],
      ["broken JSON", "/v1/messages", '{"model":', 400, "invalid_request_error"],
      ["no body", "/v1/messages", "", 400, "invalid_request_error"],
      ["a list as body", "/v1/messages", "[]", 400, "invalid_request_error"],
      ["a wrong method", "/v1/models", {}, 405, "invalid_request_error"],
    ])("%s", async (_, path, body, status, type) => {
      const headers = { "anthropic-version": "2023-06-01" };
      const response = await server.post(path, body, { headers });
      expect([response.status, await response.json()]).toMatchObject([
        status,
        { type: "error", error: { type } },
      ]);
    });

    it("ends a broken stream with an error event", async () => {
      const response = await server.post("/v1/messages", request({ stream: true, max_tokens: 100_000 }));
      expect(eventsOf(await brokenStream(server, response)).at(-1)).toMatchObject({
        type: "error",
        error: { type: "api_error" },
      });
      await until("the next request works", async () => (await server.post("/v1/messages", request({}))).ok);
    });
  });

  it("returns a whole message with counts", async () => {
    const message = await ask({});
    expect(message).toMatchObject({
      type: "message",
      role: "assistant",
      model,
      content: [{ type: "text" }],
      stop_reason: "max_tokens",
      stop_sequence: null,
      usage: { output_tokens: 3, cache_creation_input_tokens: 0 },
    });
    expect(message.id).toMatch(/^msg_[0-9a-f]{32}$/);
    const again = await ask({});
    expect(again.usage.cache_read_input_tokens).toBeGreaterThan(0);
    expect(promptTokens(again)).toBe(promptTokens(message));
    expect(again.content).toEqual(message.content);
  });

  it("streams all events in order, with the prompt's counts in the first", async () => {
    const whole = await ask({ max_tokens: 20 });
    const events = await stream({ max_tokens: 20 });
    const types = events.map(({ type }) => type).filter((type) => type !== "content_block_delta");
    expect(types).toEqual([
      "message_start",
      "ping",
      "content_block_start",
      "content_block_stop",
      "message_delta",
      "message_stop",
    ]);
    const start = events[0]!["message"] as Message;
    expect(start).toMatchObject({ content: [], stop_reason: null, usage: { output_tokens: 0 } });
    expect(promptTokens(start)).toBe(promptTokens(whole));
    const deltas = events.map(({ delta }) => (delta as { text?: string } | undefined)?.text ?? "");
    expect(deltas.join("")).toBe(whole.content[0]!["text"]);
    const { usage, delta } = events.at(-2) as unknown as { usage: Usage; delta: Json };
    expect(delta).toMatchObject({ stop_reason: "max_tokens", stop_sequence: null });
    expect({ ...start.usage, output_tokens: 20 }).toMatchObject(usage);
    const [first] = await stream({ max_tokens: 1 });
    expect(promptTokens(first!["message"] as Message)).toBe(promptTokens(whole));
  });

  it("computes only the prompt with max_tokens 0", async () => {
    const warm = { messages: [user("a prompt that nobody sent before")], max_tokens: 0 };
    expect(await ask(warm)).toMatchObject({
      content: [],
      usage: { output_tokens: 0 },
      stop_reason: "max_tokens",
    });
    expect((await ask({ ...warm, max_tokens: 1 })).usage.cache_read_input_tokens).toBeGreaterThan(20);
    const types = (await stream(warm)).map(({ type }) => type);
    expect(types).toEqual(["message_start", "ping", "message_delta", "message_stop"]);
  });

  it("names the stop sequence that ended the answer", async () => {
    const { content } = await ask({ max_tokens: 20 });
    const stop = String(content[0]!["text"]).slice(5, 8);
    expect(await ask({ max_tokens: 20, stop_sequences: ["never comes", stop] })).toMatchObject({
      stop_reason: "stop_sequence",
      stop_sequence: stop,
    });
    const own = { options: { stop: [stop] } };
    expect(await ask({ max_tokens: 20, ...own })).toMatchObject({
      stop_reason: "end_turn",
      stop_sequence: null,
    });
  });

  it("reports that the window is full", async () => {
    const small = { max_tokens: 32_000, options: { num_ctx: 64 } };
    expect(await ask(small)).toMatchObject({ stop_reason: "model_context_window_exceeded" });
  });

  it("names exactly the fields that it ignores", async () => {
    const body = request({
      system: [{ ...text("be"), cache_control: { type: "ephemeral", ttl: "1h" } }],
      cache_control: { type: "ephemeral" },
      metadata: { user_id: "u" },
      service_tier: "auto",
      thinking: { type: "adaptive", display: "omitted" },
      context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }] },
      top_k: null,
      speed: "fast",
      keep_alive: "1m",
    });
    const response = await server.post("/v1/messages", body);
    expect(response.status).toBe(200);
    expect(response.headers.get("x-ignored-fields")).toBe("speed, thinking");
    const servers = [
      { type: "web_search_20250305", name: "web_search", max_uses: 5 },
      { type: "code_execution_29991231", name: "code_execution" },
    ];
    const searching = await server.post(
      "/v1/messages",
      request({ model: "tools:1", tools: [servers[0], clock, servers[1]], max_tokens: 3 }),
    );
    expect([searching.status, decodeURIComponent(searching.headers.get("x-ignored-fields") ?? "")]).toEqual([
      200,
      "tools[0].type=web_search_20250305, tools[2].type=code_execution_29991231",
    ]);
    const edits = [{ type: "clear_thinking_20251015", keep: { type: "thinking_turns", value: 1 } }];
    const thinking = { type: "enabled", budget_tokens: 1024 };
    const more = await server.post(
      "/v1/messages",
      request({ model: "thinks:1", thinking, context_management: { edits } }),
    );
    expect(more.headers.get("x-ignored-fields")).toBe(
      "context_management.edits%5B0%5D, thinking.budget_tokens",
    );
  });

  describe("the prompt", () => {
    it("is the same for a text as for text blocks", async () => {
      expect(await seen({ system: "be", messages: [user("h\ni")] })).toBe(
        await seen({ system: [text("be")], messages: [user([text("h"), text("i")])] }),
      );
    });

    it("contains the system message at its place among the messages", async () => {
      const late = { role: "system", content: [text("be brief")] };
      const talk = [user("a"), { role: "assistant", content: "b" }, late, user("c")];
      expect(await seen({ messages: talk })).toBe(
        (await seen({ messages: talk.map((each) => (each === late ? user("xe brief") : each)) })) + 2,
      );
    });

    it("omits a header that changes with every request", async () => {
      const header = (cch: string) => text(`x-anthropic-billing-header: cc_version=2.1; cch=${cch};`);
      const bare = await seen({ system: [text("be brief")] });
      expect(await seen({ system: [header("1"), text("be brief")] })).toBe(bare);
      expect(await seen({ system: `${header("22222").text}\nbe brief` })).toBe(bare);
      expect(await seen({ system: [header("1")] })).toBe(await seen({}));
      expect(await seen({ system: [text(`see ${header("1").text}`)] })).toBeGreaterThan(bare);
    });

    it("contains results of tools and their errors, but no tool whose loading is deferred", async () => {
      const talk = (more: Json, last: unknown = "x") => [
        user("hi"),
        { role: "assistant", content: [text("ok"), use("a")] },
        user([result("a", more), ...(last === null ? [] : [text(String(last))])]),
      ];
      const tools = { model: "tools:1", tools: [weather] };
      const plain = await seen({ ...tools, messages: talk({ content: "12" }) });
      expect(await seen({ ...tools, messages: talk({ content: [text("12")], is_error: false }) })).toBe(
        plain,
      );
      expect(await seen({ ...tools, messages: talk({ content: "12", is_error: true }) })).toBe(plain + 7);
      const told = talk({ content: "<error>12" });
      expect(await seen({ ...tools, messages: told })).toBe(plain + 7);
      expect(await seen({ ...tools, messages: talk({ content: "<error>12", is_error: true }) })).toBe(
        plain + 7,
      );
      for (const empty of [{}, { content: null }, { content: "" }, { content: [] }])
        expect(await seen({ ...tools, messages: talk(empty) })).toBe(plain - 2);
      const deferred = { model: "tools:1", tools: [weather, { ...clock, defer_loading: true }] };
      expect(await seen({ ...deferred, messages: talk({ content: "12" }) })).toBe(plain);
      const reference = [{ type: "tool_reference", tool_name: "now" }];
      expect(await seen({ ...deferred, messages: talk({ content: reference }) })).toBeGreaterThan(plain + 50);
    });

    it("contains the text of documents", async () => {
      const source = { type: "text", media_type: "text/plain", data: "body" };
      const content = [{ type: "document", title: "head", source }];
      expect(await seen({ messages: [user(content)] })).toBe(await seen({ messages: [user("head\nbody")] }));
    });

    it("accepts 10,000 blocks, and 1,000 calls with their results", async () => {
      const blocks = Array.from({ length: 10_000 }, () => text("a"));
      const options = { num_ctx: 4096 };
      const tooLong = await server.post("/v1/messages", request({ messages: [user(blocks)], options }));
      expect(((await tooLong.json()) as ErrorBody).error.message).toMatch(/^prompt is too long: (over )?\d+/);
      const ids = Array.from({ length: 1000 }, (_, index) => `id${index}`);
      const talk = [
        user("x"),
        { role: "assistant", content: ids.map((id) => use(id)) },
        user(ids.map((id) => result(id, { content: "y" }))),
      ];
      expect(await count({ model: "tools:1", tools: [weather], messages: talk })).toBeGreaterThan(10_000);
    });
  });

  it("continues the beginning of an answer", async () => {
    const begun = [...messages, { role: "assistant", content: "The answer is" }];
    expect(await count({ messages: begun })).toBe((await count({})) + "The answer is".length);
    expect(await seen({ messages: [...messages, { role: "assistant", content: [] }] })).toBe(await seen({}));
  });

  describe("tools", () => {
    const tools = { model: "tools:1", tools: [weather, clock], max_tokens: 200 };
    const inputOf = (message: Message) => message.content.filter(({ type }) => type === "tool_use");

    it("calls the tool that tool_choice names, streamed too", async () => {
      const body = { ...tools, tool_choice: { type: "tool", name: "get_weather" } };
      const message = await ask(body);
      expect(message).toMatchObject({
        content: [
          { type: "tool_use", name: "get_weather", input: { city: expect.stringMatching(/Rome|Oslo/) } },
        ],
        stop_reason: "tool_use",
      });
      const events = await stream(body);
      const json = events
        .map(({ delta }) => (delta as { partial_json?: string } | undefined)?.partial_json ?? "")
        .join("");
      expect(JSON.parse(json)).toEqual(message.content[0]!["input"]);
      expect(events.find(({ type }) => type === "content_block_start")).toMatchObject({
        index: 0,
        content_block: { type: "tool_use", name: "get_weather", input: {} },
      });
    });

    it("makes the model call one tool, or none", async () => {
      const once = { type: "any", disable_parallel_tool_use: true };
      expect(inputOf(await ask({ ...tools, tool_choice: once }))).toHaveLength(1);
      const none = await ask({ ...tools, tool_choice: { type: "none" }, max_tokens: 5 });
      expect([inputOf(none), none.stop_reason]).toEqual([[], "max_tokens"]);
      expect(await seen({ ...tools, tool_choice: { type: "none" } })).toBe(await seen({ model: "tools:1" }));
    });

    it("applies a schema to the answer", async () => {
      const format = { type: "json_schema", schema: weather.input_schema };
      const { content } = await ask({ output_config: { format }, max_tokens: 100 });
      expect(["Rome", "Oslo"]).toContain((JSON.parse(String(content[0]!["text"])) as Json)["city"]);
    });
  });

  describe("thinking", () => {
    const thinks = { model: "thinks:1", max_tokens: 6 };
    it.each([
      ["enabled", { type: "enabled", budget_tokens: 2048 }],
      ["adaptive", { type: "adaptive" }],
    ])("is a separate block if %s", async (_, thinking) => {
      const message = await ask({ ...thinks, thinking });
      expect(message.content).toMatchObject([{ type: "thinking", thinking: expect.stringMatching(/./) }]);
      expect(message.content[0]!["signature"]).toBeTruthy();
      expect(message.usage.output_tokens_details.thinking_tokens).toBe(6);
      const events = await stream({ ...thinks, thinking });
      const deltas = events.flatMap(({ delta }) => (delta === undefined ? [] : [delta as Json]));
      expect(deltas.map((delta) => delta["thinking"] ?? "").join("")).toBe(message.content[0]!["thinking"]);
      expect(deltas.at(-2)).toMatchObject({ type: "signature_delta" });
    });

    it.each([[undefined], [{ type: "disabled" }]])("is off with %j", async (thinking) => {
      expect((await ask({ ...thinks, thinking })).content).toMatchObject([{ type: "text" }]);
    });

    it("follows the effort; a model that cannot think answers without", async () => {
      const thinking = { type: "adaptive" };
      const level = (effort: string | null) => seen({ ...thinks, thinking, output_config: { effort } });
      const bare = await level(null);
      expect([await level("low"), await level("max"), await level("xhigh")]).toEqual([
        bare + 3,
        bare + 3,
        bare + 3,
      ]);
      expect((await ask({ thinking })).content).toMatchObject([{ type: "text" }]);
    });

    it("comes only after the results of tools if requested", async () => {
      const thinking = { type: "between_tools" };
      expect((await ask({ ...thinks, thinking })).content[0]!.type).toBe("text");
      const talk = [user("x"), { role: "assistant", content: [use("a")] }, user([result("a")])];
      expect((await ask({ ...thinks, thinking, messages: talk })).content[0]!.type).toBe("thinking");
    });

    it("is omitted on request, and still part of the next prompt", async () => {
      const shown = await ask({ ...thinks, thinking: { type: "adaptive" } });
      const omitted = await ask({ ...thinks, thinking: { type: "adaptive", display: "omitted" } });
      expect(omitted.content).toMatchObject([{ type: "thinking", thinking: "" }]);
      const next = (content: Block[]) =>
        count({ model: "thinks:1", messages: [...messages, { role: "assistant", content }, user("next")] });
      expect(await next(omitted.content)).toBe(await next(shown.content));
      const foreign = [
        { type: "thinking", thinking: "", signature: "EqoBCk==" },
        { type: "redacted_thinking", data: "x" },
      ];
      expect(await next([...foreign, text("a")])).toBe(await next([text("a")]));
    });
  });

  describe("count_tokens", () => {
    it.each<[string, Json]>([
      ["a message", {}],
      ["blocks and a system", { system: [text("be brief")], messages: [user([text("a"), text("é🙂")])] }],
      ["tools", { model: "tools:1", tools: [weather, clock] }],
      ["thinking", { model: "thinks:1", thinking: { type: "adaptive" }, output_config: { effort: "high" } }],
      ["control tokens in text", { messages: [user("<|im_end|><|im_start|>system")] }],
    ])("is exactly the prompt of %s", async (_, body) => {
      expect(await count(body)).toBe(await seen(body));
      expect(await count(body)).toBe(await seen(body));
    });

    it("answers from memory without loading the model", async () => {
      await count({ system: "remembered" });
      await server.ask("/api/generate", { model, keep_alive: 0 });
      await until(
        "it is unloaded",
        async () => (await server.ask<{ models: unknown[] }>("/api/ps")).models.length === 0,
      );
      await count({ system: "remembered" });
      expect((await server.ask<{ models: unknown[] }>("/api/ps")).models).toEqual([]);
      await count({ system: "not remembered" });
      expect((await server.ask<{ models: unknown[] }>("/api/ps")).models).toHaveLength(1);
    });

    it("rejects a prompt of more than a million tokens", async () => {
      const body = { model, messages: [user("a".repeat(1_048_577))] };
      const response = await server.post("/v1/messages/count_tokens", body);
      expect([response.status, await response.json()]).toMatchObject([
        400,
        { error: { message: expect.stringMatching(/has more than 1048576 tokens/) } },
      ]);
    });

    it("counts a prompt that does not fit the window", async () => {
      expect(await count({ messages: [user("word ".repeat(3000))] })).toBeGreaterThan(12_000);
    });
  });

  describe("models", () => {
    const list = async (
      query = "",
      headers: Record<string, string> = { "anthropic-version": "2023-06-01" },
    ) =>
      (await (await fetch(`${server.url}/v1/models${query}`, { headers })).json()) as Json & { data: Json[] };

    it("are listed in the client's format, in pages", async () => {
      const all = await list();
      expect(all.data[0]).toMatchObject({ type: "model", display_name: all.data[0]!["id"] });
      expect(new Date(String(all.data[0]!["created_at"])).getTime()).toBeGreaterThan(0);
      const ids = all.data.map(({ id }) => id);
      expect([all["has_more"], all["first_id"], all["last_id"]]).toEqual([false, ids[0], ids.at(-1)]);
      const first = await list("?limit=2");
      expect([first["has_more"], first.data.map(({ id }) => id)]).toEqual([true, ids.slice(0, 2)]);
      const second = await list(`?limit=2&after_id=${ids[1]}`);
      expect([second["has_more"], second.data.map(({ id }) => id)]).toEqual([false, ids.slice(2)]);
      expect((await list(`?limit=1&before_id=${ids[2]}`)).data.map(({ id }) => id)).toEqual([ids[1]]);
      expect(await list("?limit=0")).toMatchObject({ error: { message: "query.limit must be at least 1" } });
      expect(await list("", {})).toMatchObject({ object: "list" });
    });

    it("are found by their names", async () => {
      const headers = { "anthropic-version": "2023-06-01" };
      const found = await fetch(`${server.url}/v1/models/small:a`, { headers });
      expect(await found.json()).toMatchObject({ type: "model", id: "small:a" });
      const absent = await fetch(`${server.url}/v1/models/absent`, { headers });
      expect([absent.status, await absent.json()]).toMatchObject([
        404,
        { error: { type: "not_found_error" } },
      ]);
    });
  });
});
