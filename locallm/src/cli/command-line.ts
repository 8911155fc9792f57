import { Command, type OutputConfiguration } from "commander";
import { version } from "../version.ts";
import { LocallmError } from "../wire/errors.ts";
import { ServerError } from "./client.ts";
import { asksVersion, tellVersion } from "./commands/version.ts";
import { plain } from "./text.ts";

/** Starts error messages with a capital letter, because Commander's own messages start in lower case. */
const capitalErrors: OutputConfiguration = {
  outputError: (text, write) => write(text.replace(/^error: /, "Error: ")),
};

/** Runs the command that these words are. Prints errors and sets the exit code. */
export async function runCommandLine(words: readonly string[]): Promise<void> {
  const program = newProgram();
  try {
    if (asksVersion(words)) await tellVersion();
    else {
      await addVerbs(program, words);
      await program.parseAsync(words, { from: "user" });
    }
  } catch (error) {
    const isOurs = error instanceof LocallmError || error instanceof ServerError;
    // Errors of system calls, such as ENOENT, are readable without a stack.
    if (!isOurs && (error as NodeJS.ErrnoException).syscall === undefined) throw error;
    console.error(plain(`Error: ${(error as Error).message}`));
    if (error instanceof ServerError && error.status === 404 && error.message.startsWith("model '")) {
      console.error("`locallm list` lists the models on this machine; `locallm pull` downloads others.");
    }
    process.exitCode = 1;
  }
}

function newProgram(): Command {
  return (
    new Command("locallm")
      .configureOutput(capitalErrors)
      .description("Runs language models on this machine, behind Ollama's API and OpenAI's")
      .version(version, "-v, --version")
      // After a verb, -v is that verb's option.
      .enablePositionalOptions()
  );
}

/** The command with all verbs, of which the manual page is made. */
export async function wholeProgram(): Promise<Command> {
  const program = newProgram();
  await addVerbs(program, []);
  return program;
}

/** Loads only the typed verb: loading all takes longer than most verbs run. */
const verbs: Readonly<Record<string, () => Promise<Command>>> = {
  serve: async () => (await import("./commands/serve.ts")).serveCommand(),
  run: async () => (await import("./commands/run.ts")).runCommand(),
  pull: async () => (await import("./commands/pull.ts")).pullCommand(),
  push: async () => (await import("./commands/push.ts")).pushCommand(),
  create: async () => (await import("./commands/create.ts")).createCommand(),
  list: async () => (await import("./commands/list.ts")).listCommand(),
  ps: async () => (await import("./commands/ps.ts")).psCommand(),
  show: async () => (await import("./commands/show.ts")).showCommand(),
  cp: async () => (await import("./commands/cp.ts")).cpCommand(),
  rm: async () => (await import("./commands/rm.ts")).rmCommand(),
  stop: async () => (await import("./commands/stop.ts")).stopCommand(),
  remote: async () => (await import("./commands/remote.ts")).remoteCommand(),
  launch: async () => (await import("./commands/launch.ts")).launchCommand(),
  df: async () => (await import("./commands/df.ts")).dfCommand(),
  prune: async () => (await import("./commands/prune.ts")).pruneCommand(),
  doctor: async () => (await import("./commands/doctor.ts")).doctorCommand(),
  bench: async () => (await import("./commands/bench.ts")).benchCommand(),
  keys: async () => (await import("./commands/keys.ts")).keysCommand(),
  update: async () => (await import("./commands/update.ts")).updateCommand(),
  service: async () => (await import("./commands/service.ts")).serviceCommand(),
  signin: async () => (await import("./commands/sign-in.ts")).signInCommand(),
  signout: async () => (await import("./commands/sign-in.ts")).signOutCommand(),
  completion: async () => (await import("./commands/completion.ts")).completionCommand(),
};

/** The aliases that the commands declare. */
const aliases: Readonly<Record<string, string>> = { ls: "list", start: "serve" };

/** Adds the verb that is typed or completed, or all verbs for help or an unknown verb. */
async function addVerbs(program: Command, [typed = "", line = ""]: readonly string[]): Promise<void> {
  const isCompletion = typed === "__complete";
  const verb = isCompletion ? (verbBeforeCursor.exec(line)?.[1] ?? "") : typed;
  const asked = Object.hasOwn(aliases, verb) ? aliases[verb]! : verb;
  const loaders = Object.hasOwn(verbs, asked) ? [verbs[asked]!] : Object.values(verbs);
  for (const command of await Promise.all(loaders.map((load) => load())))
    program.addCommand(command.configureOutput(capitalErrors));
  if (!isCompletion) return;
  const { completeCommand } = await import("./commands/completion.ts");
  program.addCommand(completeCommand(), { hidden: true });
}

/** The word after `locallm` and leading assignments such as `LOCALLM_HOST=x`, once the next word has begun. */
const verbBeforeCursor = /^\s*(?:\w+=\S*\s+)*\S+\s+(\S+)\s/;
