import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A document of the stand-in, with the fields of the publisher's list. */
export interface StandInLaw {
  readonly bbbs: string;
  readonly title: string;
  readonly flxz: string | null;
  readonly zdjgName: string | null;
  readonly gbrq: string | null;
  readonly sxrq: string | null;
  sxx: number | null;
  /** The publisher's number of the kind. */
  readonly flfgCodeId: number;
  /** The paragraphs of its text; none if it has no Word file. */
  readonly docx?: Buffer;
}

export type StandInTrouble =
  | { readonly kind: "status"; readonly status: number; readonly retryAfter?: string }
  | { readonly kind: "cut" | "page" | "silent" }
  | { readonly kind: "other shape"; change(answer: Record<string, unknown>): unknown };

/**
 * A server that answers as the national database of laws and regulations is described: our own rows in its shapes. It is
 * on the loopback address and can be told to limit, break off, answer pages and change its shapes.
 */
export interface StandIn {
  readonly url: string;
  readonly laws: StandInLaw[];
  readonly requests: { readonly path: string; readonly body: ListBody | undefined; readonly atMs: number }[];
  /** For the next requests, one each. */
  readonly troubles: StandInTrouble[];
  /** The most documents of one question that it shows. */
  mostShown: number;
  /** Whether it obeys the filter of kinds. */
  obeysKinds: boolean;
  delayMs: number;
  /** Whether it breaks the connection instead of answering. */
  isDead(path: string): boolean;
  close(): Promise<void>;
}

export interface ListBody {
  readonly sxx: number[];
  readonly flfgCodeId: number[];
  readonly gbrq: string[];
  readonly pageNum: number;
  readonly pageSize: number;
}

export async function startStandIn(laws: StandInLaw[]): Promise<StandIn> {
  const standIn = {
    url: "",
    laws,
    requests: [] as { path: string; body: ListBody | undefined; atMs: number }[],
    troubles: [] as StandInTrouble[],
    mostShown: 10_000,
    obeysKinds: true,
    delayMs: 0,
    isDead: (_path: string) => false,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      standIn.requests.push({ path: request.url ?? "", body, atMs: performance.now() });
      if (standIn.isDead(request.url ?? "")) return void request.socket.destroy();
      const trouble = standIn.troubles.shift();
      setTimeout(() => answer(request, response, body, trouble), standIn.delayMs);
    });
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  standIn.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return standIn;

  function answer(
    request: IncomingMessage,
    response: ServerResponse,
    body: ListBody | undefined,
    trouble: StandInTrouble | undefined,
  ): void {
    const url = new URL(request.url ?? "/", standIn.url);
    if (trouble?.kind === "silent") return;
    if (trouble?.kind === "status")
      return void response
        .writeHead(
          trouble.status,
          trouble.retryAfter === undefined ? {} : { "retry-after": trouble.retryAfter },
        )
        .end("<html>wait</html>");
    if (trouble?.kind === "page")
      return void response
        .writeHead(200, { "content-type": "text/html" })
        .end("<html><script>location.reload()</script></html>");
    if (url.pathname.startsWith("/files/")) {
      const file = laws.find(({ bbbs }) => url.pathname === `/files/${bbbs}.docx`)?.docx;
      if (file === undefined) return void response.writeHead(404).end();
      response.writeHead(200, { "content-length": file.length });
      if (trouble?.kind === "cut")
        return void response.write(file.subarray(0, file.length >> 1), () => response.destroy());
      return void response.end(file);
    }
    const told =
      url.pathname === "/law-search/search/list" && body !== undefined
        ? listed(body)
        : url.pathname === "/law-search/download/pc"
          ? download(url.searchParams.get("bbbs") ?? "", url.searchParams.get("format"))
          : undefined;
    if (told === undefined) return void response.writeHead(404).end();
    const text = JSON.stringify(trouble?.kind === "other shape" ? trouble.change(told) : told);
    response.writeHead(200, {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(text),
    });
    if (trouble?.kind === "cut")
      return void response.write(text.slice(0, text.length >> 1), () => response.destroy());
    response.end(text);
  }

  function listed(body: ListBody): Record<string, unknown> {
    const [from = "", to = "9999"] = body.gbrq;
    const found = laws.filter(
      ({ sxx, flfgCodeId, gbrq }) =>
        (body.sxx.length === 0 || (sxx !== null && body.sxx.includes(sxx))) &&
        (!standIn.obeysKinds || body.flfgCodeId.length === 0 || body.flfgCodeId.includes(flfgCodeId)) &&
        (body.gbrq.length === 0 || (gbrq !== null && gbrq >= from && gbrq <= to)),
    );
    const start = (body.pageNum - 1) * body.pageSize;
    const rows = found.slice(0, standIn.mostShown).slice(start, start + body.pageSize);
    return { code: 200, msg: "查询成功", total: found.length, rows: rows.map(({ docx: _, ...row }) => row) };
  }

  function download(id: string, format: string | null): Record<string, unknown> {
    const law = laws.find(({ bbbs }) => bbbs === id);
    if (format !== "docx" || law?.docx === undefined) return { code: 500, msg: "文件不存在", data: null };
    return { code: 200, data: { url: `${standIn.url}/files/${id}.docx?sign=x`, urlIn: "http://10.1.2.3/x" } };
  }
}

async function bodyOf(request: IncomingMessage): Promise<ListBody | undefined> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return chunks.length === 0 ? undefined : (JSON.parse(Buffer.concat(chunks).toString()) as ListBody);
}
