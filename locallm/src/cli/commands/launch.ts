import { spawn } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { constants } from "node:os";
import { join } from "node:path";
import { Argument, Command } from "commander";
import { readCommandConfig } from "../../config.ts";
import { abilitiesAnswer, chatLine, psAnswer, tagsAnswer } from "../../wire/api/answers.ts";
import { counted } from "../../wire/counted.ts";
import { LocallmError } from "../../wire/errors.ts";
import { displayModelName, requireModelName } from "../../wire/model-name.ts";
import { type Assistant, assistants, type Wiring } from "../assistants.ts";
import { Client } from "../client.ts";
import { type Snippet, snippets } from "../snippets.ts";
import { plain, table } from "../text.ts";
import { present } from "./run.ts";

interface Options {
  model?: string;
  config?: boolean;
  print?: boolean;
}

/** Of the small models that call tools, the one to name to somebody who has none. */
const smallModelWithTools = "qwen3:1.7b";

export function launchCommand(): Command {
  return new Command("launch")
    .description(
      "start a coding assistant that uses a local model, or print the settings of a library; without a name, list them",
    )
    .addArgument(new Argument("[program]").choices([...programs, ...libraries]).argParser(String))
    .argument("[parameters...]", "the assistant's own parameters, after --")
    .option("--model <model>", "the model (default: the newest suitable one)")
    .option("--config", "print the variables and the command line without starting anything")
    .option("--print", "the same as --config")
    .addHelpText("after", "\nExample: locallm launch codex --model qwen3:8b -- exec 'explain this folder'")
    .action(async (name: string | undefined, parameters: string[], options: Options) => {
      if (name === undefined) console.log(list());
      else if (Object.hasOwn(snippets, name)) await printSnippet(snippets[name]!, options);
      else await launch(assistantNamed(name), parameters, options);
    });
}

const programs = Object.keys(assistants);
const libraries = Object.keys(snippets);

function list(): string {
  const rows = (all: Readonly<Record<string, { title: string; install: string }>>) =>
    Object.entries(all).map(([name, { title, install }]) => [name, title, install]);
  return [
    table(["NAME", "PROGRAM", "INSTALL WITH"], rows(assistants)),
    table(["NAME", "PRINTS SETTINGS OF", "INSTALL WITH"], rows(snippets)),
  ].join("\n\n");
}

function assistantNamed(name: string): Assistant {
  const known = [...programs, ...libraries].join(", ");
  const found = Object.hasOwn(assistants, name) ? assistants[name] : undefined;
  if (found === undefined) throw new LocallmError("assistant_unknown", { name, known });
  return found;
}

async function printSnippet(snippet: Snippet, options: Options): Promise<void> {
  const client = new Client(readCommandConfig());
  const model = await chosenModel({ ...snippet, needsTools: true }, client, options);
  process.stdout.write(snippet.text({ url: client.url, model }));
}

async function launch(assistant: Assistant, given: string[], options: Options): Promise<void> {
  const config = readCommandConfig();
  const client = new Client(config);
  const { title, program } = assistant;
  const model = await chosenModel(assistant, client, options);
  const isStarting = !(options.config || options.print);
  const window =
    (isStarting && assistant.needsTools) || assistant.needsWindow ? await loadedWindow(model, client) : null;
  const contextLength = window?.tokens ?? null;
  const wired = { url: client.url, apiKey: client.apiKey, model, contextLength };
  const { environment, parameters, file } = assistant.wiring(wired);
  const settings = file === undefined ? [] : [file.option, await written(file, config.launchFolder)];
  const wiring = { environment, parameters: [...settings, ...parameters, ...given] };
  if (!isStarting) {
    console.log(asScript(program, wiring));
    return;
  }
  console.error(plain(`${title} works with ${model}`));
  if (window !== null && window.tokens < usefulWindow) console.error(smallWindow(window, title));
  process.exitCode = await start(assistant, wiring);
}

/** Writes a file of ours and returns its path. */
async function written({ name, text }: { name: string; text: string }, folder: string): Promise<string> {
  const path = join(folder, name);
  await mkdir(folder, { recursive: true });
  await writeFile(path, text);
  return path;
}

type User = Pick<Assistant, "title" | "needsTools">;

async function chosenModel(user: User, client: Client, { model }: Options): Promise<string> {
  return model === undefined ? await newestFor(user, client) : await fetched(model, user, client);
}

/** Throws if the model cannot do what the program needs. */
async function fetched(reference: string, user: User, client: Client): Promise<string> {
  const { name, capabilities } = await present(reference, client, readCommandConfig(), false);
  if (!capabilities.includes(neededBy(user))) throw unsuitable(user, `"${name}" does not do that`);
  return displayModelName(requireModelName(name));
}

async function newestFor(user: User, client: Client): Promise<string> {
  const { models } = await client.json("/api/tags", tagsAnswer);
  const needed = neededBy(user);
  for (const { name } of models) {
    const shown = await client
      .json("/api/show", abilitiesAnswer, { body: { model: name } })
      .catch(() => null);
    if (shown?.capabilities.includes(needed)) return name;
  }
  throw unsuitable(user, "no model here does that");
}

function unsuitable({ title, needsTools }: User, problem: string): LocallmError {
  const ability = needsTools ? "calls tools" : "writes text";
  return new LocallmError("assistant_needs_model", { title, ability, problem, small: smallModelWithTools });
}

function neededBy({ needsTools }: User): string {
  return needsTools ? "tools" : "completion";
}

/** The system prompts of these programs take 10,000 tokens and more. */
const usefulWindow = 32_768;

interface LargestWindow {
  readonly tokens: number;
  /** Why the window cannot grow further. Null if it does not grow. */
  readonly limitedBy: string | null;
}

/** Loads the model, so that load errors appear here. Returns null if the model is unloaded at once. */
async function loadedWindow(model: string, client: Client): Promise<LargestWindow | null> {
  await client.json("/api/generate", chatLine, { body: { model, stream: false } });
  const { models, explain } = await client.json("/api/ps?explain", psAnswer);
  const tokens = models.find(({ name }) => name === model)?.context_length;
  if (tokens === undefined) return null;
  const { context_limit, context_limit_why } = explain?.loaded?.find((one) => one.model === model) ?? {};
  return { tokens: context_limit ?? tokens, limitedBy: context_limit_why ?? null };
}

function smallWindow({ tokens, limitedBy }: LargestWindow, title: string): string {
  const advice =
    limitedBy === null
      ? "Start the server with LOCALLM_CONTEXT_LENGTH=auto."
      : `It cannot grow: ${limitedBy}.`;
  return `The context window has ${counted(tokens, "token")}, but ${title} needs about ${usefulWindow}. ${advice}`;
}

/** Prints a shell script, for POSIX shells or for PowerShell on Windows. */
function asScript(program: string, { environment, parameters }: Wiring): string {
  const isWindows = process.platform === "win32";
  const quoted = (text: string) => `'${text.replaceAll("'", isWindows ? "''" : "'\\''")}'`;
  const bare = (text: string) => (/^[\w@%+=:,./-]+$/.test(text) ? text : quoted(text));
  const variables = Object.entries(environment).map(([name, value]) =>
    isWindows ? `$env:${name} = ${quoted(value)}` : `export ${name}=${quoted(value)}`,
  );
  return [...variables, [program, ...parameters.map(bare)].join(" ")].join("\n");
}

/** Runs the program on this terminal and returns its exit code. */
async function start({ program, install }: Assistant, { environment, parameters }: Wiring): Promise<number> {
  // On Windows, npm installs programs as shell scripts.
  const [first, ...before] =
    process.platform === "win32" ? ["cmd.exe", "/d", "/s", "/c", program] : [program];
  const child = spawn(first ?? program, [...before, ...parameters], {
    stdio: "inherit",
    // biome-ignore lint/style/noProcessEnv: passed to the child, not read
    env: { ...process.env, ...environment },
  });
  // The terminal sends Ctrl-C to the child too, which decides what to do with it.
  process.on("SIGINT", () => {});
  for (const signal of ["SIGTERM", "SIGHUP"] as const) process.on(signal, () => child.kill(signal));
  return await new Promise<number>((resolve, reject) => {
    child.once("exit", (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)));
    child.once("error", (cause: NodeJS.ErrnoException) =>
      reject(
        cause.code === "ENOENT"
          ? new LocallmError("assistant_missing", { program, install }, { cause })
          : cause,
      ),
    );
  });
}
