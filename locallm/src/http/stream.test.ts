import type { ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import Fastify, { type FastifyInstance } from "fastify";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { sendStream } from "./stream.ts";

const line = `${"x".repeat(64 * 1024 - 1)}\n`;
/** 64 MiB in all: more than the system buffers for one connection. */
const lines = 1024;

describe("sendStream", () => {
  let app: FastifyInstance;
  let socket: Socket;
  /** The state of the source, and the most unsent bytes in our memory when the next line was requested. */
  let seen: { asked: number; unsentBytes: number; ended: boolean; response: ServerResponse | null };
  let patienceMs: number | undefined;

  async function* source(response: ServerResponse) {
    try {
      for (; seen.asked < lines; seen.asked++) {
        seen.unsentBytes = Math.max(seen.unsentBytes, response.writableLength);
        yield line;
      }
    } finally {
      seen.ended = true;
    }
  }

  let released: PromiseWithResolvers<string>;
  async function* late() {
    yield await released.promise;
    yield "end\n";
  }

  beforeEach(async () => {
    released = Promise.withResolvers();
    seen = { asked: 0, unsentBytes: 0, ended: false, response: null };
    patienceMs = undefined;
    app = Fastify();
    app.get("/", async () => "here");
    app.get("/stream", async (_, reply) => {
      seen.response = reply.raw;
      const format = { contentType: "text/plain", lateError: () => "error" };
      await sendStream(reply, source(reply.raw), format, patienceMs);
      return reply;
    });
    app.get("/silent", async (_, reply) => {
      const ping = { line: "ping\n", everyMs: 1 };
      const format = { contentType: "text/plain", lateError: () => "failed\n", ping };
      await sendStream(reply, late(), format);
      return reply;
    });
    await app.listen({ port: 0, host: "127.0.0.1" });
  });
  afterEach(async () => {
    socket.destroy();
    await app.close();
  });

  const url = () => `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  /** Sends the request. Nothing is read until the test reads it. */
  const ask = () => {
    socket = connect(Number(new URL(url()).port), "127.0.0.1").pause();
    socket.write("GET /stream HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  };
  const wide = { timeout: 15_000 };
  const isHeldBack = () => expect(seen.response?.writableNeedDrain).toBe(true);

  it("pauses the source for a slow reader, buffers little, and delivers everything", async () => {
    ask();
    await vi.waitFor(isHeldBack, wide);
    // Read like a slow client, one kilobyte at a time.
    for (let kilobyte = 0; kilobyte < 20; kilobyte++) socket.read(1024);
    await vi.waitFor(isHeldBack, wide);
    expect(seen.asked).toBeLessThan(lines - 1);
    expect(await (await fetch(url())).text()).toBe("here");
    let bytes = 0;
    socket.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
    });
    socket.resume();
    await new Promise((resolve) => socket.once("close", resolve));
    expect([seen.asked, seen.ended]).toEqual([lines, true]);
    expect(bytes).toBeGreaterThan(lines * line.length);
    expect(seen.unsentBytes).toBeLessThan(2 * line.length);
  });

  it("ends the source when its reader leaves", async () => {
    ask();
    await vi.waitFor(isHeldBack, wide);
    socket.destroy();
    await vi.waitFor(() => expect(seen.ended).toBe(true), wide);
    expect(seen.asked).toBeLessThan(lines);
  });

  it("ends the source when its reader stops reading for too long", async () => {
    patienceMs = 50;
    ask();
    await vi.waitFor(() => expect(seen.ended).toBe(true), wide);
    expect([seen.asked < lines, seen.response?.destroyed]).toEqual([true, true]);
  });

  it.each([
    ["its first line comes", () => released.resolve("begin\n"), /^(ping\n){3,}begin\n(ping\n)*end\n$/],
    ["its source fails", () => released.reject(new Error("x")), /^(ping\n){3,}failed\n$/],
  ])("pings in a silent stream until %s", async (_, release, expected) => {
    const response = await fetch(`${url()}/silent`);
    expect(response.status).toBe(200);
    let text = "";
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      if (text.split("ping").length > 3) release();
    }
    expect(text).toMatch(expected);
  });
});
