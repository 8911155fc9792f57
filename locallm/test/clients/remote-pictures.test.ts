import { expect, test } from "vitest";
import { startScriptedEngine } from "../scripted-engine.ts";
import { startServerHere } from "../server-process.ts";
import { installedClients } from "./installed.ts";

const clients = await installedClients();

test.skipIf(clients === null)(
  "a model of another engine is asked about images by Anthropic's SDK, streamed (needs npm's registry)",
  async () => {
    const seeing = await startScriptedEngine();
    const message = { role: "assistant", content: "A cat." };
    seeing.answers(({ method }) =>
      method === "GET"
        ? { status: 404, chunks: [] }
        : { chunks: [`${JSON.stringify({ message, done: true, done_reason: "stop" })}\n`] },
    );
    const url = new URL(seeing.upstream.url);
    const server = await startServerHere({ env: { LOCALLM_REMOTES: url.host } });
    try {
      const remotes = [{ url: url.origin, model: "m", protocol: "ollama" }];
      const info = { capabilities: ["completion", "tools", "vision"] };
      await server.ask("/api/create", { model: "sees", remotes, info, stream: false });
      const { default: Anthropic } = (await clients!.load("@anthropic-ai/sdk")) as {
        default: new (
          options: object,
        ) => {
          messages: { stream(body: object): { finalMessage(): Promise<{ content: unknown }> } };
        };
      };
      const client = new Anthropic({ baseURL: server.url, apiKey: "any", maxRetries: 0 });
      const png = Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), Buffer.alloc(20, 7)]);
      const gif = Buffer.from("GIF89a!");
      const image = (media_type: string, data: Buffer) => ({
        type: "image",
        source: { type: "base64", media_type, data: data.toString("base64") },
      });
      const text = (words: string) => ({ type: "text", text: words });
      const seen = [text("seen"), image("image/gif", gif)];
      const messages = [
        { role: "user", content: [text("What is"), image("image/png", png), text("this?")] },
        { role: "assistant", content: [{ type: "tool_use", id: "toolu_1", name: "look", input: {} }] },
        {
          role: "user",
          content: [{ type: "tool_result", tool_use_id: "toolu_1", content: seen }, text("And this?")],
        },
      ];
      const tools = [{ name: "look", input_schema: { type: "object" } }];
      const body = { model: "sees", max_tokens: 9, messages, tools };
      expect((await client.messages.stream(body).finalMessage()).content).toMatchObject([text("A cat.")]);
      const asked = seeing.received.filter((request) => request.method === "POST").at(-1)!;
      expect(asked.body["messages"]).toMatchObject([
        { images: [png.toString("base64")] },
        {},
        { images: [gif.toString("base64")] },
        {},
      ]);
    } finally {
      await server.stop();
      await seeing.stop();
    }
  },
);
