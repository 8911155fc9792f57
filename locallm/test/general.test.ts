import { connect } from "node:net";
import { hostname } from "node:os";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { version } from "../src/version.ts";
import { rawBytes, rawRequest } from "./raw-http.ts";
import { command, startServerHere, type TestServer, until } from "./server-process.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServerHere();
});
afterAll(async () => {
  await server.stop();
});

const ask = (method: string, path: string, body?: string | Uint8Array, headers?: Record<string, string>) =>
  rawRequest(server.url, {
    method,
    path,
    ...(body === undefined ? {} : { body }),
    ...(headers ? { headers } : {}),
  });

describe("status line", () => {
  it("answers GET and HEAD on /", async () => {
    const get = await ask("GET", "/");
    expect([get.status, get.headers["content-type"], get.text]).toEqual([
      200,
      "text/plain; charset=utf-8",
      "locallm is running",
    ]);
    const head = await ask("HEAD", "/");
    expect([head.status, head.text]).toEqual([200, ""]);
  });

  it("returns its version, its health and its metrics", async () => {
    // Clients of Ollama refuse versions that they think too old: Codex wants 0.13.4, others 0.14.
    expect((await ask("GET", "/api/version")).json()).toEqual({ version: "0.33.0", locallm: version });
    expect((await ask("GET", "/health")).json()).toEqual({
      status: "ok",
      live: true,
      ready: true,
      loading: false,
      stalled: [],
      queued: 0,
    });
    expect((await ask("GET", "/metrics")).text).toContain('locallm_requests_total{route="/",status="200"}');
    expect((await ask("GET", "/api/ps")).json()).toEqual({ models: [] });
  });
});

describe("paths and methods", () => {
  it.each(["/nope", "/api/nope", "/api/generate/x", "/api", "/%zz", "/api/status"])(
    "answers 404 on %s",
    async (path) => {
      const answer = await ask("GET", path);
      expect([answer.status, answer.json()["error"]]).toEqual([404, expect.stringMatching(/^not found: /)]);
    },
  );

  it("gives an invalid path a request id and a log line, too", async () => {
    for (const path of ["/api/%zz", "/v1/%zz"]) {
      const { status, headers } = await ask("GET", path);
      const id = String(headers["x-request-id"]);
      expect([status, id]).toEqual([404, expect.stringMatching(/^[0-9a-f-]{36}$/)]);
      await until("it is in the log", () => server.log.some((line) => line["requestId"] === id));
    }
  });

  it.each([
    "/v1/%zz",
    "/v1/files",
    "/v1/images/generations",
    "/v1/assistants",
    "/v1/fine_tuning/jobs",
    "/v1",
  ])("answers 404 on %s in OpenAI's format", async (path) => {
    const answer = await ask("POST", path, "{}");
    expect([answer.status, answer.json()["error"]]).toEqual([
      404,
      {
        message: expect.stringMatching(/^not found: /),
        type: "invalid_request_error",
        param: null,
        code: "unknown_url",
      },
    ]);
  });

  it.each([
    ["GET", "/api/generate", "POST"],
    ["GET", "/api/chat", "POST"],
    ["PUT", "/api/embed", "POST"],
    ["GET", "/api/embeddings", "POST"],
    ["DELETE", "/api/tokenize", "POST"],
    ["GET", "/api/detokenize", "POST"],
    ["POST", "/api/ps", "GET, HEAD"],
    ["POST", "/api/version", "GET, HEAD"],
    ["POST", "/api/tags", "GET, HEAD"],
    ["POST", "/api/delete", "DELETE"],
    ["POST", "/", "GET, HEAD"],
    ["DELETE", "/health", "GET, HEAD"],
    ["QUERY", "/api/tags", "GET, HEAD"],
    ["GET", "/v1/chat/completions", "POST"],
  ])("rejects %s %s and names the allowed method", async (method, path, allowed) => {
    const answer = await ask(method, path);
    expect([answer.status, answer.headers["allow"]]).toEqual([405, allowed]);
    const message = `${method} is not allowed on ${path}; use ${allowed}`;
    expect(answer.json()["error"]).toEqual(
      path.startsWith("/v1") ? { message, type: "invalid_request_error", param: null, code: null } : message,
    );
  });
});

/** Errors that every endpoint with a body has in common. */
describe.each([
  ["/api/generate", "POST", "options", "must be an object"],
  ["/api/chat", "POST", "messages", "must be an array"],
  ["/api/embed", "POST", "truncate", "must be a boolean"],
  ["/api/embeddings", "POST", "prompt", "must be a string"],
  ["/api/tokenize", "POST", "content", "must be a string"],
  ["/api/detokenize", "POST", "tokens", "must be an array"],
  ["/v1/chat/completions", "POST", "stream", "must be a boolean"],
  ["/v1/completions", "POST", "prompt", "must be a string or an array"],
  ["/v1/embeddings", "POST", "input", "must be a string or an array"],
  ["/v1/responses", "POST", "input", "must be a string or an array"],
  ["/api/show", "POST", "verbose", "must be a boolean"],
  ["/api/create", "POST", "stream", "must be a boolean"],
  ["/api/delete", "DELETE", "model", "must be a string"],
  ["/api/pull", "POST", "insecure", "must be a boolean"],
])("a body for %s", (path, method, field, problem) => {
  const message = (json: Record<string, unknown>) =>
    path.startsWith("/v1") ? (json["error"] as { message: string }).message : json["error"];

  it.each([
    ["", "missing request body"],
    ['{"model": ', "invalid JSON: the text ends too early"],
    ["{]", /^invalid JSON: unexpected text at position 1/],
    ["[]", "body must be a JSON object"],
    ['"x"', "body must be a JSON object"],
    ["{}", "model is required"],
    ['{"model":5}', "model must be a string"],
    ['{"__proto__":{"model":"m"}}', 'invalid JSON: the key "__proto__" is not allowed'],
    ["[".repeat(200), "invalid JSON: nested deeper than 128 levels"],
  ])("rejects %j", async (body, expected) => {
    const answer = await ask(method, path, body);
    expect([answer.status, message(answer.json())]).toEqual([
      400,
      typeof expected === "string" ? expected : expect.stringMatching(expected),
    ]);
    if (path.startsWith("/v1"))
      expect(answer.json()["error"]).toMatchObject({ type: "invalid_request_error" });
  });

  it(`names the field of the wrong type: ${field}`, async () => {
    const answer = await ask(method, path, JSON.stringify({ model: "m", [field]: -5 }));
    expect([answer.status, message(answer.json())]).toEqual([400, `${field} ${problem}`]);
    if (path.startsWith("/v1")) expect(answer.json()["error"]).toMatchObject({ param: field });
  });
});

describe("bodies", () => {
  const unknownModel = JSON.stringify({ model: "no-such-model", prompt: "x" });

  it.each([{}, { "content-type": "application/x-www-form-urlencoded" }, { "content-type": "nonsense" }])(
    "are read as JSON with any content type: %j",
    async (headers) => {
      const answer = await ask("POST", "/api/generate", unknownModel, headers as Record<string, string>);
      expect(answer.json()).toEqual({ error: "model 'no-such-model' not found" });
    },
  );

  it.each([
    ["gzip", gzipSync(unknownModel)],
    ["zstd", zstdCompressSync(unknownModel)],
  ])("may be compressed with %s", async (encoding, body) => {
    const answer = await ask("POST", "/api/generate", body, { "content-encoding": encoding });
    expect(answer.json()).toEqual({ error: "model 'no-such-model' not found" });
  });

  it("with an unknown or wrong encoding are rejected", async () => {
    expect((await ask("POST", "/api/generate", "{}", { "content-encoding": "br" })).status).toBe(415);
    expect((await ask("POST", "/api/generate", "{}", { "content-encoding": "gzip" })).status).toBe(400);
  });

  it("over the limit get 413, by their declared, received or decompressed size", async () => {
    const limit = 32 * 2 ** 20;
    const announced = await rawBytes(
      server.url,
      `POST /api/generate HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${limit + 1}\r\n\r\n{`,
    );
    expect(announced).toMatch(/^HTTP\/1\.1 413 [\s\S]*the request body exceeds the limit of 33554432 bytes/);
    const bomb = zstdCompressSync(Buffer.alloc(limit + 1, 0x20));
    expect(bomb.length).toBeLessThan(10_000);
    const unpacked = await ask("POST", "/v1/chat/completions", bomb, { "content-encoding": "zstd" });
    expect([unpacked.status, unpacked.json()["error"]]).toMatchObject([
      413,
      { type: "invalid_request_error" },
    ]);
  });

  it("share one budget: too many large ones get 503 while small ones are still answered", async () => {
    const { hostname, port } = new URL(server.url);
    const chunk = Buffer.alloc(2 ** 20, 0x20);
    const large = Array.from({ length: 12 }, () => {
      const socket = connect(Number(port), hostname);
      let answer = "";
      socket.on("data", (bytes) => {
        answer += bytes.toString();
      });
      socket.on("error", () => {});
      socket.write("POST /api/generate HTTP/1.1\r\nHost: localhost\r\nContent-Length: 32505856\r\n\r\n");
      for (let sent = 0; sent < 24; sent++) socket.write(chunk);
      return { socket, answer: () => answer };
    });
    const refused = () => large.filter(({ answer }) => answer() !== "");
    await until("those beyond 128 MiB are refused", () => refused().length === 7);
    expect(refused()[0]?.answer()).toMatch(
      /^HTTP\/1\.1 503 [\s\S]*retry-after: [\s\S]*too many large request bodies/i,
    );
    expect((await ask("POST", "/api/show", '{"model":"none"}')).status).toBe(404);
    for (const { socket } of large) socket.destroy();
    await until("their memory is free again", async () => {
      const body = `{"model":"none","system":"${"a".repeat(30 * 2 ** 20)}"}`;
      return (await ask("POST", "/api/show", body)).status === 404;
    });
  });

  it("with unknown fields are answered, with the fields named in a header", async () => {
    const answer = await ask("POST", "/api/generate", '{"model":"x","a b":1,"nonsense":2}');
    expect([answer.status, answer.headers["x-ignored-fields"]]).toEqual([404, "a%20b, nonsense"]);
    const halfACharacter = await ask("POST", "/api/generate", '{"model":"x","\\ud800":1}');
    expect([halfACharacter.status, halfACharacter.headers["x-ignored-fields"]]).toEqual([404, "%EF%BF%BD"]);
  });

  it("with a repeated key use its last value; prototype-polluting keys change nothing", async () => {
    const twice = await ask("POST", "/api/generate", '{"model":"one","model":"two"}');
    expect(twice.json()).toEqual({ error: "model 'two' not found" });
    await ask("POST", "/api/generate", '{"constructor":{"prototype":{"polluted":1}},"model":"m"}');
    expect((await ask("GET", "/health")).json()).not.toHaveProperty("polluted");
  });

  it("that are not UTF-8 are rejected", async () => {
    const answer = await ask("POST", "/api/generate", Uint8Array.from([0x7b, 0x22, 0xff, 0x22, 0x7d]));
    expect([answer.status, answer.json()]).toEqual([
      400,
      { error: "invalid JSON: the text is not valid UTF-8" },
    ]);
  });
});

describe("hostile requests", () => {
  it("with an absolute URL, as sent to proxies, are handled by its path", async () => {
    const get = (url: string) =>
      rawBytes(server.url, `GET ${url} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
    expect(await get("http://localhost/api/version")).toMatch(/^HTTP\/1\.1 200 /);
    expect(await get("HTTP://localhost")).toMatch(/^HTTP\/1\.1 200 [\s\S]*locallm is running$/);
    expect(await get("http://localhost/v1/nope")).toMatch(/^HTTP\/1\.1 404 [\s\S]*"code":"unknown_url"/);
  });

  it("with too large headers get 431, and the server survives", async () => {
    const headers = Array.from({ length: 10_000 }, (_, index) => `x-${index}: ${index}\r\n`).join("");
    const answer = await rawBytes(server.url, `GET / HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 431 /);
    expect((await ask("GET", "/")).status).toBe(200);
  });

  it("with two body lengths are rejected, to prevent request smuggling", async () => {
    const hidden = "0\r\n\r\nDELETE /api/delete HTTP/1.1\r\nHost: localhost\r\n\r\n";
    const head = "POST /api/generate HTTP/1.1\r\nHost: localhost\r\n";
    for (const lengths of [
      `Content-Length: ${hidden.length}\r\nTransfer-Encoding: chunked`,
      `Content-Length: 5\r\nContent-Length: ${hidden.length}`,
    ]) {
      const answer = await rawBytes(server.url, `${head}${lengths}\r\n\r\n${hidden}`);
      expect(answer.match(/^HTTP\/1\.1 \d+/gm)).toEqual(["HTTP/1.1 400"]);
    }
  });

  it("that are not HTTP get 400", async () => {
    expect(await rawBytes(server.url, "\0\x01nonsense\r\n\r\n")).toMatch(
      /^HTTP\/1\.1 400 [\s\S]*not valid HTTP/,
    );
  });

  it("keep the client's request id only if it is harmless", async () => {
    expect((await ask("GET", "/", undefined, { "x-request-id": "abc-1" })).headers["x-request-id"]).toBe(
      "abc-1",
    );
    const odd = await ask("GET", "/", undefined, { "x-request-id": "a b{}" });
    expect(odd.headers["x-request-id"]).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe("Host and Origin", () => {
  it.each([
    "localhost",
    "LOCALHOST:11434",
    "localhost.",
    "127.0.0.1:1",
    "[::1]:11434",
    "0.0.0.0:11434",
    "10.1.2.3",
    "172.31.0.9",
    "192.168.1.5",
    "[fd12::1]:11434",
    hostname(),
    "any.localhost",
    "printer.local",
    "models.internal",
  ])("accepts Host %s", async (host) => {
    expect((await ask("GET", "/api/version", undefined, { host })).status).toBe(200);
  });

  it.each([
    "evil.example",
    "evil.example:11434",
    "localhost.evil.example",
    "evil.example.",
    "8.8.8.8",
    "172.32.0.1",
    "169.254.169.254",
    "[2001:4860:4860::8888]:80",
    "user@localhost",
    "localhost:x",
    "127.0.0.1.evil.example",
    "evil.example#.local",
  ])("rejects Host %s and runs nothing", async (host) => {
    const answer = await ask("POST", "/api/generate", '{"model":"x"}', { host });
    expect([answer.status, answer.json()["error"]]).toEqual([403, expect.stringContaining(`host "${host}"`)]);
    expect(answer.json()["error"]).toContain("LOCALLM_HOST");
  });

  it.each([
    "http://localhost:3000",
    "https://127.0.0.1",
    "http://0.0.0.0:1",
    "http://[::1]:5173",
    "HTTPS://LocalHost",
    "app://obsidian.md",
    "file://",
    "chrome-extension://abcdefghijklmnop",
    "moz-extension://0f0c",
    "safari-web-extension://0F0C",
    "tauri://localhost",
    "vscode-webview://abc",
    "vscode-file://vscode-app",
  ])("accepts Origin %s", async (origin) => {
    const answer = await ask("GET", "/api/version", undefined, { origin });
    expect([answer.status, answer.headers["access-control-allow-origin"]]).toEqual([200, origin]);
  });

  it.each([
    "http://evil.example",
    "null",
    "http://localhost.evil.example",
    "http://localhost:3000.evil.example",
    "http://127.0.0.1.evil.example",
    "http://localhost@evil.example",
    "chrome-extension.example",
    "https://chrome-extension",
  ])("rejects Origin %s, also for a simple POST", async (origin) => {
    const answer = await ask("POST", "/api/generate", '{"model":"x"}', {
      origin,
      "content-type": "text/plain",
    });
    expect([answer.status, answer.json()["error"]]).toEqual([
      403,
      expect.stringContaining(`origin "${origin}"`),
    ]);
    expect(answer.json()["error"]).toContain("LOCALLM_ORIGINS");
    expect(answer.headers["access-control-allow-origin"]).toBeUndefined();
  });

  it("accepts its own page at a network address, but not at a host name or another port", async () => {
    const from = async (host: string, origin: string) =>
      (await ask("GET", "/api/version", undefined, { host, origin })).status;
    expect(await from("192.168.1.5:11434", "http://192.168.1.5:11434")).toBe(200);
    expect(await from("[fd00::7]:11434", "http://[fd00::7]:11434")).toBe(200);
    expect(await from("192.168.1.5:11434", "http://192.168.1.5:8080")).toBe(403);
    expect(await from("127.0.0.1:11434", "http://192.168.1.5:11434")).toBe(403);
    // A website can make its own name resolve to this machine (DNS rebinding).
    expect(await from("evil.local:11434", "http://evil.local:11434")).toBe(403);
  });

  it("rejects an overlong Origin without matching it", async () => {
    const origin = `app://${"a".repeat(2000)}`;
    expect((await ask("GET", "/api/version", undefined, { origin })).status).toBe(403);
  });

  it("accepts an empty Host, because browsers never send one", async () => {
    const answer = await rawBytes(
      server.url,
      "GET /api/version HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n",
    );
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  });

  it("answers a preflight from an allowed origin", async () => {
    const headers = {
      origin: "http://localhost:3000",
      "access-control-request-method": "POST",
      "access-control-request-headers": "content-type, x-stainless-os",
    };
    const answer = await ask("OPTIONS", "/api/chat", undefined, headers);
    expect(answer.status).toBe(204);
    expect(answer.headers).toMatchObject({
      "access-control-allow-origin": "http://localhost:3000",
      "access-control-allow-headers": "content-type, x-stainless-os",
      "access-control-max-age": "43200",
    });
    const refused = await ask("OPTIONS", "/api/chat", undefined, {
      ...headers,
      origin: "http://evil.example",
    });
    expect(refused.status).toBe(403);
  });
});

describe("the log", () => {
  it("has one line per request, with its id and without its content", async () => {
    await ask("POST", "/api/generate?secret=in-the-query", '{"model":"m","prompt":"the secret"}', {
      "x-request-id": "looked-for",
      authorization: "Bearer the-key",
    });
    const own = () => server.log.filter((line) => line["requestId"] === "looked-for");
    await until("the line is written", () => own().length > 0);
    const lines = own();
    expect(lines).toMatchObject([{ level: "info", method: "POST", route: "/api/generate", status: 404 }]);
    expect(JSON.stringify(server.log)).not.toMatch(/secret|the-key/);
  });
});

describe("the command line", () => {
  it("prints every setting", async () => {
    // `start` is Ollama's alias for `serve`.
    const help = await command(["start", "--help"]);
    expect(help.out).toMatch(/LOCALLM_HOST .*127\.0\.0\.1:11434/);
    expect(help.out).toMatch(/LOCALLM_KEEP_ALIVE .*5m/);
  });
});
