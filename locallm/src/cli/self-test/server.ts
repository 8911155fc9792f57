import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "../client.ts";

// The source is TypeScript, the published package JavaScript.
const program = fileURLToPath(new URL(`../locallm${extname(import.meta.url)}`, import.meta.url));
const startLimitMs = 60_000;
const stopLimitMs = 20_000;

/** A server of this program with the user's models; all else that it writes is in a folder of its own. */
export class OwnServer {
  readonly client: Client;
  readonly #child: ChildProcess;
  readonly #folder: string;

  private constructor(client: Client, child: ChildProcess, folder: string) {
    this.client = client;
    this.#child = child;
    this.#folder = folder;
  }

  static async start(modelsFolder: string): Promise<OwnServer> {
    const folder = await mkdtemp(join(tmpdir(), "locallm-self-test-"));
    const keysFolder = join(folder, "keys");
    const child = spawn(process.execPath, [...process.execArgv, program, "serve"], {
      env: {
        // biome-ignore lint/style/noProcessEnv: passed to the child, not read
        ...process.env,
        LOCALLM_HOST: "127.0.0.1:0",
        LOCALLM_MODELS: modelsFolder,
        LOCALLM_NUM_PARALLEL: "1",
        LOCALLM_API_KEY: "",
        LOCALLM_KEYS: keysFolder,
        LOCALLM_CACHE_FOLDER: join(folder, "cache"),
        LOCALLM_RESPONSES_FOLDER: join(folder, "responses"),
      },
      stdio: ["ignore", "ignore", "pipe", "ipc"],
      windowsHide: true,
    });
    let said = "";
    child.stderr?.on("data", (data: Buffer) => {
      said = (said + data.toString("utf8")).slice(-2_000);
    });
    try {
      const { hostname, port } = new URL(await addressOf(child, () => said));
      const host = { scheme: "http", hostname, port: Number(port), path: "" } as const;
      return new OwnServer(new Client({ host, apiKey: null, keysFolder }), child, folder);
    } catch (error) {
      child.kill("SIGKILL");
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
  }

  get pid(): number {
    return this.#child.pid ?? -1;
  }

  /** Asks it to end, and resolves with how long that took in milliseconds. Throws if it had to be killed. */
  async stop(): Promise<number> {
    const begun = performance.now();
    const ended = exitOf(this.#child);
    const child = this.#child;
    let isKilled = false;
    const timer = setTimeout(() => {
      isKilled = true;
      child.kill("SIGKILL");
    }, stopLimitMs);
    try {
      child.kill("SIGTERM");
      await ended;
    } finally {
      clearTimeout(timer);
      await rm(this.#folder, { recursive: true, force: true });
    }
    if (isKilled) throw new Error(`it still ran ${stopLimitMs / 1000} s after it was asked to end`);
    return performance.now() - begun;
  }
}

function addressOf(child: ChildProcess, said: () => string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const timer = setTimeout(
    () => reject(new Error(`it does not listen after ${startLimitMs / 1000} s`)),
    startLimitMs,
  );
  child.on("message", (message: { listening?: { url: string } }) => {
    if (message.listening !== undefined) resolve(message.listening.url);
  });
  child.once("error", reject);
  child.once("exit", () => reject(new Error(`it ended: ${said().trim().split("\n").at(-1) ?? ""}`)));
  return promise.finally(() => clearTimeout(timer));
}

function exitOf(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => child.once("exit", () => resolve()));
}
