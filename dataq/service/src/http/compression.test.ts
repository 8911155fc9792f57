import { get } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { brotliDecompressSync, createGunzip, gunzipSync } from "node:zlib";
import fastify from "fastify";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { compressAnswers, encodingOf } from "./compression.ts";

const long = { text: "数据".repeat(2_000) };
const released = Promise.withResolvers<void>();
let isSourceClosed = false;
const app = fastify();
let port: number;

beforeAll(async () => {
  compressAnswers(app);
  app.get("/long", async () => long);
  app.get("/short", async () => ({ text: "x" }));
  app.get("/secret", async (_request, reply) => reply.header("cache-control", "no-store").send(long));
  app.get("/image", async (_request, reply) => reply.type("image/png").send(Buffer.alloc(5_000)));
  app.get("/empty", async (_request, reply) => reply.code(204).send());
  app.get("/varied", async (_request, reply) => reply.header("vary", "Origin").send(long));
  app.get("/lines", async (_request, reply) =>
    reply.type("application/x-ndjson").send(
      Readable.from(
        (async function* () {
          yield "first\n";
          await released.promise;
          yield "last\n";
        })(),
      ),
    ),
  );
  app.get("/endless", async (_request, reply) =>
    reply.type("text/plain").send(
      Readable.from(
        (async function* () {
          try {
            for (;;) yield `${Math.sin(performance.now())}\n`;
          } finally {
            isSourceClosed = true;
          }
        })(),
      ),
    ),
  );
  await app.listen({ port: 0 });
  ({ port } = app.server.address() as AddressInfo);
});
afterAll(() => app.close());

function ask(path: string, accept?: string) {
  return app.inject({ url: path, headers: accept === undefined ? {} : { "accept-encoding": accept } });
}

describe("a long answer", () => {
  test("is compressed with Brotli", async () => {
    const { headers, rawPayload } = await ask("/long", "gzip, br");
    expect(headers).toMatchObject({ "content-encoding": "br", vary: "Accept-Encoding" });
    expect(headers["content-length"]).toBe(String(rawPayload.length));
    expect(JSON.parse(brotliDecompressSync(rawPayload).toString())).toEqual(long);
  });

  test("is compressed with gzip", async () => {
    const { headers, rawPayload } = await ask("/long", "gzip");
    expect(headers["content-encoding"]).toBe("gzip");
    expect(JSON.parse(gunzipSync(rawPayload).toString())).toEqual(long);
  });

  test("stays plain for a caller that accepts neither", async () => {
    for (const accept of [undefined, "", "identity", "zstd", "br;q=0, gzip;q=0", ",,;q"]) {
      const { headers, body } = await ask("/long", accept);
      expect(headers["content-encoding"], accept).toBeUndefined();
      expect(headers["vary"], accept).toBe("Accept-Encoding");
      expect(JSON.parse(body), accept).toEqual(long);
    }
  });

  test("keeps the other names in Vary", async () => {
    expect((await ask("/varied", "br")).headers["vary"]).toBe("Origin, Accept-Encoding");
  });
});

test("leaves short, secret, empty and compressed answers alone", async () => {
  for (const path of ["/short", "/secret", "/empty", "/image"])
    expect((await ask(path, "br, gzip")).headers["content-encoding"], path).toBeUndefined();
});

test("sends each line of a stream before the next exists", async () => {
  const first = Promise.withResolvers<string>();
  let text = "";
  const ended = new Promise<void>((resolve) => {
    get({ port, path: "/lines", headers: { "accept-encoding": "gzip" } }, (response) => {
      expect(response.headers["content-encoding"]).toBe("gzip");
      response
        .pipe(createGunzip())
        .setEncoding("utf8")
        .on("data", (part: string) => {
          text += part;
          first.resolve(text);
        })
        .on("end", resolve);
    });
  });
  expect(await first.promise).toBe("first\n");
  released.resolve();
  await ended;
  expect(text).toBe("first\nlast\n");
});

test("ends the source of a stream whose reader leaves", async () => {
  await new Promise<void>((resolve) => {
    const request = get({ port, path: "/endless", headers: { "accept-encoding": "br" } }, (response) => {
      response.once("data", () => request.destroy());
      response.once("close", resolve);
      response.on("error", () => {});
    });
    request.on("error", () => {});
  });
  await expect.poll(() => isSourceClosed).toBe(true);
});

test.each([
  ["gzip, deflate, br", "br"],
  ["gzip;q=1.0, br;q=0.5", "gzip"],
  ["GZIP", "gzip"],
  ["*", "br"],
  ["*, br;q=0", "gzip"],
  ["br;q=0", undefined],
  ["gzip;q=x", undefined],
  ["x".repeat(10_000), undefined],
] as const)("reads Accept-Encoding %s as %s", (header, expected) => {
  expect(encodingOf(header)).toBe(expected);
});
