import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Target } from "../../fuzz/target.ts";
import { parseDigest } from "../src/library/digest.ts";
import type { NetworkResponse } from "../src/sources/network.ts";
import { PartialFile } from "../src/sources/partial-file.ts";
import { Transfer } from "../src/sources/transfer.ts";
import type { TransferLimits, TransferRequest } from "../src/sources/transfer-request.ts";
import { LocallmError } from "../src/wire/errors.ts";

const folder = mkdtempSync(join(tmpdir(), "locallm-fuzz-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
const limits: TransferLimits = {
  ...{ parts: 1, partMinBytes: 4, partMaxBytes: 4, stallMs: 1_000, tries: 2, retryDelayMs: 0, waitMs: 1 },
};
const content = Buffer.from("0123456789");

interface Answer {
  readonly status?: unknown;
  readonly range?: unknown;
  readonly length?: unknown;
  /** What comes, or the right bytes of the asked range. */
  readonly body?: unknown;
}

/**
 * A source answers requests for ranges of ten bytes with a list of answers, then rightly. A download ends with an error of
 * the table, or with the bytes that came: the right ones, unless an answer that looked right held others.
 */
export const target: Target = {
  covers: [
    "locallm/src/sources/transfer.ts",
    "locallm/src/sources/partial-file.ts",
    "locallm/src/sources/file-hash.ts",
  ],
  seeds: [
    [{}],
    [{ status: 200 }, { status: 206, range: "bytes 0-3/10", body: "0123" }],
    [{ status: 206, range: "bytes 4-7/*", body: "456" }, { status: 503 }],
    [
      { status: 206, range: "bytes 0-3/11" },
      { status: 416, body: "no" },
      { status: 200, length: "11", body: "01234567890" },
    ],
    [{ status: 404 }],
    [
      {},
      { status: 429, body: "busy" },
      { status: 200, body: "0123456789" },
      { status: 206, range: "bytes 0-9/10" },
    ],
  ].map((answers) => JSON.stringify(answers)),
  words: ["bytes 0-3/10", "bytes 4-7/10", "bytes 8-9/10", "bytes 0-9/10", "0123", "4567", "89"],
  longest: 512,
  bounds: { ms: 200 },
  async read(input) {
    const answers = answersIn(input);
    if (answers === undefined) return;
    let isAltered = false;
    const request: TransferRequest = {
      ...{
        host: "source",
        key: parseDigest(`sha256:${"0".repeat(64)}`)!,
        expected: null,
        sizeBytes: content.length,
      },
      open: async (range) => {
        const answer = answers.shift() ?? {};
        const asked = range ?? { start: 0, end: content.length };
        const right = content.subarray(asked.start, asked.end);
        const body = typeof answer.body === "string" ? Buffer.from(answer.body) : right;
        isAltered ||= !body.equals(right);
        return responseOf(answer, range, body);
      },
      isDone: async () => false,
      finish: async () => {},
      signal: new AbortController().signal,
    };
    rmSync(join(folder, "done"), { force: true });
    rmSync(join(folder, "state.json"), { force: true });
    const file = await PartialFile.open(folder, request, limits);
    try {
      const digest = await new Transfer(request, file, limits).run();
      if (!isAltered) assert.equal(digest, `sha256:${createHash("sha256").update(content).digest("hex")}`);
    } finally {
      await file.close();
    }
  },
  refuses: (error) => error instanceof LocallmError,
};

function answersIn(input: Buffer): Answer[] | undefined {
  try {
    const answers: unknown = JSON.parse(input.toString());
    if (!Array.isArray(answers)) return undefined;
    return answers
      .slice(0, 12)
      .map((answer: unknown) => (typeof answer === "object" && answer !== null ? answer : {}));
  } catch {
    return undefined;
  }
}

function responseOf(
  answer: Answer,
  range: { start: number; end: number } | null,
  bytes: Buffer,
): NetworkResponse {
  const body = new IncomingMessage(new Socket());
  const right = range === null ? undefined : `bytes ${range.start}-${range.end - 1}/${content.length}`;
  const stated = typeof answer.range === "string" ? answer.range : right;
  const status = Number.isInteger(answer.status) ? (answer.status as number) : range === null ? 200 : 206;
  body.statusCode = status;
  body.push(bytes);
  body.push(null);
  const headers = {
    ...(stated === undefined ? {} : { "content-range": stated }),
    ...(typeof answer.length === "string" ? { "content-length": answer.length } : {}),
  };
  return { status, headers, body, url: new URL("https://source/file"), fromPublic: false };
}
