import { type ChildProcess, spawnSync } from "node:child_process";
import { readFile, rm, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { assistants } from "../src/cli/assistants.ts";
import {
  type Agent,
  agents,
  createDesk,
  type Desk,
  startAgent,
  startPrinted,
} from "../test/clients/agents.ts";
import { installed, installedClients } from "../test/clients/installed.ts";
import { chatModel, clientStore } from "../test/clients/models.ts";
import { startOpenWebUi } from "../test/clients/open-webui.ts";
import { type ScriptedModel, startScriptedModel } from "../test/clients/scripted-model.ts";
import { command } from "../test/server-process.ts";

export const title = "Agents and libraries with the settings of `locallm launch`";

/**
 * PROOF_PYTHON is a Python with the libraries; PROOF_AIDER and PROOF_OPEN_WEBUI are folders with the programs aider and
 * open-webui.
 */
export const python = process.env["PROOF_PYTHON"] ?? "python3";
const folders = [process.env["PROOF_AIDER"], process.env["PROOF_OPEN_WEBUI"]].filter(
  (one) => one !== undefined,
);
export const hasOpenWebUi = process.env["PROOF_OPEN_WEBUI"] !== undefined;

const word = "kingfisher-42";

/** Python's modules and packages of the printed programs. */
export const libraries = {
  "openai-agents": ["agents", "openai-agents"],
  "pydantic-ai": ["pydantic_ai", "pydantic-ai-slim"],
  langgraph: ["langchain_ollama", "langgraph"],
  smolagents: ["smolagents", "smolagents"],
} as const;

/** Folders of the programs, and one with JavaScript clients. Null if npm's registry cannot be reached. */
export async function installedPrograms() {
  const packages = Object.fromEntries(agents.flatMap(({ npm }) => (npm === null ? [] : [npm])));
  const built = agents.flatMap(({ npm, isBuilt }) => (npm === null || !isBuilt ? [] : [npm[0]]));
  const [folder, clients] = await Promise.all([installed("all-agents", packages, built), installedClients()]);
  if (folder === null || clients === null) return null;
  return { bins: [join(folder, "node_modules", ".bin"), ...folders], clients: clients.folder };
}

export async function run(print: (line: string) => void): Promise<void> {
  const programs = await installedPrograms();
  if (programs === null) return print("skipped: npm's registry cannot be reached");
  const { bins, clients: at } = programs;
  const store = await clientStore();
  const desk = await createDesk(word);
  const model = await startScriptedModel(desk.home, store.folder);
  try {
    print(
      "| program | version | routes | asks for a stream | tool called | its result came back | creates a file | Ctrl-C ends the request | shows that a window is too small and what to do |",
    );
    print("|---|---|---|---|---|---|---|---|---|");
    const row = (...cells: string[]) => print(`| ${cells.join(" | ")} |`);
    for (const agent of agents) {
      const version = versionOf(assistants[agent.name]!.program, bins, desk);
      if (version === null) {
        row(agent.name, "not run: not installed", "", "", "", "", "", "", "");
        continue;
      }
      const start = (name?: string) =>
        startAgent(agent, model, desk, bins, name === undefined ? {} : { model: name });
      const { called, routes, code } = await read(model, desk, () => start());
      const small = start(chatModel);
      const smallCode = await within(small, 90_000);
      const said = small.stdout() + small.stderr();
      row(
        agent.name,
        version,
        routes.join(", "),
        yes(called.isStreamed && code === 0),
        agent.callsTools ? (called.tool ?? "none") : "has none",
        agent.callsTools ? yes(called.result?.includes(word)) : "",
        await creates(agent, model, desk, bins),
        await cut(model, () => start()),
        smallCode === 0 ? "its prompt fits" : tooLong.test(said) ? "yes" : "only launch does",
      );
    }
    const library = async (
      name: string,
      version: string,
      startOf: (path: string, text: string) => Started,
    ) => {
      const { out } = await command(["launch", name, "--model", "scripted"], {
        LOCALLM_HOST: model.server.url,
      });
      // smolagents reads its own source, so the program is a file.
      const path = join(desk.work, "printed.py");
      await writeFile(path, out);
      const start = () => startOf(path, out);
      const { called, routes, code } = await read(model, desk, start);
      const isBack = called.result?.includes("21 degrees");
      const tool = called.tool ?? "none";
      row(
        ...[name, version, routes.join(", "), yes(called.isStreamed && code === 0), tool, yes(isBack), ""],
        await cut(model, start),
        "",
      );
    };
    const { version } = JSON.parse(await readFile(join(at, "node_modules/ai/package.json"), "utf8"));
    await library("ai-sdk", version, (_, text) =>
      startPrinted(process.execPath, ["--input-type=module"], at, text),
    );
    for (const [name, [module, distribution]] of Object.entries(libraries)) {
      const version = pythonVersion(module, distribution);
      if (version === null) row(name, "not run: not installed", "", "", "", "", "", "", "");
      else await library(name, version, (path) => startPrinted(python, [path], desk.work));
    }
    if (hasOpenWebUi) for (const cells of await openWebUi(model, desk, bins)) row(...cells);
    else row("open-webui", "not run: not installed", "", "", "", "", "", "", "");
  } finally {
    await model.stop();
    await store.remove();
    await desk.remove();
  }
}

export interface Started {
  readonly child: ChildProcess;
  readonly exited: Promise<{ code: number | null }>;
  readonly stdout: () => string;
  readonly stderr: () => string;
}

/** Sends a signal to the program and all that it started, as a terminal does. */
function signal({ child }: Started, name: "SIGINT" | "SIGKILL"): void {
  if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid!, name);
}

/** Lets the program read the file, and tells which routes it used. */
async function read(model: ScriptedModel, desk: Desk, start: () => Started) {
  const called = model.reads(desk.note);
  const before = model.server.log.length;
  const started = start();
  const code = await within(started, 120_000);
  if (code !== 0) console.error(started.stdout(), started.stderr());
  return { called, code, routes: routesSince(model, before) };
}

function routesSince({ server }: ScriptedModel, before: number): string[] {
  const asked = server.log.slice(before).filter(({ msg }) => msg === "request");
  const all = asked.map(({ method, route }) => `${method} ${route}`);
  return [...new Set(all)].filter((route) => !ofLaunch.has(route));
}

/** A small task from end to end: the program is asked for a file, and the file must be there with its text. */
async function creates(agent: Agent, model: ScriptedModel, desk: Desk, bins: readonly string[]) {
  const path = join(desk.work, "greeting.txt");
  const text = "Good morning from a heron";
  await rm(path, { force: true });
  model.writes(path, text);
  const asked = `Create the file greeting.txt with the text: ${text}`;
  const code = await within(startAgent(agent, model, desk, bins, { asked }), 120_000);
  const found = await readFile(path, "utf8").catch(() => null);
  return yes(code === 0 && found?.trim() === text);
}

/** A row for each of its connections. */
async function openWebUi(model: ScriptedModel, desk: Desk, bins: readonly string[]): Promise<string[][]> {
  const webUi = await startOpenWebUi(model.server.url, desk, bins);
  try {
    await webUi.connects(model.server.url, "locallm");
    const names = await webUi.names();
    const rows = [];
    for (const name of ["scripted:latest", "ollama.scripted:latest"]) {
      if (!names.includes(name)) throw new Error(`Open WebUI does not list ${name}: ${names.join(", ")}`);
      const called = model.reads(desk.note);
      const before = model.server.log.length;
      const shown = await (await webUi.asks(name, "How warm is it in Oslo?")).shown();
      const { asked, closed } = model.hangs();
      const routes = routesSince(model, before);
      const chat = await webUi.asks(name, "Tell a long story.");
      await asked;
      await chat.stop();
      const isClosed = await Promise.race([closed.then(() => true), after(20_000)]);
      rows.push([
        ...["open-webui", await webUi.version(), routes.join(", "), yes(called.isStreamed)],
        ...[called.tool ?? "none", yes(shown.includes("21 degrees")), "", yes(isClosed), ""],
      ]);
    }
    return rows;
  } finally {
    await webUi.stop();
  }
}

/** What `locallm launch` itself asks for. */
const ofLaunch: ReadonlySet<string> = new Set(["POST /api/show", "POST /api/generate", "GET /api/ps"]);

/** What the server answers to a prompt that does not fit. */
export const tooLong = /prompt is too long: \d+ tokens exceed .*; shorten it, or use /s;

/** Interrupts the program during an answer. */
async function cut(model: ScriptedModel, start: () => Started): Promise<string> {
  const { asked, closed } = model.hangs();
  const started = start();
  await Promise.race([asked, started.exited]);
  signal(started, "SIGINT");
  const isClosed = await Promise.race([closed.then(() => true), after(20_000)]);
  await within(started, isClosed ? 20_000 : 0);
  if (isClosed) return "yes";
  return (await Promise.race([closed.then(() => true), after(20_000)])) ? "only when it is killed" : "no";
}

/** The exit code; null if the program had to be stopped. */
export async function within(started: Started, limitMs: number): Promise<number | null> {
  const stop = setTimeout(() => signal(started, "SIGKILL"), limitMs);
  const { code } = await started.exited;
  clearTimeout(stop);
  return code;
}

async function after(ms: number): Promise<false> {
  await new Promise((resolve) => setTimeout(resolve, ms).unref());
  return false;
}

export function yes(is: boolean | undefined): string {
  return is === true ? "yes" : "no";
}

/** What the program says; packages of npm may have another version than the program in them. */
function versionOf(program: string, bins: readonly string[], { home }: Desk): string | null {
  const PATH = [...bins, process.env["PATH"]].join(delimiter);
  const env = { ...process.env, HOME: home, PATH };
  const { status, stdout } = spawnSync(program, ["--version"], { encoding: "utf8", env });
  return status === 0 ? (/\d+\.\d+\.\d+/.exec(stdout)?.[0] ?? null) : null;
}

function pythonVersion(module: string, distribution: string): string | null {
  const script = `import importlib.metadata, ${module}; print(importlib.metadata.version("${distribution}"))`;
  const { status, stdout } = spawnSync(python, ["-c", script], { encoding: "utf8" });
  return status === 0 ? stdout.trim() : null;
}
