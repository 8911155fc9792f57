import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ServerProcess, startServer, until } from "./server-process.ts";
import { ggufBytes, loadableModel } from "./tiny-gguf.ts";

const hasScript = (() => {
  try {
    execFileSync("script", ["--version"], { stdio: "ignore" });
    return process.platform === "linux";
  } catch {
    return false;
  }
})();

let server: ServerProcess;
let home = "";
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "locallm-home-"));
  server = await startServer();
  const bytes = ggufBytes(loadableModel());
  const digest = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
  await server.post(`/api/blobs/${digest}`, undefined, { body: new Uint8Array(bytes) });
  await server.ask("/api/create", { model: "tiny", files: { a: digest }, stream: false });
});
afterAll(async () => {
  await server?.stop();
  await rm(home, { recursive: true, force: true });
});

test.skipIf(!hasScript)("a conversation on a terminal obeys its commands (needs script)", async () => {
  const main = fileURLToPath(new URL("../src/cli/main.ts", import.meta.url));
  const child = spawn("script", ["-qec", `${process.execPath} -C source ${main} run tiny`, "/dev/null"], {
    env: { ...process.env, HOME: home, LOCALLM_HOST: server.url, TERM: "dumb" },
  });
  let shown = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    shown += text;
  });
  const exited = new Promise<number | null>((resolve) => child.once("exit", resolve));
  const type = async (line: string, answer: RegExp) => {
    shown = "";
    child.stdin.write(`${line}\n`);
    await until(`an answer to ${line}`, () => answer.test(shown));
  };
  await until("the prompt", () => shown.includes(">>> "));
  await type("/set parameter num_predict 3", /Set\./);
  await type("/set parameter heat 3", /heat is no parameter/);
  await type("/set parameter num_ctx many", /Error: .*num_ctx/);
  await type("/set system Be brief.", /Set\./);
  await type("hello", /\n[\s\S]*>>> /);
  await type("/bogus", /\/bogus is no command/);
  await type("/save kept", /Saved as kept\./);
  await type("/load nowhere", /Error: model 'nowhere' not found/);
  child.stdin.write("/bye\n");
  expect(await exited).toBe(0);
  const kept = await server.ask("/api/show", { model: "kept" });
  expect(kept).toMatchObject({ system: "Be brief.", parameters: expect.stringMatching(/^num_predict +3$/) });
  expect(kept["messages"]).toMatchObject([{ role: "user", content: "hello" }, { role: "assistant" }]);
});
