import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A server that speaks as much of locallm's API as vectors need, and fails as a test asks. */
export interface ModelServer {
  readonly url: string;
  /** Every text that was sent to it. */
  readonly texts: string[];
  /** How it answers from now on. */
  behave(how: Behaviour): void;
  close(): Promise<void>;
}

export type Behaviour =
  | "well"
  | "never"
  | "error"
  | "redirect"
  | "too few"
  | "not numbers"
  | "other dimension"
  | "no model"
  | "rejects x-rejected";

/** Words with the same meaning share a dimension. Every other word has its own, more or less. */
const synonyms = ["car automobile vehicle", "doctor physician", "happy joyful"].map((line) =>
  line.split(" "),
);
const dimensions = 64;

export async function startModelServer(): Promise<ModelServer> {
  let behaviour: Behaviour = "well";
  const texts: string[] = [];
  const server = createServer(async (request, response) => {
    const body = await bodyOf(request);
    if (behaviour === "never") return;
    if (behaviour === "error") return void response.writeHead(500).end("{}");
    if (behaviour === "redirect") return void response.writeHead(302, { location: "/elsewhere" }).end();
    if (request.url === "/api/tags") {
      const models = behaviour === "no model" ? [] : [{ name: "words:latest", digest: "d1" }];
      return answer(response, { models });
    }
    const { input } = JSON.parse(body) as { input: string[] };
    texts.push(...input);
    if (behaviour === "rejects x-rejected" && input.some((text) => text.includes("x-rejected")))
      return void response.writeHead(400).end("{}");
    const vectors = input.map(vectorOf);
    if (behaviour === "too few") vectors.pop();
    if (behaviour === "other dimension") for (const vector of vectors) vector.push(1);
    answer(response, { embeddings: behaviour === "not numbers" ? [["a"]] : vectors });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    texts,
    behave(how) {
      behaviour = how;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export function vectorOf(text: string): number[] {
  const vector = new Array<number>(dimensions).fill(0);
  for (const word of text.toLowerCase().match(/[a-z]+/g) ?? []) {
    const group = synonyms.findIndex((line) => line.includes(word));
    const at = group === -1 ? synonyms.length + (hash(word) % (dimensions - synonyms.length)) : group;
    vector[at] = (vector[at] ?? 0) + 1;
  }
  return vector;
}

function hash(word: string): number {
  let value = 7;
  for (const letter of word) value = (value * 31 + letter.charCodeAt(0)) % 1_000_003;
  return value;
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = "";
  for await (const part of request.setEncoding("utf8")) body += part;
  return body;
}

function answer(response: ServerResponse, body: object): void {
  response.setHeader("content-type", "application/json").end(JSON.stringify(body));
}
