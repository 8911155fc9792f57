import { mkdtemp, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readConfig } from "../src/config.ts";
import { createServer, type Server } from "../src/server.ts";
import { createSmallStore } from "./model-store.ts";
import { rawBytes } from "./raw-http.ts";
import { lines } from "./server-process.ts";

describe("a server embedded in another program", () => {
  let folder: string;
  let server: Server;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "locallm-embedded-"));
    server = await createServer(readConfig({ LOCALLM_HOST: "127.0.0.1:0", LOCALLM_MODELS: folder }), {
      log: pino({ level: "silent" }),
      bodyLimits: { maxBytes: 1000, timeoutMs: 150 },
    });
  });
  afterAll(async () => {
    await server.close();
    await rm(folder, { recursive: true, force: true });
  });

  it("returns its address and what is missing", async () => {
    server.notify("No model yet: locallm pull smollm2:135m");
    expect(await (await fetch(server.url)).text()).toBe(
      "locallm is running. No model yet: locallm pull smollm2:135m",
    );
    server.notify(null);
    expect(await (await fetch(server.url)).text()).toBe("locallm is running");
  });

  it("rejects a body without a declared length that exceeds the limit", async () => {
    const chunk = `3e8\r\n${" ".repeat(1000)}\r\n`;
    const answer = await rawBytes(
      server.url,
      `POST /api/generate HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n${chunk}${chunk}`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 413 [\s\S]*exceeds the limit of 1000 bytes/);
  });

  it("aborts a body that arrives too slowly", async () => {
    const head = "POST /api/generate HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{";
    expect(await rawBytes(server.url, head)).toMatch(/^HTTP\/1\.1 408 [\s\S]*did not arrive within 0\.15 s/);
  });

  it("aborts endless headers", async () => {
    expect(await rawBytes(server.url, "GET / HTTP/1.1\r\nHost: localhost\r\nX-More: ")).toMatch(
      /^HTTP\/1\.1 408 [\s\S]*headers did not arrive in time/,
    );
  });

  it("survives a client that disconnects while sending its body", async () => {
    const { hostname, port } = new URL(server.url);
    const socket = connect(Number(port), hostname);
    await new Promise<void>((resolve) => {
      socket.write("POST /api/generate HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{", () =>
        resolve(),
      );
    });
    socket.destroy();
    expect((await fetch(`${server.url}/api/version`)).status).toBe(200);
  });

  it("ends an unfinished answer at the deadline with an error line", async () => {
    const store = await createSmallStore();
    const config = readConfig({ LOCALLM_HOST: "127.0.0.1:0", LOCALLM_MODELS: store.folder });
    const other = await createServer(config, { log: false });
    try {
      const body = { model: "small:a", prompt: "1 2 3", shift: true, options: { num_predict: -1 } };
      const ask = { method: "POST", body: JSON.stringify(body) };
      const answer = lines(await fetch(`${other.url}/api/generate`, ask));
      await answer.next();
      const closed = other.close(100);
      let last: unknown;
      for await (const line of answer) last = line;
      expect(last).toEqual({ error: "the server is shutting down; send the request again when it is back" });
      await closed;
    } finally {
      await other.close();
      await store.remove();
    }
  });

  it("can be closed twice and does not answer afterwards", async () => {
    const other = await createServer(readConfig({ LOCALLM_HOST: "127.0.0.1:0", LOCALLM_MODELS: folder }), {
      log: pino({ level: "silent" }),
    });
    await Promise.all([other.close(), other.close()]);
    await expect(fetch(other.url)).rejects.toThrow();
  });
});
