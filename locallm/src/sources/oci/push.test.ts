import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ggufBytes, tinyModel } from "../../../test/tiny-gguf.ts";
import { Store } from "../../library/store.ts";
import { writeWeightsModel } from "../../library/weights.ts";
import { LocallmError } from "../../wire/errors.ts";
import { requireModelName } from "../../wire/model-name.ts";
import { Pulls } from "../pulls.ts";

/** Handles the chunk with that number, from 1. Returns true to accept it. */
type Chunk = (number: number, response: ServerResponse, request: IncomingMessage) => boolean;

let takeChunk: Chunk = () => true;
/** Whether the registry remembers an interrupted upload. */
let remembers = true;
/** How often the registry is unavailable for status requests and for the end of the upload. */
let away = { states: 0, ends: 0 };
let requests: string[] = [];
let server: Server;
let folder = "";
beforeEach(async () => {
  takeChunk = () => true;
  remembers = true;
  away = { states: 0, ends: 0 };
  requests = [];
  folder = await mkdtemp(join(tmpdir(), "locallm-push-"));
  server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await rm(folder, { recursive: true, force: true });
});

function answer(request: IncomingMessage, response: ServerResponse): void {
  const { method = "" } = request;
  requests.push(method);
  const location = { location: "/v2/ns/m/blobs/uploads/7" };
  if (method === "PATCH") {
    const number = requests.filter((one) => one === "PATCH").length;
    if (!takeChunk(number, response, request)) return;
    request.resume().on("end", () => response.writeHead(202, location).end());
  } else if (method === "HEAD") response.writeHead(404).end();
  else if (method === "POST") response.writeHead(202, location).end();
  else if (method === "GET" && away.states-- > 0) response.destroy();
  else if (method === "GET") response.writeHead(remembers ? 204 : 404, location).end();
  else if (request.url?.includes("digest=") && away.ends-- > 0)
    request.resume().on("end", () => response.writeHead(503).end());
  else request.resume().on("end", () => response.writeHead(201).end());
}

/** Pushes a small model; returns the error, or null. */
async function push(): Promise<unknown> {
  const store = new Store(folder);
  const pulls = new Pulls(store, {
    network: { connectTimeoutMs: 300 },
    registries: null,
    credentials: null,
    limits: { retryDelayMs: 1 },
  });
  const name = requireModelName(`127.0.0.1:${(server.address() as AddressInfo).port}/ns/m:v`);
  await writeWeightsModel(store, name, [await store.blobs.writeBytes(ggufBytes(tinyModel()))]);
  try {
    const task = pulls.preparePush(name, { insecure: false, credentials: null });
    await task(() => {}, new AbortController().signal);
    return null;
  } catch (error) {
    return error;
  } finally {
    pulls.close();
  }
}

const count = (method: string) => requests.filter((one) => one === method).length;

describe("a chunk that the registry rejects", () => {
  test.each([400, 403, 404, 413, 416])(
    "with %d ends the push at once with the registry's message",
    async (status) => {
      takeChunk = (_, response, request) => {
        const body = '{"errors":[{"code":"DENIED","message":"the quota is used up"}]}';
        request.resume().on("end", () => response.writeHead(status).end(body));
        return false;
      };
      const error = await push();
      expect(error).toBeInstanceOf(LocallmError);
      expect((error as LocallmError).message).toContain(`it answered ${status}: the quota is used up`);
      expect([count("PATCH"), count("POST")]).toEqual([1, 1]);
    },
  );

  test.each([408, 425, 429, 503])("with the temporary status %d is sent again", async (status) => {
    takeChunk = (number, response, request) => {
      if (number > 2) return true;
      request.resume().on("end", () => response.writeHead(status).end());
      return false;
    };
    expect(await push()).toBeNull();
    // The count includes one request for the configuration.
    expect(count("PATCH")).toBe(4);
  });

  test("after an interruption, because the registry lost the upload, is sent in a new upload", async () => {
    remembers = false;
    takeChunk = (number, response) => {
      if (number > 1) return true;
      response.destroy();
      return false;
    };
    expect(await push()).toBeNull();
    expect([count("PATCH"), count("POST")]).toEqual([3, 3]);
  });
});

test("waits for a registry that is unavailable between chunks and at the end", async () => {
  away = { states: 5, ends: 4 };
  takeChunk = (number, response) => {
    if (number > 1) return true;
    response.destroy();
    return false;
  };
  expect(await push()).toBeNull();
  // The count includes one request for the configuration.
  expect([count("PATCH"), count("POST"), count("GET")]).toEqual([3, 2, 6]);
});

test("gives up on a registry that accepts connections and never answers, and says how to resume", async () => {
  takeChunk = () => false;
  expect(await push()).toMatchObject({
    code: "push_stopped",
    message: expect.stringMatching(/accepted no data in 10 attempts \(no answer .*\); push again to resume/),
  });
  expect(count("PATCH")).toBe(10);
});
