import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What a mirror does with a file instead of sending it. */
export type Trouble = "damaged" | "moved" | "cut" | "longer" | "slow" | "other part";

/** A mirror of files on the loopback address, laid out by SHA-256. */
export interface Mirror {
  readonly url: string;
  readonly requests: { readonly path: string; readonly range: string | null }[];
  /** By digest. */
  readonly troubles: Map<string, Trouble>;
  close(): Promise<void>;
}

export async function startMirror(files: ReadonlyMap<string, Buffer>): Promise<Mirror> {
  const requests: { path: string; range: string | null }[] = [];
  const troubles = new Map<string, Trouble>();
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    const path = request.url ?? "";
    const range = request.headers.range ?? null;
    requests.push({ path, range });
    const digest = path.split("/").at(-1) ?? "";
    const file = path.startsWith("/sha256/") ? files.get(digest) : undefined;
    const trouble = troubles.get(digest);
    if (file === undefined || trouble === "moved")
      return void response.writeHead(404).end("<html>moved</html>");
    const from = Number(/^bytes=(\d+)-$/.exec(range ?? "")?.[1] ?? 0);
    if (from > 0 && from >= file.length) return void response.writeHead(416).end();
    const bytes = Buffer.from(file.subarray(from));
    if (trouble === "damaged") bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] as number) ^ 1;
    if (trouble === "other part" && from > 0) bytes[0] = (bytes[0] as number) ^ 1;
    const length = bytes.length + (trouble === "longer" ? 9 : 0);
    response.writeHead(from > 0 ? 206 : 200, {
      "content-length": length,
      ...(from > 0 && { "content-range": `bytes ${from}-${file.length - 1}/${file.length}` }),
    });
    if (trouble === "cut")
      return void response.write(bytes.subarray(0, length >> 1), () => response.destroy());
    if (trouble !== "slow")
      return void response.end(Buffer.concat([bytes, Buffer.alloc(length - bytes.length)]));
    const steps = 20;
    const send = (step: number) => {
      const part = bytes.subarray((step * length) / steps, ((step + 1) * length) / steps);
      if (step + 1 === steps) response.end(part);
      else response.write(part, () => setTimeout(send, 150, step + 1));
    };
    send(0);
  };
  const server = createServer(answer).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    troubles,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
