import { execFile, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ModelStore } from "../model-store.ts";
import { type ServerProcess, startServer } from "../server-process.ts";
import { chatModel, clientStore, embeddingModel } from "./models.ts";

const run = promisify(execFile);
const program = fileURLToPath(new URL("clients.py", import.meta.url));

/** Which of these a Python finds. CI installs them from .ci/pip.txt. */
const modules = ["ollama", "openai", "langchain_ollama", "litellm"];
const probe = modules.map((name) => `print(importlib.util.find_spec("${name}") is not None)`).join("\n");
const found = spawnSync("python3", ["-c", `import importlib.util\n${probe}`], {
  encoding: "utf8",
}).stdout?.split("\n");

describe("Python clients run unchanged", () => {
  let store: ModelStore;
  let server: ServerProcess;
  beforeAll(async () => {
    store = await clientStore();
    server = await startServer({ models: store.folder });
  });
  afterAll(async () => {
    await server.stop();
    await store.remove();
  });

  for (const [index, name] of modules.entries()) {
    it.skipIf(found?.[index] !== "True")(
      `${name} (needs the Python package)`,
      { timeout: 120_000 },
      async () => {
        const { stdout } = await run(
          "python3",
          [program, name, server.url, chatModel, embeddingModel ?? ""],
          {
            timeout: 110_000,
          },
        );
        expect(stdout.trim().split("\n").at(-1)).toBe("all well");
      },
    );
  }
});
