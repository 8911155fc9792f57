import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, open, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Digest, digestOf } from "../library/digest.ts";
import { Network } from "./network.ts";
import { Partials } from "./partial.ts";
import type { TransferLimits } from "./transfer-request.ts";
import { Transfers } from "./transfers.ts";

const content = randomBytes(1_000_000);
const digest = digestOf(content);

type Answer = (
  request: IncomingMessage,
  response: ServerResponse,
  range: { start: number; end: number } | null,
) => void;

let folder = "";
let network: Network;
let closeServer = async () => {};
let url = new URL("http://127.0.0.1");
let sentBytes = 0;
let requests: string[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "transfer-"));
  network = new Network();
  sentBytes = 0;
  requests = [];
});
afterEach(async () => {
  network.close();
  await closeServer();
  await rm(folder, { recursive: true });
});

async function serve(answer: Answer): Promise<void> {
  const server = createServer((request, response) => {
    const [, start, end] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "") ?? [];
    requests.push(request.headers.range ?? "whole");
    answer(request, response, start === undefined ? null : { start: Number(start), end: Number(end) + 1 });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/file`);
  closeServer = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
}

function send(
  response: ServerResponse,
  range: { start: number; end: number } | null,
  upTo = Number.POSITIVE_INFINITY,
) {
  const { start, end } = range ?? { start: 0, end: content.length };
  response.writeHead(range === null ? 200 : 206, {
    "content-length": end - start,
    ...(range === null ? {} : { "content-range": `bytes ${start}-${end - 1}/${content.length}` }),
  });
  const bytes = content.subarray(start, Math.min(end, start + upTo));
  sentBytes += bytes.length;
  if (upTo >= end - start) response.end(bytes);
  else response.write(bytes, () => setTimeout(() => response.destroy(), 5));
}

const quick: Partial<TransferLimits> = {
  parts: 4,
  partMinBytes: 250_000,
  stallMs: 10_000,
  tries: 3,
  retryDelayMs: 1,
  waitMs: 10,
};

function fetcher(limits: Partial<TransferLimits> = {}) {
  const partials = new Partials(join(folder, "partial"));
  const transfers = new Transfers(partials, { ...quick, ...limits });
  const taken: Buffer[] = [];
  const progress: number[] = [];
  const fetch = (
    options: {
      signal?: AbortSignal;
      sizeBytes?: number;
      digest?: Digest;
      expected?: null;
      isDone?: () => Promise<boolean>;
    } = {},
  ) =>
    transfers.fetch({
      host: url.host,
      key: options.digest ?? digest,
      expected: options.expected === null ? null : (options.digest ?? digest),
      sizeBytes: options.sizeBytes ?? content.length,
      signal: options.signal ?? new AbortController().signal,
      open: (range, signal) =>
        network.request(url, {
          signal,
          headers: range === null ? {} : { range: `bytes=${range.start}-${range.end - 1}` },
        }),
      onProgress: (bytes) => progress.push(bytes),
      isDone: options.isDone ?? (async () => false),
      finish: async (path) => {
        taken.push(await readFile(path));
      },
    });
  return { fetch, taken, progress, partials };
}

const left = () => readdir(join(folder, "partial")).catch(() => []);

describe("a transfer", () => {
  test("downloads ranges in parallel and assembles the whole file", async () => {
    await serve((_, response, range) => send(response, range));
    const { fetch, taken, progress } = fetcher();
    await fetch();
    expect(taken).toEqual([content]);
    expect(requests.length).toBe(4);
    expect(sentBytes).toBe(content.length);
    expect(progress.at(-1)).toBe(content.length);
    expect(progress).toEqual(progress.toSorted((a, b) => a - b));
    expect(await left()).toEqual([]);
  });

  test("resumes in the middle when connections break, and hardly downloads a byte twice", async () => {
    let calls = 0;
    await serve((_, response, range) => send(response, range, ++calls <= 8 ? 90_000 : undefined));
    const { fetch, taken } = fetcher();
    await fetch();
    expect(taken).toEqual([content]);
    expect(sentBytes).toBeLessThan(content.length * 1.05);
  });

  test("requests only the stalled part again", async () => {
    let stalled = 0;
    await serve((_, response, range) => {
      if (range?.start === 0 && stalled++ < 2)
        response
          .writeHead(206, { "content-range": `bytes 0-${range.end - 1}/${content.length}` })
          .flushHeaders();
      else send(response, range);
    });
    const { fetch, taken } = fetcher({ stallMs: 300 });
    await fetch();
    expect(taken).toEqual([content]);
    expect(requests.filter((range) => range.startsWith("bytes=0-")).length).toBe(3);
    expect(sentBytes).toBe(content.length);
  });

  test("gives up on a silent source and explains how to resume; a byte resets the count", async () => {
    await serve((_, response) => response.writeHead(200).flushHeaders());
    const silent = fetcher({ parts: 1, partMinBytes: content.length, stallMs: 100 });
    await expect(silent.fetch()).rejects.toMatchObject({
      code: "source_silent",
      message: expect.stringMatching(
        /^127\.0\.0\.1:\d+ sent no data for 0\.1 s in each of 3 attempts; pull again to resume$/,
      ),
    });
    expect(requests.length).toBe(3);
    await closeServer();

    let calls = 0;
    await serve((_, response, range) => {
      calls += 1;
      const { start, end } = range ?? { start: 0, end: 0 };
      response.writeHead(206, { "content-range": `bytes ${start}-${end - 1}/${content.length}` });
      // Every second request sends a piece; none of them ends.
      if (calls % 2 === 0) response.write(content.subarray(start, Math.min(start + 250_000, end)));
      else response.flushHeaders();
    });
    const slow = fetcher({ parts: 1, partMinBytes: content.length, stallMs: 300 });
    await slow.fetch();
    expect(slow.taken).toEqual([content]);
    expect(calls).toBeGreaterThan(quick.tries ?? 0);
  });

  test("retries after 5xx, and gives up after the configured number of tries", async () => {
    let calls = 0;
    await serve((_, response, range) => {
      if (calls++ < 3) response.writeHead(503).end();
      else send(response, range);
    });
    const first = fetcher();
    await first.fetch();
    expect(first.taken).toEqual([content]);
    await closeServer();

    await serve((_, response) => response.writeHead(500).end());
    requests = [];
    await expect(fetcher({ parts: 1 }).fetch()).rejects.toMatchObject({ code: "source_failed" });
    expect(requests.length).toBe(3);
  });

  test("downloads in one stream if the server does not support ranges", async () => {
    await serve((_, response) => send(response, null));
    const { fetch, taken } = fetcher();
    await fetch();
    expect(taken).toEqual([content]);
  });

  test("restarts such a stream when it breaks, and hashes what the file contains", async () => {
    let calls = 0;
    await serve((_, response) => send(response, null, ++calls < 7 ? 300_000 : undefined));
    const { fetch, taken } = fetcher({ tries: 9 });
    await fetch();
    expect(taken).toEqual([content]);
  });

  test.each<[string, Answer, string]>([
    ["404", (_, response) => response.writeHead(404).end(), "source_failed"],
    ["413", (_, response) => response.writeHead(413).end(), "source_failed"],
    [
      "a different range than requested",
      (_, response) => response.writeHead(206, { "content-range": `bytes 7-9/${content.length}` }).end("abc"),
      "source_failed",
    ],
    [
      "a different total",
      (_, response, range) =>
        response
          .writeHead(206, { "content-range": `bytes ${range?.start}-${(range?.end ?? 0) - 1}/5` })
          .end(),
      "size_mismatch",
    ],
    [
      "a different length",
      (_, response) => response.writeHead(200, { "content-length": 3 }).end("abc"),
      "size_mismatch",
    ],
    [
      "more than announced",
      (_, response, range) => {
        response.writeHead(206, {
          "content-range": `bytes ${range?.start}-${(range?.end ?? 0) - 1}/${content.length}`,
        });
        response.end(Buffer.concat([content, content]));
      },
      "size_mismatch",
    ],
  ])("refuses %s", async (_, answer, code) => {
    await serve(answer);
    const { fetch, taken } = fetcher();
    await expect(fetch()).rejects.toMatchObject({ code });
    expect(taken).toEqual([]);
  });

  test("rejects content with a wrong digest, and leaves no files", async () => {
    await serve((_, response, range) => send(response, range));
    const { fetch, taken } = fetcher();
    await expect(fetch({ digest: digestOf("else") })).rejects.toMatchObject({ code: "download_damaged" });
    expect(taken).toEqual([]);
    expect(await left()).toEqual([]);
  });

  test("requests no byte when the disk is too small", async () => {
    await serve((_, response, range) => send(response, range));
    const { fetch } = fetcher();
    await expect(fetch({ sizeBytes: 2 ** 52 })).rejects.toMatchObject({ code: "disk_full" });
    expect(requests).toEqual([]);
  });
});

describe("a resumed file that turns out damaged", () => {
  async function damagedHalf() {
    // Only the first part arrives.
    await serve((_, response, range) => {
      if (range?.start === 0) send(response, range);
      else setTimeout(() => response.writeHead(404).end(), 200);
    });
    const { fetch, partials } = fetcher();
    await expect(fetch()).rejects.toMatchObject({ code: "source_failed" });
    await closeServer();
    const claim = await partials.claim(digest);
    if (!("folder" in claim)) throw new Error("the download belongs to this process");
    const data = await open(join(claim.folder, "data"), "r+");
    await data.write(Buffer.from([(content[0] ?? 0) ^ 1]), 0, 1, 0);
    await data.close();
    await serve((_, response, range) => send(response, range));
    requests = [];
  }

  test("is downloaded once more from the start", async () => {
    await damagedHalf();
    const { fetch, taken } = fetcher();
    await fetch();
    expect(taken).toEqual([content]);
    expect(requests.filter((range) => range.startsWith("bytes=0-"))).toHaveLength(1);
  });

  test("is not downloaded again if another process has finished it meanwhile", async () => {
    await damagedHalf();
    const { fetch, taken } = fetcher();
    let asked = 0;
    await fetch({ isDone: async () => ++asked > 1 });
    expect([taken, await left()]).toEqual([[], []]);
    expect(requests.filter((range) => range.startsWith("bytes=0-"))).toEqual([]);
  });
});

describe("sharing", () => {
  test("two requests share one download; cancelling one does not end it", async () => {
    await serve((_, response, range) => void setTimeout(() => send(response, range), 30));
    const { fetch, taken } = fetcher();
    const leaver = new AbortController();
    const first = fetch({ signal: leaver.signal });
    const second = fetch();
    leaver.abort(new Error("gone"));
    await expect(first).rejects.toThrow("gone");
    await second;
    expect(taken).toEqual([content]);
    expect(sentBytes).toBe(content.length);
  });

  test("a request that arrives just after all others were cancelled starts again and succeeds", async () => {
    let isHolding = true;
    const asked = Promise.withResolvers<void>();
    await serve((_, response, range) => {
      asked.resolve();
      if (!isHolding) send(response, range);
    });
    const { fetch, taken } = fetcher();
    const leaver = new AbortController();
    const first = fetch({ signal: leaver.signal });
    await asked.promise;
    isHolding = false;
    leaver.abort(new Error("gone"));
    await expect(first).rejects.toThrow("gone");
    await fetch();
    expect(taken).toEqual([content]);
  });

  test("a failed download keeps its bytes, and the next one resumes", async () => {
    const second = Promise.withResolvers<void>();
    await serve((_, response, range) => {
      const start = range?.start ?? 0;
      if (start > 0 && start < 500_000) void second.promise.then(() => response.writeHead(503).end());
      else send(response, range, start === 0 ? 200_000 : undefined);
      if (start === 500_000) response.on("close", second.resolve);
    });
    const { fetch, taken } = fetcher({ tries: 1, parts: 2, partMinBytes: 500_000 });
    await expect(fetch()).rejects.toMatchObject({ code: "source_failed" });
    const before = sentBytes;
    expect(before).toBeGreaterThan(600_000);
    await closeServer();
    await serve((_, response, range) => send(response, range));
    await fetch();
    expect(taken).toEqual([content]);
    expect(sentBytes).toBeLessThan(content.length * 1.05);
  });

  test("three requests for a failing file each get one clear error", async () => {
    await serve((_, response) => response.writeHead(501).end());
    const { fetch } = fetcher();
    const results = await Promise.allSettled([fetch(), fetch(), fetch()]);
    for (const result of results) {
      expect(result).toMatchObject({ status: "rejected", reason: { code: "source_failed" } });
    }
  });
});

test("hashes a large file in a thread while it downloads, even if the download restarts", async () => {
  const large = randomBytes(20_000_000);
  let wholeCalls = 0;
  await serve((_, response, range) => {
    response.writeHead(200, { "content-length": large.length });
    // Without ranges, a broken answer is requested from the start again, and may differ.
    if (range === null && ++wholeCalls === 1)
      response.write(Buffer.alloc(9_000_000), () => response.destroy());
    else response.end(large);
  });
  const { fetch, taken } = fetcher({ partMinBytes: 8_000_000 });
  await fetch({ sizeBytes: large.length, digest: digestOf(large) });
  expect(taken[0]?.equals(large)).toBe(true);
  expect(wholeCalls).toBe(2);
});

describe("a dead process's download", () => {
  /** Creates a partial folder as a killed process leaves it, with `parts` of the file done. */
  async function leave(owner: string, damage: boolean) {
    const name = join(folder, "partial", `${digest.slice(7)}.${owner}`);
    await mkdir(name, { recursive: true });
    const data = Buffer.alloc(content.length);
    content.copy(data, 0, 0, 400_000);
    if (damage) data[5] = (data[5] ?? 0) ^ 1;
    await writeFile(join(name, "data"), data);
    await writeFile(
      join(name, "state.json"),
      JSON.stringify({ key: digest, sizeBytes: content.length, partBytes: 500_000 }),
    );
    const done = Buffer.alloc(16);
    done.writeBigUInt64LE(400_000n);
    await writeFile(join(name, "done"), done);
  }
  const dead = `${hostname().replace(/[^A-Za-z0-9-]/g, "-")}.999999999.1`;

  test("is taken over and resumed", async () => {
    await leave(dead, false);
    await serve((_, response, range) => send(response, range));
    const { fetch, taken } = fetcher();
    await fetch();
    expect(taken).toEqual([content]);
    expect(sentBytes).toBe(600_000);
    expect(await left()).toEqual([]);
  });

  test("without a digest is downloaded again after a reboot", async () => {
    await leave(dead, true);
    await serve((_, response, range) => send(response, range));
    const { fetch, taken } = fetcher();
    await fetch({ expected: null });
    expect(taken).toEqual([content]);
    expect(sentBytes).toBe(1_000_000);
  });

  test("is downloaded again if it is damaged", async () => {
    await leave(dead, true);
    await serve((_, response, range) => send(response, range));
    const { fetch, taken } = fetcher();
    await fetch();
    expect(taken).toEqual([content]);
    expect(sentBytes).toBe(1_600_000);
  });

  test("is removed by the next download if its file already moved to the store", async () => {
    await leave(dead, false);
    await rm(join(folder, "partial", `${digest.slice(7)}.${dead}`, "data"));
    const other = `${"a".repeat(64)}.${dead}`;
    await rename(join(folder, "partial", `${digest.slice(7)}.${dead}`), join(folder, "partial", other));
    await serve((_, response, range) => send(response, range));
    await fetcher().fetch();
    expect(await left()).toEqual([]);
  });

  test("is removed by clean; a living process's download is kept", async () => {
    await leave(dead, false);
    const { partials } = fetcher();
    const started = (await readFile(`/proc/${process.pid}/stat`, "latin1").catch(() => ") 0"))
      .split(") ")
      .at(-1);
    const living = `${dead.split(".")[0]}.${process.pid}.${started?.split(" ")[19] ?? "0"}`;
    expect(await partials.clean({ dryRun: true })).toMatchObject({ folders: 1 });
    await rename(
      join(folder, "partial", `${digest.slice(7)}.${dead}`),
      join(folder, "partial", `${digest.slice(7)}.${living}`),
    );
    expect(await partials.clean({ dryRun: false })).toMatchObject({ folders: 0 });
    expect((await left()).length).toBe(1);
  });
});
