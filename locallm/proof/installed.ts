import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { installGlobally } from "../../testing/packed-project.ts";
import { createSmallStore } from "../test/model-store.ts";

export const title =
  "The packed server, installed with npm install --global: version, an answer, no other Node";

/** Installs locallm like a user: its tarball alone, npm, and the command on a free port. */
export async function run(print: (line: string) => void): Promise<void> {
  const installed = installGlobally(["locallm"]);
  if (installed === null) {
    print("skipped: npm reaches no registry");
    return;
  }
  const store = await createSmallStore();
  try {
    const locallm = join(installed.prefix, "bin", "locallm");
    const env = {
      PATH: process.env["PATH"],
      HOME: installed.prefix,
      LOCALLM_HOST: "127.0.0.1:0",
      LOCALLM_MODELS: store.folder,
    };
    print("| what | seen |");
    print("|---|---|");
    const commands = readdirSync(join(installed.prefix, "bin")).join(", ");
    print(`| npm install --global | ${installed.seconds.toFixed(0)} s; commands: ${commands} |`);
    const version = execFileSync(locallm, ["--version"], { env, encoding: "utf8" });
    print(`| \`locallm --version\` | ${version.trim()} |`);
    const serving = spawn(locallm, ["serve"], { env, stdio: ["ignore", "pipe", "ignore"] });
    try {
      const url = await address(serving.stdout);
      const answer = await fetch(`${url}/api/generate`, {
        method: "POST",
        body: JSON.stringify({
          model: "small:a",
          prompt: "once",
          stream: false,
          options: { num_predict: 4 },
        }),
      });
      const { done, response } = (await answer.json()) as { done: boolean; response: string };
      print(`| one answer | ${answer.status}, ${response.length} characters |`);
      if (!done || response === "") throw new Error("The installed server gave no answer.");
    } finally {
      serving.kill("SIGTERM");
      await once(serving, "exit");
    }
  } finally {
    await store.remove();
    installed.remove();
  }
}

async function address(stdout: NodeJS.ReadableStream): Promise<string> {
  let shown = "";
  for await (const bytes of stdout) {
    shown += String(bytes);
    const url = /listening on (\S+);/.exec(shown)?.[1];
    if (url !== undefined) return url;
  }
  throw new Error(`The server ended before it was ready:\n${shown}`);
}
