import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A server that returns scripted answers, run as a separate process. README.md describes its two commands. */
interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly text?: string;
  readonly drop?: boolean;
  readonly hang?: boolean;
}

let answers: Answer[] = [];
let log: object[] = [];

const server = createServer(async (request, response) => {
  const text = await readText(request);
  if (request.url === "/_script") {
    answers = (JSON.parse(text) as { answers: Answer[] }).answers;
    log = [];
    response.end("{}");
  } else if (request.url === "/_log") {
    response.end(JSON.stringify(log));
  } else {
    const { method, url: path, headers } = request;
    log.push({ method, path, headers, body: text === "" ? null : JSON.parse(text) });
    answer(response, answers.shift() ?? { status: 418, body: { code: "script_ended" } });
  }
});

server.listen(0, "127.0.0.1", () => {
  console.log(JSON.stringify({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }));
});

// The process that started it holds the other end, and the server ends with it.
process.stdin.resume().on("end", () => process.exit(0));

function answer(response: ServerResponse, given: Answer): void {
  if (given.hang) return;
  if (given.drop) {
    response.socket?.destroy();
    return;
  }
  const text = given.text ?? JSON.stringify(given.body ?? {});
  const type = given.text === undefined ? "application/json" : "text/html";
  response.writeHead(given.status ?? 200, { "content-type": type, ...given.headers });
  response.end(text);
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}
