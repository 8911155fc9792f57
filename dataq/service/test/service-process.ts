import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { OperationName } from "@dataq/contract";
import { checkAnswer } from "./answer-check.ts";
import { environmentOf, makeDataFolder, removeDataFolder } from "./data-folder.ts";
import { useVendor } from "./vendor.ts";

const main = fileURLToPath(new URL("../src/cli/main.ts", import.meta.url));
const watch = new URL("../../../testing/watched-process.ts", import.meta.url).href;

export interface ServiceOptions {
  /** Settings in addition to a free port and a new data folder. */
  readonly env?: Readonly<Record<string, string>>;
  /** The data folder of an earlier service. It is kept when this one stops. */
  readonly folder?: string;
  readonly args?: readonly string[];
  /** The program of another release, instead of this one. */
  readonly main?: string;
  /**
   * A vendor answers every operation, or all except the named ones, so that calls cost their price; see vendor.ts.
   */
  readonly vendor?: true | { readonly without: readonly OperationName[] };
  /** An open file that gets its log. `log` stays empty. */
  readonly logTo?: number;
}

/** `dataq serve` as a user starts it: a process, called over HTTP. */
export interface ServiceProcess {
  readonly url: string;
  /** The local account's key: admin, operator tier. */
  readonly key: string;
  /** The link to the console that was printed. It works once. */
  readonly console: string;
  readonly folder: string;
  readonly pid: number;
  /** Everything that it wrote: progress and log lines. */
  log(): string;
  call(path: string, options?: CallOptions): Promise<CallResult>;
  /** Sends SIGTERM. Resolves with the exit code. */
  stop(): Promise<number | null>;
  /** SIGKILL */
  kill(): Promise<void>;
  /** Resolves when it has ended, for any reason. */
  readonly ended: Promise<number | null>;
  /** Stops it, and removes its folder if it made one. */
  [Symbol.asyncDispose](): Promise<void>;
}

export interface CallOptions {
  readonly method?: string;
  /** An object is sent as JSON; a string or bytes as they are. */
  readonly body?: unknown;
  readonly key?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** False if a scripted source answers. */
  readonly hasRealRecords?: boolean;
}

export interface CallResult {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly body: any;
}

export async function startService(options: ServiceOptions = {}): Promise<ServiceProcess> {
  const folder = options.folder ?? (await makeDataFolder("first start"));
  const without = options.vendor === true ? [] : (options.vendor?.without ?? []);
  const vendor = options.vendor && (await useVendor(folder, without));
  const child = spawn(
    process.execPath,
    [
      "--conditions=source",
      "--import",
      watch,
      options.main ?? main,
      "serve",
      "--json",
      ...(options.args ?? []),
    ],
    {
      stdio: ["ignore", "pipe", options.logTo ?? "pipe"],
      env: {
        ...environmentOf(folder),
        DATAQ_HOST: "127.0.0.1:0",
        DATAQ_LAWS: "off",
        ...(process.env["EVENT_LOOP_REPORTS"] && { EVENT_LOOP_REPORTS: process.env["EVENT_LOOP_REPORTS"] }),
        ...vendor,
        ...options.env,
      },
    },
  );
  let log = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    log += text;
  });
  const ended = new Promise<number | null>((resolve) => child.on("close", (code) => resolve(code)));
  const ready = await readyLine(child, ended, () => log);
  const { url, key, console } = JSON.parse(ready) as { url: string; key: string; console: string };
  return {
    url,
    key,
    console,
    folder,
    pid: child.pid!,
    log: () => log,
    ended,
    call: (path, call) => callUrl(url + path, { key, ...call }),
    stop() {
      child.kill("SIGTERM");
      return ended;
    },
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await ended;
      if (options.folder === undefined) await removeDataFolder(folder);
    },
  };
}

export async function callUrl(url: string, options: CallOptions = {}): Promise<CallResult> {
  const { body, key } = options;
  const isRaw = typeof body === "string" || body instanceof Uint8Array;
  const response = await fetch(url, {
    method: options.method ?? (body === undefined ? "GET" : "POST"),
    headers: {
      ...(key && { authorization: `Bearer ${key}` }),
      ...(body !== undefined && { "content-type": "application/json" }),
      ...options.headers,
    },
    ...(body !== undefined && { body: isRaw ? (body as string) : JSON.stringify(body) }),
  });
  const text = await response.text();
  const { pathname, search } = new URL(url);
  checkAnswer(
    {
      method: options.method ?? (body === undefined ? "GET" : "POST"),
      path: pathname + search,
      sent: body,
      status: response.status,
      type: response.headers.get("content-type") ?? "",
      text,
    },
    { hasRealRecords: options.hasRealRecords ?? true },
  );
  const isJson = response.headers.get("content-type")?.includes("json") && text !== "";
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson && !response.headers.get("content-type")!.includes("ndjson") ? JSON.parse(text) : undefined,
  };
}

function readyLine(child: ChildProcess, ended: Promise<number | null>, log: () => string): Promise<string> {
  return new Promise((resolve, reject) => {
    let out = "";
    child.stdout!.setEncoding("utf8").on("data", (text: string) => {
      out += text;
      if (out.includes("\n")) resolve(out.slice(0, out.indexOf("\n")));
    });
    void ended.then((code) =>
      reject(new Error(`dataq serve ended with ${code} before it was ready:\n${log()}`)),
    );
  });
}
