import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A web server for files that supports ranges and ETags and records its requests. */
export interface FileHost {
  /** `127.0.0.1:port`. */
  readonly host: string;
  readonly url: string;
  /** Files by path. */
  readonly files: Map<string, Buffer>;
  readonly requests: { line: string; headers: IncomingMessage["headers"] }[];
  sentBytes: number;
  /** Called first for each request. It returns true if it has answered the request. */
  answer: ((request: IncomingMessage, response: ServerResponse, path: string) => boolean) | null;
  close(): Promise<void>;
}

export async function fileHost(): Promise<FileHost> {
  const server = createServer((request, response) => {
    const path = decodeURIComponent((request.url ?? "").split("?")[0] ?? "");
    host.requests.push({ line: `${request.method} ${request.url}`, headers: request.headers });
    if (host.answer?.(request, response, path)) return;
    const file = host.files.get(path);
    if (file === undefined) {
      response.writeHead(404).end();
      return;
    }
    const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "") ?? [];
    const start = Number(from ?? 0);
    const part = file.subarray(start, to === undefined ? file.length : Number(to) + 1);
    host.sentBytes += part.length;
    response.writeHead(from === undefined ? 200 : 206, {
      "content-length": part.length,
      etag: `"${file.length}-${file.at(-1)}"`,
      ...(from === undefined
        ? {}
        : { "content-range": `bytes ${start}-${start + part.length - 1}/${file.length}` }),
    });
    response.end(part);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const host: FileHost = {
    host: `127.0.0.1:${port}`,
    url: `http://127.0.0.1:${port}`,
    files: new Map(),
    requests: [],
    sentBytes: 0,
    answer: null,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return host;
}
