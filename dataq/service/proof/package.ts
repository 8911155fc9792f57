import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installGlobally } from "../../../testing/packed-project.ts";

export const title =
  "The packed service, installed with npm install --global: console, a call, no other Node";

/** Installs dataq like a user: its tarball alone, npm, the command on a free port, and an empty data folder. */
export async function run(print: (line: string) => void): Promise<void> {
  const installed = installGlobally(["dataq/service"]);
  if (installed === null) {
    print("skipped: npm reaches no registry");
    return;
  }
  const data = await mkdtemp(join(tmpdir(), "dataq-packed-"));
  try {
    print("| what | seen |");
    print("|---|---|");
    const dataq = join(installed.prefix, "bin", "dataq");
    const commands = readdirSync(join(installed.prefix, "bin")).join(", ");
    print(`| npm install --global | ${installed.seconds.toFixed(0)} s; commands: ${commands} |`);
    const env = { PATH: process.env["PATH"], HOME: data, DATAQ_HOST: "127.0.0.1:0", DATAQ_DATA: data };
    const serving = spawn(dataq, ["serve", "--json"], { env: { ...env, DATAQ_LAWS: "off" }, stdio: "pipe" });
    try {
      const { url, key, console: link } = await readiness(serving);
      await proveConsole(link, url, print);
      const asked = ["query", "cloud_express_tracking", "express_no=YT1000000000017"];
      const output = execFileSync(dataq, asked, {
        env: { ...env, DATAQ_BASE_URL: url, DATAQ_API_KEY: key },
        encoding: "utf8",
      });
      print(`| \`dataq ${asked.join(" ")}\` | ${output.length > 0 ? "answers" : "nothing"} |`);
    } finally {
      serving.kill("SIGTERM");
      await once(serving, "exit");
    }
  } finally {
    rmSync(data, { recursive: true, force: true });
    installed.remove();
  }
}

async function proveConsole(link: string, url: string, print: (line: string) => void): Promise<void> {
  const page = await fetch(`${url}/console/`);
  const html = await page.text();
  const scripts = [...html.matchAll(/(?:src|href)="(\/console\/assets\/[^"]+)"/g)].map(([, path]) => path!);
  const answers = await Promise.all(scripts.map((path) => fetch(url + path)));
  const statuses = [page, ...answers].map(({ status }) => status);
  print(`| console: page and ${scripts.length} files | ${statuses.join(" ")} |`);
  print(`| the link for its owner | ${(await fetch(link, { redirect: "manual" })).status} |`);
  if (scripts.length === 0 || statuses.some((status) => status !== 200))
    throw new Error("The console is not served as it should be.");
}

async function readiness(child: ChildProcess): Promise<{ url: string; key: string; console: string }> {
  let shown = "";
  let errors = "";
  child.stderr?.on("data", (bytes) => {
    errors += String(bytes);
  });
  for await (const bytes of child.stdout!) {
    shown += String(bytes);
    const line = /^\{.*\}$/m.exec(shown)?.[0];
    if (line !== undefined) return JSON.parse(line) as { url: string; key: string; console: string };
  }
  throw new Error(`The service ended before it was ready:\n${shown}${errors}`);
}
