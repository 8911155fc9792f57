import { execFile, spawn, spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { compileCache } from "../../testing/compile-cache.ts";
import { createModelStore, type ModelStore } from "./model-store.ts";
import { command, startServerHere, type TestServer, until } from "./server-process.ts";
import { ggufBytes, tinyModel } from "./tiny-gguf.ts";

const run = promisify(execFile);
const main = fileURLToPath(new URL("../src/cli/main.ts", import.meta.url));
const has = (program: string, ...args: string[]) => spawnSync(program, args).error === undefined;

/** Starts without user settings and reads input like a terminal. */
const interactive = {
  bash: { start: "bash --noprofile --norc -i", load: "source <(locallm completion bash)" },
  zsh: {
    start: "zsh -f -i",
    load: "autoload -Uz compinit && compinit -D && source <(locallm completion zsh)",
  },
};

describe("completion in real shells", () => {
  let folder = "";
  let store: ModelStore;
  let env: Record<string, string>;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "locallm-completion-"));
    store = await createModelStore();
    await writeFile(join(folder, "tiny.gguf"), ggufBytes(tinyModel()));
    await store.add("owl:1b", join(folder, "tiny.gguf"));
    await store.derive("owl:1c", { from: "owl:1b" });
    await store.derive("finch:2", { from: "owl:1b" });
    const command = `#!/bin/sh\nexec '${process.execPath}' -C source '${main}' "$@"\n`;
    await writeFile(join(folder, "locallm"), command, { mode: 0o755 });
    env = {
      PATH: `${folder}${delimiter}${process.env["PATH"]}`,
      HOME: folder,
      TERM: "dumb",
      NODE_COMPILE_CACHE: compileCache,
      // No server is running, so the names come from the store.
      LOCALLM_HOST: "127.0.0.1:1",
      LOCALLM_MODELS: store.folder,
    };
  });
  afterAll(async () => {
    await store?.remove();
    await rm(folder, { recursive: true, force: true });
  });

  for (const [name, { start, load }] of Object.entries(interactive)) {
    it.skipIf(!has(name, "--version") || !has("script", "--version"))(
      `${name} completes verbs, options, models and files (needs ${name} and script)`,
      async () => {
        const child = spawn("script", ["-qec", start, "/dev/null"], { env, cwd: folder });
        let shown = "";
        child.stdout.setEncoding("utf8").on("data", (text: string) => {
          shown += text;
        });
        const exited = new Promise((resolve) => child.once("exit", resolve));
        child.stdin.write(`${load}; echo re''ady\n`);
        await until("the script is loaded", () => shown.includes("ready"));
        for (const [typed, completed] of [
          ["locallm run --keep", "locallm run --keepalive "],
          // Only bash splits words at a colon, so for it a name with one is another case.
          ...(name === "bash" ? [["locallm run fi", "locallm run finch:2 "] as const] : []),
          ["echo hi | locallm run finch:", "echo hi | locallm run finch:2 "],
          ["locallm create x -f tiny.g", "locallm create x -f tiny.gguf "],
        ] as const) {
          shown = "";
          child.stdin.write(`${typed}\t`);
          await until(`${typed} is completed`, () => shown.includes(completed));
          // Ctrl-U clears the line.
          child.stdin.write("\x15");
        }
        shown = "";
        child.stdin.write("locallm run owl:1\t\t");
        await until("both are shown", () => /1b\b/.test(shown) && /1c\b/.test(shown));
        child.stdin.write("\x15exit\n");
        await exited;
      },
    );
  }

  const asked: [line: string, completed: string[]][] = [
    ["locallm comp", ["completion"]],
    ["locallm run owl:", ["owl:1b", "owl:1c"]],
    ["locallm create x -f tiny.g", ["tiny.gguf"]],
  ];

  it.skipIf(!has("fish", "--version"))("fish completes them (needs fish)", async () => {
    const lines = asked.map(([line]) => `complete -C '${line}'; echo ==`).join("; ");
    const { stdout } = await run("fish", ["-c", `locallm completion fish | source; ${lines}`], {
      env,
      cwd: folder,
    });
    const answers = stdout.split("==\n").map((text) => text.split("\n").filter((line) => line !== ""));
    expect(answers.slice(0, -1).map((found) => found.map((line) => line.split("\t")[0]).sort())).toEqual(
      asked.map(([, completed]) => completed),
    );
  });

  it.skipIf(!has("pwsh", "-v"))("PowerShell completes them (needs pwsh)", async () => {
    for (const [line, completed] of asked) {
      const ask = `(TabExpansion2 '${line}' ${line.length}).CompletionMatches.CompletionText`;
      const script = `locallm completion powershell | Out-String | Invoke-Expression; ${ask}`;
      const { stdout } = await run("pwsh", ["-NoProfile", "-Command", script], { env, cwd: folder });
      expect(stdout.trim().split(/\r?\n/)).toEqual(completed);
    }
  });

  it("completes verbs, and the options of a verb after assignments and by its alias", async () => {
    const complete = async (line: string) => (await command(["__complete", line])).out.trim().split("\n");
    expect((await complete("locallm r")).map((line) => line.split("\t")[0])).toEqual(["run", "rm", "remote"]);
    expect(await complete("X=1 Y= locallm start --log-format ")).toEqual(["text", "json"]);
    expect(await complete("locallm nothing ")).toEqual([""]);
  });

  it("completes the models of a running server and hides errors", async () => {
    const server: TestServer = await startServerHere({ models: store.folder });
    const complete = (more: Record<string, string>) => command(["__complete", "locallm run "], more);
    try {
      const elsewhere = { LOCALLM_HOST: server.url, LOCALLM_MODELS: join(folder, "empty") };
      expect((await complete(elsewhere)).out.trim().split("\n").sort()).toEqual([
        "finch:2",
        "owl:1b",
        "owl:1c",
      ]);
    } finally {
      await server.stop();
    }
    expect(await complete({ LOCALLM_HOST: "no host" })).toEqual({ code: 0, out: "", err: "" });
  });
});
