import { readdirSync, readlinkSync } from "node:fs";
import { connect } from "node:net";
import { pino } from "pino";
import { readConfig } from "../src/config.ts";
import { StreamOutlet } from "../src/http/outlet.ts";
import { startRunner } from "../src/runner/start.ts";
import { createServer } from "../src/server.ts";
import { createSmallStore } from "./model-store.ts";
import { until } from "./server-process.ts";

export interface LentResult {
  /** How often a runner was killed, and how often a client left, while its connection was lent. */
  readonly killedWhileLent: number;
  readonly leftWhileLent: number;
  /** How often connections were lent. */
  readonly loans: number;
  /** Streams that were not as they must be. */
  readonly problems: readonly string[];
}

/**
 * Streams answers of all APIs, kills their runner in the midst, and lets clients leave. Each stream must be made of whole
 * lines that tell the beginning of the one right answer once, and end as the API says. At the end no process may have a
 * descriptor of a connection left.
 */
export async function disturbLentStreams(
  { kills, leaves }: { readonly kills: number; readonly leaves: number },
  random: () => number,
): Promise<LentResult> {
  const store = await createSmallStore();
  const pids: number[] = [];
  const server = await createServer(
    readConfig({ LOCALLM_HOST: "127.0.0.1:0", LOCALLM_MODELS: store.folder, LOCALLM_NUM_PARALLEL: "4" }),
    {
      log: pino({ level: "silent" }),
      startRunner: async (load, start) => {
        const runner = await startRunner(load, start);
        pids.push(runner.pid);
        return runner;
      },
    },
  );
  const problems: string[] = [];
  const loans = watchLoans();
  const result = { killedWhileLent: 0, leftWhileLent: 0 };
  try {
    const answers = await Promise.all(apis.map((api) => wholeAnswer(server.url, api)));
    for (const [index, api] of apis.entries()) {
      const { text, problem } = read(api, (await stream(server.url, api)).bytes);
      if (problem !== null || text !== answers[index])
        problems.push(`${api.path}: ${problem ?? "another text"}`);
    }
    const sockets = () => pids.slice(-1).concat(process.pid).map(openSockets);
    const before = sockets();
    for (let turn = 0; turn < kills + leaves; turn++) {
      const kind =
        Math.floor((turn * kills) / (kills + leaves)) !== Math.floor(((turn + 1) * kills) / (kills + leaves))
          ? "kill"
          : "leave";
      const started = [0, 1, 2].map(() => Math.floor(random() * apis.length));
      const lines = 1 + Math.floor(random() ** 3 * answerTokens);
      const disturb = () => {
        if (kind === "kill") process.kill(pids.at(-1)!, "SIGKILL");
        const count = kind === "kill" ? "killedWhileLent" : "leftWhileLent";
        if (loans.out() > 0) result[count]++;
        return kind === "leave";
      };
      const streams = await Promise.all(
        started.map((index, at) =>
          stream(server.url, apis[index]!, at === 0 ? { lines, disturb } : undefined),
        ),
      );
      for (const [at, { bytes, hasLeft }] of streams.entries()) {
        const api = apis[started[at]!]!;
        const { text, problem, error } = read(api, bytes, hasLeft);
        const whole = answers[started[at]!]!;
        const isRight = kind === "kill" || hasLeft ? whole.startsWith(text) : text === whole;
        if (problem !== null) problems.push(`${turn} ${kind} ${api.path}: ${problem}`);
        else if (!isRight) problems.push(`${turn} ${kind} ${api.path}: ${JSON.stringify(text)}`);
        else if (!hasLeft && text !== whole && !error)
          problems.push(`${turn} ${kind} ${api.path}: it ends without an error`);
      }
    }
    await stream(server.url, apis[0]!);
    await until("no connection is left", () => {
      const left = sockets();
      return loans.out() === 0 && left.every((count, at) => count <= before[at]!);
    });
  } finally {
    loans.stop();
    await server.close();
    await store.remove();
  }
  return { ...result, loans: loans.count(), problems };
}

const answerTokens = 90;
const options = { temperature: 0, seed: 5, deterministic: true };

/** What the lines of all APIs may hold. */
interface Line {
  readonly response?: string;
  readonly message?: { readonly content: string };
  readonly choices?: readonly { readonly text?: string; readonly delta?: { readonly content?: string } }[];
  readonly delta?: string | { readonly text?: string };
  readonly type?: string;
  readonly sequence_number?: number;
  readonly done?: boolean;
  readonly error?: unknown;
}

interface Api {
  readonly path: string;
  readonly body: Record<string, unknown>;
  /** The text that a line of the stream tells, and whether it is an error or the end. */
  readonly told: (line: Line) => { text?: string | undefined; error?: boolean; end?: boolean | undefined };
}

const hi = [{ role: "user", content: "once" }];
const native = { options: { ...options, num_predict: answerTokens } };

const apis: readonly Api[] = [
  {
    path: "/api/generate",
    body: { prompt: "once", ...native },
    told: ({ response, error, done }) => ({ text: response, error: error !== undefined, end: done }),
  },
  {
    path: "/api/chat",
    body: { messages: hi, ...native },
    told: ({ message, error, done }) => ({ text: message?.content, error: error !== undefined, end: done }),
  },
  {
    path: "/v1/completions",
    body: { prompt: "once", max_tokens: answerTokens, options },
    told: ({ choices, error }) => ({ text: choices?.[0]?.text, error: error !== undefined }),
  },
  {
    path: "/v1/chat/completions",
    body: { messages: hi, max_tokens: answerTokens, options },
    told: ({ choices, error }) => ({ text: choices?.[0]?.delta?.content, error: error !== undefined }),
  },
  {
    path: "/v1/responses",
    body: { input: "once", max_output_tokens: answerTokens, options },
    told: ({ type = "", delta }) => ({
      text: type === "response.output_text.delta" ? String(delta) : "",
      error: type === "error",
      end: /^response\.(completed|incomplete)$/.test(type),
    }),
  },
  {
    path: "/v1/messages",
    body: { messages: hi, max_tokens: answerTokens, options },
    told: ({ type, delta }) => ({
      text: typeof delta === "object" ? delta.text : "",
      error: type === "error",
      end: type === "message_stop",
    }),
  },
];

async function wholeAnswer(url: string, api: Api): Promise<string> {
  const { text, problem } = read(api, (await stream(url, api, undefined, false)).bytes);
  if (problem !== null) throw new Error(`${api.path}: ${problem}`);
  return text;
}

interface Disturbance {
  /** After how many lines. */
  readonly lines: number;
  /** Returns true if the client leaves. */
  disturb(): boolean;
}

/** The bytes of an answer. Without `mayBeLent` the client speaks HTTP/1.0, whose answers have no chunks. */
function stream(url: string, { path, body }: Api, disturbance?: Disturbance, mayBeLent = true) {
  return new Promise<{ bytes: Buffer; hasLeft: boolean }>((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const json = JSON.stringify({ model: "small:a", stream: true, ...body });
    const socket = connect(Number(port), hostname);
    const parts: Buffer[] = [];
    let lines = 0;
    let hasLeft = false;
    socket.on("data", (part) => {
      parts.push(part);
      const before = lines;
      for (const byte of part) if (byte === 10) lines++;
      // An event of OpenAI's and Anthropic's streams has several lines, and so have the headers.
      if (disturbance === undefined || before >= disturbance.lines + 12 || lines < disturbance.lines + 12)
        return;
      if (!disturbance.disturb()) return;
      hasLeft = true;
      socket.destroy();
    });
    socket.on("error", reject);
    socket.on("close", () => resolve({ bytes: Buffer.concat(parts), hasLeft }));
    socket.write(
      `POST ${path} HTTP/1.${mayBeLent ? 1 : 0}\r\nHost: ${hostname}:${port}\r\nConnection: close\r\nContent-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`,
    );
  });
}

/** Reads a stream strictly. `isCut` allows it to end anywhere. */
function read(api: Api, bytes: Buffer, isCut = false) {
  const fault = (problem: string) => ({ text: "", problem, error: false });
  const head = bytes.indexOf("\r\n\r\n");
  if (head === -1) return isCut ? { text: "", problem: null, error: false } : fault("it has no headers");
  const headers = bytes.toString("latin1", 0, head);
  if (!headers.includes(" 200 ")) return { text: "", problem: null, error: true };
  const body = bytes.subarray(head + 4);
  const content = /chunked/i.test(headers) ? unchunked(body, isCut) : body.toString();
  if (content === null) return fault("a chunk is broken");
  const lines = content.split("\n").filter((line) => line !== "");
  if (isCut && !content.endsWith("\n")) lines.pop();
  let text = "";
  let error = false;
  let isOver = false;
  let number = 0;
  for (const line of lines) {
    if (isOver) return fault("something follows the end");
    const json = line.startsWith("data: ") ? line.slice(6) : line;
    if (json.startsWith("event: ")) continue;
    if (json === "[DONE]") {
      isOver = true;
      continue;
    }
    let value: Line;
    try {
      value = JSON.parse(json) as Line;
    } catch {
      return fault(`a line is broken: ${json.slice(0, 80)}`);
    }
    if (value.sequence_number !== undefined && value.sequence_number !== number++)
      return fault("a number is missing");
    const told = api.told(value);
    text += told.text ?? "";
    error ||= told.error === true;
    isOver = told.end === true || error;
  }
  return isCut || isOver ? { text, problem: null, error } : fault("it has no end");
}

/** Null if a chunk is not what its length says. */
function unchunked(body: Buffer, isCut: boolean): string | null {
  const parts: Buffer[] = [];
  let rest = body;
  for (;;) {
    const end = rest.indexOf("\r\n");
    const length = /^[0-9a-f]+$/.test(rest.toString("latin1", 0, end))
      ? Number.parseInt(rest.toString("latin1", 0, end), 16)
      : -1;
    const isWhole = end > 0 && rest.length >= end + 2 + length + 2;
    if (end > 0 && length === -1) return null;
    if (!isWhole) return isCut ? Buffer.concat(parts).toString() : null;
    if (rest.toString("latin1", end + 2 + length, end + 4 + length) !== "\r\n") return null;
    parts.push(rest.subarray(end + 2, end + 2 + length));
    rest = rest.subarray(end + 4 + length);
    if (length === 0) return rest.length === 0 ? Buffer.concat(parts).toString() : null;
  }
}

/** Counts what is lent while it runs. */
function watchLoans() {
  const { lent, back } = StreamOutlet.prototype;
  const out = new Set<StreamOutlet>();
  let count = 0;
  StreamOutlet.prototype.lent = function (this: StreamOutlet) {
    out.add(this);
    count++;
    lent.call(this);
  };
  StreamOutlet.prototype.back = function (this: StreamOutlet, rest) {
    out.delete(this);
    back.call(this, rest);
  };
  return {
    out: () => out.size,
    count: () => count,
    stop: () => Object.assign(StreamOutlet.prototype, { lent, back }),
  };
}

/** How many sockets a process has open. */
function openSockets(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).filter((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`).startsWith("socket:");
    } catch {
      return false;
    }
  }).length;
}
