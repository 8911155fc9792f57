import { spawn } from "node:child_process";
import { constants } from "node:os";
import { Argument, Command } from "commander";
import { readCommandConfig } from "../../config.ts";
import { abilitiesAnswer, chatLine, psAnswer, tagsAnswer } from "../../wire/api/answers.ts";
import { counted } from "../../wire/counted.ts";
import { LocallmError } from "../../wire/errors.ts";
import { displayModelName, requireModelName } from "../../wire/model-name.ts";
import { type Assistant, assistants, type Wiring } from "../assistants.ts";
import { Client } from "../client.ts";
import { plain, table } from "../text.ts";
import { present } from "./run.ts";

interface Options {
  model?: string;
  config?: boolean;
}

export function launchCommand(): Command {
  return new Command("launch")
    .description("start a coding assistant that uses a local model; without a name, list the assistants")
    .addArgument(new Argument("[program]").choices(Object.keys(assistants)).argParser(String))
    .argument("[parameters...]", "the assistant's own parameters, after --")
    .option("--model <model>", "the model (default: the newest suitable one)")
    .option("--config", "print the variables and the command line without starting anything")
    .addHelpText("after", "\nExample: locallm launch codex --model qwen3:8b -- exec 'explain this folder'")
    .action(async (name: string | undefined, parameters: string[], options: Options) => {
      if (name === undefined) console.log(list());
      else await launch(assistantNamed(name), parameters, options);
    });
}

function list(): string {
  const rows = Object.entries(assistants).map(([name, { title, install }]) => [name, title, install]);
  return table(["NAME", "PROGRAM", "INSTALL WITH"], rows);
}

function assistantNamed(name: string): Assistant {
  const known = Object.keys(assistants).join(", ");
  const found = Object.hasOwn(assistants, name) ? assistants[name] : undefined;
  if (found === undefined) throw new LocallmError("assistant_unknown", { name, known });
  return found;
}

async function launch(assistant: Assistant, given: string[], options: Options): Promise<void> {
  const config = readCommandConfig();
  const client = new Client(config);
  const { title, program } = assistant;
  const model =
    options.model === undefined
      ? await newestFor(assistant, client)
      : await fetched(options.model, assistant, client);
  const isStarting = options.config !== true;
  const window =
    (isStarting && assistant.needsTools) || assistant.needsWindow ? await loadedWindow(model, client) : null;
  const contextLength = window?.tokens ?? null;
  const wired = { url: client.url, apiKey: client.apiKey, model, contextLength };
  const { environment, parameters } = assistant.wiring(wired);
  const wiring = { environment, parameters: [...parameters, ...given] };
  if (!isStarting) {
    console.log(asScript(program, wiring));
    return;
  }
  console.error(plain(`${title} works with ${model}`));
  if (window !== null && window.tokens < usefulWindow) console.error(smallWindow(window, title));
  process.exitCode = await start(assistant, wiring);
}

/** Throws `unsupported_capability` if the model cannot do what the program needs. */
async function fetched(reference: string, assistant: Assistant, client: Client): Promise<string> {
  const { name, capabilities } = await present(reference, client, readCommandConfig(), false);
  const needed = neededBy(assistant);
  if (!capabilities.includes(needed))
    throw new LocallmError("unsupported_capability", { model: name, capability: needed });
  return displayModelName(requireModelName(name));
}

async function newestFor(assistant: Assistant, client: Client): Promise<string> {
  const { models } = await client.json("/api/tags", tagsAnswer);
  const needed = neededBy(assistant);
  for (const { name } of models) {
    const shown = await client
      .json("/api/show", abilitiesAnswer, { body: { model: name } })
      .catch(() => null);
    if (shown?.capabilities.includes(needed)) return name;
  }
  const field = "--model";
  const problem = `is required: no local model has what ${assistant.title} needs (${needed})`;
  throw new LocallmError("invalid_field", { field, problem });
}

function neededBy({ needsTools }: Assistant): string {
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
