import type { AddressInfo } from "node:net";
import { createServer, type Server, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { LocallmError } from "../wire/errors.ts";
import { type ConnectionSettings, RemoteConnections } from "./connection.ts";
import type { RemoteRequest } from "./engine.ts";
import { engines } from "./engines.ts";
import { mayRetryElsewhere } from "./failure.ts";

let server: Server;
let port: number;
let answer: (socket: Socket) => void;
let connections: RemoteConnections;
const open = new Set<Socket>();

beforeEach(async () => {
  server = createServer((socket) => {
    open.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => open.delete(socket));
    socket.once("data", () => answer(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as AddressInfo).port;
});
afterEach(async () => {
  connections.close();
  for (const socket of open) socket.destroy();
  await new Promise((resolve) => server.close(resolve));
});

const head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n";
const chunked = `${head}transfer-encoding: chunked\r\n\r\n`;
const chunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;

function connect(settings: Partial<ConnectionSettings> = {}) {
  connections = new RemoteConnections({ addressCheck: async () => () => true, ...settings });
  return connections;
}

async function read(settings: Partial<ConnectionSettings> = {}, request: Partial<RemoteRequest> = {}) {
  const { fetch } = connect(settings);
  const signal = new AbortController().signal;
  const response = await fetch(new URL(`http://engine.test:${port}/v1`), {
    ...{ method: "POST", headers: {}, body: "{}", signal },
    ...request,
  });
  let bytes = 0;
  for await (const part of response.body) bytes += part.length;
  return { status: response.status, bytes };
}

/** Writes again and again until the connection ends. */
function forever(socket: Socket, text: string, begin: string): void {
  socket.write(begin);
  const write = () => {
    while (!socket.destroyed && socket.write(text));
    if (!socket.destroyed) socket.once("drain", write);
  };
  write();
}

const lookup: ConnectionSettings["lookup"] = (_, options, callback) =>
  options.all ? callback(null, [{ address: "127.0.0.1", family: 4 }]) : callback(null, "127.0.0.1", 4);

describe("a connection to an engine", () => {
  it("is refused to a host that no model may use, and to an address that the host may not have", async () => {
    answer = (socket) => socket.end(`${head}content-length: 2\r\n\r\nok`);
    const refused = async () => {
      throw new LocallmError("connection_refused", { host: "engine.test", reason: "not allowed" });
    };
    await expect(read({ lookup, addressCheck: refused })).rejects.toMatchObject({
      code: "connection_refused",
    });
    const seen: string[] = [];
    const picky = async () => (address: string) => {
      seen.push(address);
      return false;
    };
    await expect(read({ lookup, addressCheck: picky })).rejects.toMatchObject({ code: "connection_refused" });
    expect(seen).toEqual(["127.0.0.1"]);
    expect(await read({ lookup })).toEqual({ status: 200, bytes: 2 });
  });

  it("is checked again when it is used again", async () => {
    answer = (socket) => {
      const reply = `${head}content-length: 2\r\n\r\nok`;
      socket.write(reply);
      socket.on("data", () => socket.write(reply));
    };
    let mayConnect = true;
    const { fetch } = connect({ lookup, addressCheck: async () => () => mayConnect });
    const ask = async () => {
      const signal = new AbortController().signal;
      const response = await fetch(new URL(`http://engine.test:${port}/`), {
        method: "GET",
        headers: {},
        signal,
      });
      for await (const _ of response.body);
    };
    await ask();
    await ask();
    expect(open.size).toBe(1);
    mayConnect = false;
    await expect(ask()).rejects.toMatchObject({ code: "connection_refused" });
  });

  it("is opened again if the engine closes it before it answers", async () => {
    let requests = 0;
    answer = (socket) => {
      socket.write(`${head}content-length: 2\r\n\r\nok`);
      requests++;
      socket.on("data", () => {
        requests++;
        socket.resetAndDestroy();
      });
    };
    const { fetch } = connect({ lookup });
    const ask = async () => {
      const signal = new AbortController().signal;
      const url = new URL(`http://engine.test:${port}/`);
      const response = await fetch(url, { method: "POST", headers: {}, body: "{}", signal });
      for await (const _ of response.body);
      return response.status;
    };
    expect([await ask(), await ask(), requests]).toEqual([200, 200, 3]);
    // If the engine closes a new connection, the engine has failed.
    answer = (socket) => socket.resetAndDestroy();
    await expect(ask()).rejects.toMatchObject({ code: "remote_unreachable" });
  });

  it.each<[string, (socket: Socket) => void, string, boolean, Partial<ConnectionSettings>]>([
    [
      "headers without end",
      (socket) => forever(socket, `x-a: ${"b".repeat(1000)}\r\n`, head),
      "remote_unreachable",
      true,
      {},
    ],
    [
      "a header line without end",
      (socket) => forever(socket, "x".repeat(1000), head),
      "remote_unreachable",
      true,
      {},
    ],
    [
      "headers byte by byte",
      (socket) => void setInterval(() => socket.write("h"), 20).unref(),
      "remote_unreachable",
      true,
      { firstByteMs: 200 },
    ],
    [
      "a valid header byte by byte",
      (socket) => {
        socket.write(`${head}x-a: `);
        const timer = setInterval(() => (socket.destroyed ? clearInterval(timer) : socket.write("b")), 20);
      },
      "remote_timeout",
      true,
      { firstByteMs: 200 },
    ],
    ["nothing", () => {}, "remote_timeout", true, { firstByteMs: 50 }],
    ["headers only", (socket) => void socket.write(chunked), "remote_timeout", true, { firstByteMs: 50 }],
    [
      "a first byte only",
      (socket) => void socket.write(chunked + chunk("a")),
      "remote_broke_off",
      false,
      { silenceMs: 50 },
    ],
    [
      "something that is not HTTP",
      (socket) => void socket.end("SSH-2.0-x\r\n"),
      "remote_unreachable",
      true,
      {},
    ],
    [
      "an answer without end",
      (socket) => forever(socket, chunk(": ping\n".repeat(100)), chunked),
      "remote_broke_off",
      false,
      { maxAnswerBytes: 100_000 },
    ],
    [
      "a compressed bomb",
      (socket) => {
        const bomb = gzipSync(Buffer.alloc(1_000_000));
        socket.write(`${head}content-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`);
        socket.end(bomb);
      },
      "remote_failed",
      true,
      {},
    ],
    [
      "fewer bytes than it announced",
      (socket) => void socket.end(`${head}content-length: 10\r\n\r\nabc`),
      "remote_broke_off",
      false,
      {},
    ],
    ["the end of the connection", (socket) => socket.destroy(), "remote_unreachable", true, {}],
  ])("ends when the engine sends %s", async (_, send, code, mayRetry, settings) => {
    answer = send;
    const failed = read({ lookup, ...settings });
    await expect(failed).rejects.toMatchObject({ code });
    await failed.catch((error: unknown) => expect(mayRetryElsewhere(error)).toBe(mayRetry));
    await expect.poll(() => open.size).toBe(0);
  });

  it("may have no time limit for the first byte", async () => {
    answer = (socket) => setTimeout(() => socket.end(`${head}content-length: 2\r\n\r\nok`), 50);
    expect(await read({ lookup, firstByteMs: Number.POSITIVE_INFINITY })).toEqual({ status: 200, bytes: 2 });
  });

  it("does not time out while its reader is paused", async () => {
    answer = (socket) => {
      socket.write(chunked + chunk("a"));
      setTimeout(() => socket.end(`${chunk("b")}0\r\n\r\n`), 10);
    };
    const { fetch } = connect({ lookup, silenceMs: 40 });
    const signal = new AbortController().signal;
    const response = await fetch(new URL(`http://engine.test:${port}/`), {
      method: "GET",
      headers: {},
      signal,
    });
    let text = "";
    for await (const part of response.body) {
      text += Buffer.from(part).toString();
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(text).toBe("ab");
  });

  it("ends with the caller's reason when the caller gives up", async () => {
    const gone = new LocallmError("client_gone", {});
    for (const begin of ["", chunked, chunked + chunk("a")]) {
      const abort = new AbortController();
      answer = (socket) => {
        socket.write(begin);
        setTimeout(() => abort.abort(gone), 20);
      };
      await expect(read({ lookup }, { signal: abort.signal })).rejects.toBe(gone);
      await expect.poll(() => open.size).toBe(0);
    }
  });
});

describe.each(["openai", "anthropic", "ollama"] as const)("the protocol %s", (protocol) => {
  it.each<[string, string]>([
    ["a line without end", "x".repeat(60_000)],
    ["an event without end", 'data: "x"\n'.repeat(6_000)],
    ["an event that is nested too deep", `data: ${"[".repeat(60_000)}\n\n`],
    ["a line that is nested too deep", `${"[".repeat(60_000)}\n`],
  ])("ends when the engine sends %s", async (_, text) => {
    answer = (socket) => forever(socket, chunk(text), chunked);
    const url = `http://engine.test:${port}`;
    const upstream = { ...{ url, model: "m", protocol, key: null }, ...{ weight: 1, maxRequests: null } };
    const turn = {
      messages: [],
      tools: [],
      toolChoice: { kind: "auto" as const },
      think: null,
      format: null,
    };
    const call = {
      fetch: connect({ lookup, maxAnswerBytes: 10_000_000 }).fetch,
      signal: new AbortController().signal,
    };
    const events = engines[protocol].turn(upstream, { turn, options: {} }, call);
    const readAll = async () => {
      for await (const event of events) expect(event.kind).toBe("ignored");
    };
    await expect(readAll()).rejects.toMatchObject({ code: "remote_failed" });
    await expect.poll(() => open.size).toBe(0);
  });
});
