import { spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { launch } from "../server-process.ts";
import type { ScriptedModel } from "./scripted-model.ts";

/** A program that `locallm launch` starts, and how to ask it one question without a terminal. */
export interface Agent {
  readonly name: string;
  /** The npm package and its version. Null: the program comes from elsewhere. */
  readonly npm: readonly [name: string, version: string] | null;
  /** Whether its install script must run. */
  readonly isBuilt?: true;
  parameters(question: string): readonly string[];
  readonly callsTools: boolean;
  /** Whether it is small and quick enough for each test run; `npm run proof -- agents` runs all. */
  readonly isQuick: boolean;
}

export const question = "What does note.txt say?";

export const agents: readonly Agent[] = [
  {
    name: "claude",
    npm: ["@anthropic-ai/claude-code", "2.1.332"],
    isBuilt: true,
    parameters: (question) => ["-p", question, "--allowedTools", "Read,Write"],
    callsTools: true,
    isQuick: true,
  },
  {
    name: "codex",
    npm: ["@openai/codex", "0.171.0"],
    parameters: (question) => [
      "exec",
      "--skip-git-repo-check",
      "--dangerously-bypass-approvals-and-sandbox",
      question,
    ],
    callsTools: true,
    isQuick: true,
  },
  {
    name: "continue",
    npm: ["@continuedev/cli", "1.5.47"],
    parameters: (question) => ["-p", question, "--auto"],
    callsTools: true,
    isQuick: true,
  },
  {
    name: "qwen",
    npm: ["@qwen-code/qwen-code", "0.24.4"],
    parameters: (question) => ["-p", question, "--yolo"],
    callsTools: true,
    isQuick: true,
  },
  {
    name: "opencode",
    npm: ["opencode-ai", "1.18.33"],
    isBuilt: true,
    parameters: (question) => ["run", question],
    callsTools: true,
    isQuick: false,
  },
  {
    name: "aider",
    npm: null,
    parameters: (question) => [
      ...["--no-git", "--yes-always", "--no-check-update", "--no-analytics"],
      ...["--message", question],
    ],
    callsTools: false,
    isQuick: false,
  },
];

/** A home and a working folder of its own, so that a program finds no settings of this machine. */
export async function createDesk(word: string) {
  const folder = await mkdtemp(join(tmpdir(), "locallm-agent-"));
  const home = join(folder, "home");
  const work = join(folder, "work");
  const note = join(work, "note.txt");
  await Promise.all([mkdir(home), mkdir(work)]);
  await writeFile(note, `The word is ${word}.\n`);
  return { home, work, note, remove: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }) };
}

export type Desk = Awaited<ReturnType<typeof createDesk>>;

/** Programs find these settings instead of those of the person who runs the tests. */
export function deskEnvironment(desk: Desk, bins: readonly string[]): Record<string, string> {
  return {
    HOME: desk.home,
    XDG_CONFIG_HOME: join(desk.home, ".config"),
    LOCALLM_CREDENTIALS: join(desk.home, "credentials.json"),
    // OpenCode believes this more than the working folder.
    PWD: desk.work,
    PATH: [...bins, process.env["PATH"]].join(delimiter),
    TERM: "dumb",
  };
}

interface Start {
  readonly model?: string;
  readonly asked?: string;
  readonly environment?: Readonly<Record<string, string>>;
}

/** Starts the program as a user does: by `locallm launch` in the working folder. */
export function startAgent(
  { name, parameters }: Agent,
  { server }: Pick<ScriptedModel, "server">,
  desk: Desk,
  bins: readonly string[],
  { model = "scripted", asked = question, environment = {} }: Start = {},
) {
  const settings = { ...environment, ...deskEnvironment(desk, bins), LOCALLM_HOST: server.url };
  const words = ["launch", name, "--model", model, "--", ...parameters(asked)];
  return launch(words, settings, { folder: desk.work, isGroup: true });
}

/** Runs a program that `locallm launch` printed. `text` is its standard input. */
export function startPrinted(
  program: string,
  parameters: readonly string[],
  folder: string,
  text = "",
  environment: Readonly<Record<string, string>> = {},
) {
  const env = { ...process.env, ...environment };
  const child = spawn(program, parameters, { cwd: folder, detached: true, stdio: "pipe", env });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (part: string) => {
    stdout += part;
  });
  child.stderr.setEncoding("utf8").on("data", (part: string) => {
    stderr += part;
  });
  // A program that refuses at once does not read what it is sent.
  child.stdin.on("error", () => undefined);
  child.stdin.end(text);
  const exited = new Promise<{ code: number | null }>((resolve) => {
    child.once("close", (code) => resolve({ code }));
  });
  return { child, exited, stdout: () => stdout, stderr: () => stderr };
}
