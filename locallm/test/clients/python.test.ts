import { execFile, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ModelStore } from "../model-store.ts";
import { startServerHere, type TestServer } from "../server-process.ts";
import { chatModel, clientStore, embeddingModel, rankModel, thinkingModel } from "./models.ts";

const run = promisify(execFile);
const program = fileURLToPath(new URL("clients.py", import.meta.url));

/** Python modules that the tests need. CI installs them from .ci/pip.txt. */
const modules = ["ollama", "openai", "anthropic", "langchain_ollama", "litellm"];
const probe = modules.map((name) => `print(importlib.util.find_spec("${name}") is not None)`).join("\n");
const answers = spawnSync("python3", ["-c", `import importlib.util\n${probe}`], {
  encoding: "utf8",
}).stdout?.split("\n");
const found = modules.filter((_, index) => answers?.[index] === "True");

describe("Python clients run unchanged", () => {
  let store: ModelStore;
  let server: TestServer;
  /** The error of each client; null if it passed. */
  let results: Record<string, string | null>;
  beforeAll(async () => {
    store = await clientStore();
    server = await startServerHere({ models: store.folder });
    if (found.length === 0) return;
    const models = [chatModel, thinkingModel, embeddingModel ?? "", rankModel];
    const parameters = [program, found.join(), server.url, ...models];
    const { stdout } = await run("python3", parameters, { timeout: 240_000 });
    results = JSON.parse(stdout.trim().split("\n").at(-1)!);
  });
  afterAll(async () => {
    await server.stop();
    await store.remove();
  });

  for (const name of modules) {
    it.skipIf(!found.includes(name))(`${name} (needs the Python package)`, () => {
      expect(results[name]).toBeNull();
    });
  }
});
