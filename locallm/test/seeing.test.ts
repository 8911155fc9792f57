import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hermesTemplate } from "./hermes-template.ts";
import { noise, startSeeing } from "./seeing.ts";

const engines = process.env["TEST_ENGINES"];

interface Answer {
  message: { content: string };
  response: string;
  choices: { message: { content: string } }[];
  output: { content: { text: string }[] }[];
  content: { text: string }[];
  usage: { prompt_tokens: number; input_tokens: number };
  prompt_eval_count: number;
  truncated?: { messages: number };
  context?: number[];
  input_tokens: number;
}

// `locallm doctor --install vision` with LOCALLM_ENGINES makes the folder.
describe.skipIf(engines === undefined)("a model that sees (needs TEST_ENGINES)", () => {
  let seeing: Awaited<ReturnType<typeof startSeeing>>;
  let picture: string;
  let url: string;
  const web = createServer((_, response) => response.end(Buffer.from(picture, "base64")));
  beforeAll(async () => {
    await new Promise<void>((done) => web.listen(0, "127.0.0.1", done));
    const host = `127.0.0.1:${(web.address() as AddressInfo).port}`;
    seeing = await startSeeing(engines!, 5, { LOCALLM_IMAGE_HOSTS: host });
    picture = (await noise(90, 70, 100)).toString("base64");
    url = `http://${host}/picture`;
  });
  afterAll(async () => {
    await seeing.stop();
    web.close();
  });
  const ask = (path: string, body: Record<string, unknown>, model = "llava:1") =>
    seeing.server.ask<Answer>(path, { model, stream: false, temperature: 0, max_tokens: 12, ...body });
  const data = () => `data:image/png;base64,${picture}`;
  const question = "What is this?";

  it("says the same through every API", async () => {
    const chat = await ask("/api/chat", {
      messages: [{ role: "user", content: question, images: [picture] }],
      options: { temperature: 0, num_predict: 12 },
    });
    const part = (address: string) => [
      { type: "image_url", image_url: { url: address } },
      { type: "text", text: question },
    ];
    const completions = await ask("/v1/chat/completions", {
      messages: [{ role: "user", content: part(data()) }],
    });
    const fromWeb = await ask("/v1/chat/completions", { messages: [{ role: "user", content: part(url) }] });
    const responses = await ask("/v1/responses", {
      max_output_tokens: 12,
      input: [
        {
          role: "user",
          content: [
            { type: "input_image", image_url: data() },
            { type: "input_text", text: question },
          ],
        },
      ],
    });
    const source = { type: "base64", media_type: "image/png", data: picture };
    const message = (from: unknown) => ({
      messages: [
        {
          role: "user",
          content: [
            { type: "image", source: from },
            { type: "text", text: question },
          ],
        },
      ],
    });
    const messages = await ask("/v1/messages", message(source));
    const messagesFromWeb = await ask("/v1/messages", message({ type: "url", url }));
    const texts = [
      chat.message.content,
      completions.choices[0]!.message.content,
      fromWeb.choices[0]!.message.content,
      responses.output[0]!.content[0]!.text,
      messages.content[0]!.text,
      messagesFromWeb.content[0]!.text,
    ];
    expect(texts[0]).toHaveLength(12);
    expect(new Set(texts).size).toBe(1);
    const counted = await ask("/v1/messages/count_tokens", message(source));
    expect([chat.prompt_eval_count, completions.usage.prompt_tokens, counted.input_tokens]).toEqual([
      counted.input_tokens,
      counted.input_tokens,
      counted.input_tokens,
    ]);
  });

  it("keeps to schemas, choices of tools and stop words with a picture in the prompt", async () => {
    const create = { model: "tools:1", from: "llava:1", template: hermesTemplate, stream: false };
    await seeing.server.ask("/api/create", create);
    const parameters = {
      type: "object",
      properties: { city: { enum: ["Rome", "Oslo"] } },
      required: ["city"],
      additionalProperties: false,
    };
    const tools = [{ type: "function", function: { name: "get_weather", description: "w", parameters } }];
    const images = [{ type: "image_url", image_url: { url: data() } }];
    const messages = [{ role: "user", content: [...images, { type: "text", text: "Where?" }] }];
    const say = async (more: object) => {
      const body = { messages, max_tokens: 70, ...more };
      const { choices } = (await ask("/v1/chat/completions", body, "tools:1")) as unknown as {
        choices: { message: { content: string | null; tool_calls?: object[] }; finish_reason: string }[];
      };
      return choices[0]!;
    };
    const choice = { type: "function", function: { name: "get_weather" } };
    for (const tool_choice of ["required", choice])
      expect((await say({ tools, tool_choice })).message.tool_calls).toMatchObject([
        { function: { name: "get_weather", arguments: expect.stringContaining("city") } },
      ]);
    const free = await say({ tools, tool_choice: "none" });
    expect(free.message.tool_calls).toBeUndefined();
    const json_schema = { name: "place", schema: parameters, strict: true };
    const formed = await say({ response_format: { type: "json_schema", json_schema } });
    expect(["Rome", "Oslo"]).toContain(JSON.parse(formed.message.content!).city);
    const whole = free.message.content!;
    const stopped = await say({ stop: [whole.slice(9, 12)] });
    expect(stopped).toMatchObject({ finish_reason: "stop" });
    expect(stopped.message.content).toBe(whole.slice(0, whole.indexOf(whole.slice(9, 12))));
  });

  it("answers a raw prompt whose pictures come first, without numbers of tokens", async () => {
    const options = { temperature: 0, num_predict: 4 };
    const bare = await ask("/api/generate", { prompt: "abc", options });
    const seen = await ask("/api/generate", { prompt: "abc", images: [picture, picture], options });
    expect(seen.prompt_eval_count - bare.prompt_eval_count).toBe(2 * 16);
    expect(bare.context).toBeDefined();
    expect(seen.context).toBeUndefined();
    expect(seen.response).not.toBe(bare.response);
  });

  it("encodes a picture once for all who send it at the same time", async () => {
    const fresh = (await noise(50, 50, 30)).toString("base64");
    const before = await seeing.counts();
    const message = { role: "user", content: "?", images: [fresh] };
    const body = { messages: [message], options: { temperature: 0, num_predict: 3 } };
    const all = await Promise.all([1, 2, 3, 4].map(() => ask("/api/chat", body, "qwen2vl:1")));
    expect(new Set(all.map(({ message: { content } }) => content)).size).toBe(1);
    expect((await seeing.counts()).encoded - before.encoded).toBe(1);
  });

  it("drops the oldest messages with their pictures when a conversation is too long", async () => {
    const message = (index: number) => [
      { role: "user", content: `picture ${index}`, images: [picture] },
      { role: "assistant", content: "yes" },
    ];
    const messages = [...[1, 2, 3, 4, 5].flatMap(message), { role: "user", content: "?", images: [picture] }];
    const answer = await ask("/api/chat", { messages, options: { num_ctx: 128, num_predict: 2 } });
    expect(answer.truncated?.messages).toBeGreaterThan(0);
    expect(answer.prompt_eval_count).toBeLessThan(128);
  });

  it.each([
    [
      "is no picture",
      Buffer.from("GIF89a and nothing"),
      /^messages\[0\].images\[0\] is a picture that cannot be read: /,
    ],
    [
      "has another format",
      Buffer.from("BM bitmap of Windows"),
      /^messages\[0\].images\[0\] must be a JPEG, PNG, GIF or WebP image$/,
    ],
    [
      "is too large",
      Buffer.alloc(21 * 2 ** 20),
      /^messages\[0\].images\[0\] is an image of \d+ bytes; the limit is \d+$/,
    ],
  ])("refuses what %s, by its field", async (_, bytes, expected) => {
    const messages = [{ role: "user", content: "?", images: [bytes.toString("base64")] }];
    const response = await seeing.server.post("/api/chat", { model: "llava:1", messages });
    expect([response.status, ((await response.json()) as { error: string }).error]).toEqual([
      400,
      expect.stringMatching(expected),
    ]);
  });

  it("refuses a projector whose marks the model's vocabulary lacks, and others are answered after it", async () => {
    await seeing.add("wrong:1", "llava", "idefics3");
    const messages = [{ role: "user", content: "?", images: [picture] }];
    const response = await seeing.server.post("/api/chat", { model: "wrong:1", messages });
    expect(await response.json()).toEqual({
      error: expect.stringMatching(
        /^the model's projector cannot be used: the model's vocabulary lacks the marks/,
      ),
    });
    await ask("/api/chat", { messages });
  });
});
