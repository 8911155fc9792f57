import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * A process with OpenAI's API that computes nothing: it answers at once, and then sends tokens at a fixed rate. The
 * prompt says how many, and how many a second: "64 tokens, 20 per second".
 */
const server = createServer((request, response) => void answer(request, response));

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += chunk;
  if (request.method === "GET") {
    const isModels = request.url === "/v1/models";
    response.writeHead(isModels ? 200 : 404, { "content-type": "application/json" });
    response.end(isModels ? '{"object":"list","data":[{"id":"m","object":"model"}]}' : "{}");
    return;
  }
  const [, tokens = 1, rate = 20] = /(\d+) tokens, (\d+) per second/.exec(text)?.map(Number) ?? [];
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (index: number) => {
    const isLast = index === tokens;
    const delta = isLast ? {} : index === 0 ? { role: "assistant", content: "word" } : { content: " word" };
    const choice = { index: 0, delta, logprobs: null, finish_reason: isLast ? "stop" : null };
    const chunk = {
      id: "chatcmpl-1",
      object: "chat.completion.chunk",
      created: 1,
      model: "m",
      choices: [choice],
    };
    const line = `data: ${JSON.stringify(chunk)}\n\n`;
    if (!isLast) {
      response.write(line);
      return;
    }
    const usage = { prompt_tokens: 8, completion_tokens: tokens, total_tokens: 8 + tokens };
    response.end(`${line}data: ${JSON.stringify({ ...chunk, choices: [], usage })}\n\ndata: [DONE]\n\n`);
  };
  send(0);
  let index = 1;
  const timer = setInterval(() => {
    send(index);
    if (index++ === tokens) clearInterval(timer);
  }, 1000 / rate);
  response.on("close", () => clearInterval(timer));
}

server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
process.on("disconnect", () => process.exit());
