import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { compileCache } from "../../testing/compile-cache.ts";
import { watchServerHere } from "../../testing/event-loop-watch.ts";
import { runCommandLine } from "../src/cli/command-line.ts";
import { smallHeap } from "../src/cli/small-heap.ts";
import { readConfig } from "../src/config.ts";
import type { StartRunner } from "../src/runner/handle.ts";
import { createServer } from "../src/server.ts";
import { captureOutput } from "./captured-output.ts";

const main = fileURLToPath(new URL("../src/cli/main.ts", import.meta.url));
const watch = new URL("../../testing/watched-process.ts", import.meta.url).href;

/** A listening server and what tests ask of it. */
export interface TestServer {
  readonly url: string;
  /** The lines of the structured log so far. */
  readonly log: Record<string, unknown>[];
  post(path: string, body: unknown, init?: RequestInit): Promise<Response>;
  /** Returns the answer's JSON. Throws if the status is not 200. */
  ask<Answer = Record<string, unknown>>(path: string, body?: unknown): Promise<Answer>;
  /** Lets running requests finish, then stops the server. */
  stop(): Promise<void>;
}

/** `locallm serve` as a user starts it, in its own process on a free port. */
export interface ServerProcess extends TestServer {
  readonly pid: number;
  readonly stdout: () => string;
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  signal(name: NodeJS.Signals): void;
}

interface TestServerOptions {
  readonly env?: Record<string, string>;
  /** The models folder. By default it is a new empty folder, which is removed at the end. */
  readonly models?: string;
}

interface ServerHereOptions extends TestServerOptions {
  readonly startRunner?: StartRunner;
}

export interface ServerOptions extends TestServerOptions {
  /** Starts it with the small heap that users have. */
  readonly hasSmallHeap?: true;
  /** An open file that gets its log. `log` stays empty. */
  readonly logTo?: number;
}

/**
 * Starts the server in this process, because a process of its own takes half a second of processor time to start. Its
 * models run in processes. Use `startServer` where the process matters: signals, output, memory, blocked threads.
 */
export async function startServerHere(options: ServerHereOptions = {}): Promise<TestServer> {
  const { env, removeModels } = await serverEnvironment(options);
  const log: Record<string, unknown>[] = [];
  const { startRunner } = options;
  const server = await createServer(readConfig({ ...cleanEnvironment(), ...env }), {
    ...(startRunner === undefined ? {} : { startRunner }),
    logTo: { write: (json) => log.push(JSON.parse(json) as Record<string, unknown>) },
  });
  const watch = watchServerHere();
  return {
    ...client(server.url),
    log,
    async stop() {
      await server.close();
      await watch.stop();
      await removeModels();
    },
  };
}

export async function startServer(options: ServerOptions = {}): Promise<ServerProcess> {
  const { env, removeModels } = await serverEnvironment(options);
  const { hasSmallHeap, logTo } = options;
  const started = launch(["serve"], env, { nodeOptions: hasSmallHeap ? smallHeap : [], logTo });
  const { child } = started;
  const { url } = await new Promise<{ url: string }>((resolve, reject) => {
    child.on("message", ({ ready }: { ready?: { url: string } }) => ready && resolve(ready));
    void started.exited.then(({ code }) =>
      reject(new Error(`the server ended with ${code}:\n${started.stdout()}${started.stderr()}`)),
    );
  });
  // The IPC message may arrive before the log lines.
  await until("its first lines are here", () => {
    return (
      started.stdout().includes("Models run on") &&
      (logTo !== undefined || started.log.some((line) => line["msg"] === "backend"))
    );
  });
  return {
    ...client(url),
    pid: child.pid ?? 0,
    log: started.log,
    stdout: started.stdout,
    exited: started.exited,
    signal: (name) => void child.kill(name),
    async stop() {
      child.kill("SIGTERM");
      await started.exited;
      await removeModels();
    },
  };
}

async function serverEnvironment({ models, env }: TestServerOptions) {
  const folder = models ?? (await mkdtemp(join(tmpdir(), "locallm-models-")));
  return {
    env: { LOCALLM_HOST: "127.0.0.1:0", LOCALLM_MODELS: folder, LOCALLM_DERIVED: "off", ...env },
    removeModels: async () => {
      if (models === undefined) await rm(folder, { recursive: true, force: true });
    },
  };
}

function client(url: string): Pick<TestServer, "url" | "post" | "ask"> {
  const post: TestServer["post"] = (path, body, init) =>
    fetch(url + path, {
      method: "POST",
      body: typeof body === "string" ? body : JSON.stringify(body),
      ...init,
    });
  return {
    url,
    post,
    async ask<Answer>(path: string, body?: unknown) {
      const response = body === undefined ? await fetch(url + path) : await post(path, body);
      const text = await response.text();
      if (response.status !== 200) throw new Error(`${path} answered ${response.status}: ${text}`);
      return JSON.parse(text) as Answer;
    },
  };
}

/** Runs a locallm command in this process; see `captureOutput`. */
export function command(words: readonly string[], env: Record<string, string> = {}, input?: string) {
  return captureOutput({ ...cleanEnvironment(), ...env }, () => runCommandLine(words), input);
}

/** An environment without this machine's settings. */
function cleanEnvironment(): Record<string, string> {
  const clean = Object.entries(process.env).filter(
    (one): one is [string, string] =>
      one[1] !== undefined && !/^(LOCALLM_|CUDA_|GGML_|NODE_|VITEST)/.test(one[0]),
  );
  return {
    ...Object.fromEntries(clean),
    NODE_COMPILE_CACHE: compileCache,
    // The API keys of the person who runs the tests would close the server.
    LOCALLM_KEYS: join(tmpdir(), "locallm-without-keys"),
  };
}

interface LaunchOptions {
  readonly input?: string;
  readonly nodeOptions?: readonly string[];
  /** The working folder. */
  readonly folder?: string;
  /** Starts a process group, which a test can interrupt as a terminal does. */
  readonly isGroup?: true;
  /** An open file that gets what it writes to standard error. */
  readonly logTo?: number | undefined;
}

/** Starts a locallm command as a process, in an environment without this machine's settings. */
export function launch(
  args: readonly string[],
  env: Record<string, string> = {},
  { input, nodeOptions = [], folder, isGroup, logTo }: LaunchOptions = {},
) {
  const child: ChildProcess = spawn(
    process.execPath,
    ["-C", "source", "--import", watch, ...nodeOptions, main, ...args],
    {
      cwd: folder,
      detached: isGroup,
      env: { ...cleanEnvironment(), ...env },
      stdio: [input === undefined ? "ignore" : "pipe", "pipe", logTo ?? "pipe", "ipc"],
    },
  );
  child.stdin?.end(input);
  let stdout = "";
  let stderr = "";
  let rest = "";
  const log: Record<string, unknown>[] = [];
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line.startsWith("{")) log.push(JSON.parse(line) as Record<string, unknown>);
  });
  const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    // Waits for "close" instead of "exit", because the last output may still be in the pipe.
    child.once("close", (code, signal) => resolve({ code, signal }));
  });
  return { child, log, env, exited, stdout: () => stdout, stderr: () => stderr };
}

/** The lines of an NDJSON answer as they arrive. */
export async function* lines(response: Response): AsyncGenerator<Record<string, unknown>> {
  let rest = "";
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    const whole = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = whole.pop() ?? "";
    for (const line of whole) yield JSON.parse(line) as Record<string, unknown>;
  }
  if (rest !== "") throw new Error(`a stream ended within a line: ${rest}`);
}

/**
 * The current metrics, by name without the prefix `locallm_` and with labels as printed. A missing metric is
 * 0.
 */
export async function metricsOf(server: TestServer): Promise<(name: string, labels: string) => number> {
  const all = (await (await fetch(`${server.url}/metrics`)).text()).split("\n");
  return (name, labels) => {
    const start = `locallm_${name}{${labels}} `;
    return Number(all.find((line) => line.startsWith(start))?.slice(start.length) ?? 0);
  };
}

/** Polls until the condition is true. */
export async function until(what: string, isTrue: () => boolean | Promise<boolean>): Promise<void> {
  const endMs = Date.now() + 50_000;
  while (!(await isTrue())) {
    if (Date.now() > endMs) throw new Error(`never happened: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
