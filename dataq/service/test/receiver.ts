import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** What the endpoint does with a request: a status, with headers or a body, or `hang` for no answer. */
type Reply =
  | number
  | "hang"
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string };

/** A customer's endpoint. */
export interface Receiver extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** Everything received, oldest first. */
  readonly received: Received[];
  /** Connections, including those without a request. */
  readonly connections: () => number;
  /** Answers of the next requests; after that, every request gets the last one. */
  answer(...replies: Reply[]): void;
}

export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  let connections = 0;
  let replies: Reply[] = [204];
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => {
      body += text;
    });
    request.on("end", () => {
      received.push({ path: request.url ?? "", headers: request.headers, body });
      const reply = replies.length > 1 ? replies.shift()! : replies[0]!;
      if (reply === "hang") return;
      const {
        status,
        headers = {},
        body: answer = "",
      } = typeof reply === "number" ? { status: reply } : reply;
      response.writeHead(status, headers).end(answer);
    });
  });
  server.on("connection", () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hook?token=hidden`,
    port,
    received,
    connections: () => connections,
    answer(...next) {
      replies = next;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
