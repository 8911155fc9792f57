import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { packProject } from "../../../scripts/packed-project.ts";

export const title = "The packed service in a clean project: console, a paid call, its client";

/**
 * Installs dataq like a user: three tarballs, npm, each Node on the path and the one that npm installs, the
 * command on a free port, and an empty data folder.
 */
export async function run(print: (line: string) => void): Promise<void> {
  const node = `node-${process.platform}-${process.arch}@${process.versions.node}`;
  const project = packProject(["dataq/contract", "dataq/client", "dataq/service"], [node]);
  if (project === null) {
    print("skipped: npm reaches no registry");
    return;
  }
  const data = await mkdtemp(join(tmpdir(), "dataq-packed-"));
  try {
    print("| what | seen |");
    print("|---|---|");
    const files = project.files.get("dataq/service")!;
    const found = execFileSync("node", ["--version"], { encoding: "utf8" }).trim();
    print(`| Node on the path, beside the packages | ${found}, v${process.versions.node} |`);
    print(`| files of the service, of its console | ${files.length}, ${files.filter(isConsole).length} |`);
    const env = { PATH: process.env["PATH"], HOME: data, DATAQ_HOST: "127.0.0.1:0", DATAQ_DATA: data };
    const dataq = join(project.folder, "node_modules/.bin/dataq");
    const serving = spawn(dataq, ["serve", "--json"], { env: { ...env, DATAQ_LAWS: "off" }, stdio: "pipe" });
    try {
      const { url, key, console: link } = await readiness(serving);
      await proveConsole(link, url, print);
      const asked = ["query", "research_paper_search", "query=x"];
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
    project.remove();
  }
}

function isConsole(path: string): boolean {
  return path.startsWith("console/");
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
