import type { Argument, Command, Option } from "commander";

/** Completions for the last word; `files` makes the shell complete a path. */
export type Candidates = "files" | readonly Candidate[];

export interface Candidate {
  readonly value: string;
  readonly meaning: string;
}

/**
 * The completions at the end of `line`, the command line up to the cursor. Calls `models` only where the command
 * line takes a model.
 */
export async function candidatesFor(
  program: Command,
  line: string,
  models: () => Promise<readonly string[]>,
): Promise<Candidates> {
  const words = line.trimStart().split(/\s+/);
  const current = words.pop() ?? "";
  // Skip leading NAME=value assignments and the word `locallm`.
  const given = words.slice(words.findIndex((word) => !/^\w+=/.test(word)) + 1);
  const candidates = await whatFits(program, given, current, models);
  return candidates === "files" ? candidates : candidates.filter(({ value }) => value.startsWith(current));
}

async function whatFits(
  program: Command,
  given: readonly string[],
  current: string,
  models: () => Promise<readonly string[]>,
): Promise<Candidates> {
  const [verb, ...rest] = given;
  if (verb === undefined) {
    return current.startsWith("-") ? options(program) : visibleCommands(program).map(described);
  }
  if (verb === "help") return rest.length === 0 ? visibleCommands(program).map(described) : [];
  const command = visibleCommands(program).find((each) => [each.name(), ...each.aliases()].includes(verb));
  if (command === undefined) return [];
  if (command.commands.length > 0) return await whatFits(command, rest, current, models);

  let position = 0;
  let open: Option | undefined;
  for (const word of rest) {
    if (open?.required) open = undefined;
    else if (word.startsWith("-"))
      open = command.options.find((each) => isNamed(each, word) && takesValue(each));
    else if (open !== undefined) open = undefined;
    else position += 1;
  }
  if (open?.required) return open.flags.includes("<model>") ? plain(await models()) : valuesOf(open);
  const optional = open === undefined ? [] : valuesOf(open);
  if (current.startsWith("-")) return options(command);
  if (optional.length > 0) return optional;
  const argument = command.registeredArguments[position] ?? command.registeredArguments.at(-1);
  if (argument === undefined || (position >= command.registeredArguments.length && !argument.variadic))
    return [];
  return await argumentValues(argument, command, models);
}

async function argumentValues(
  argument: Argument,
  command: Command,
  models: () => Promise<readonly string[]>,
): Promise<Candidates> {
  if (argument.argChoices !== undefined) return plain(argument.argChoices);
  const isModel = ["model", "source", "prefix"].includes(argument.name()) && command.name() !== "create";
  return isModel ? plain(await models()) : [];
}

/** Returns an option's values: files for `-f <path>`, the option's choices for `--think [level]`. */
function valuesOf(option: Option): Candidates {
  if (option.argChoices !== undefined) return plain(option.argChoices);
  return /<path>|<file>/.test(option.flags) ? "files" : [];
}

function options(command: Command): Candidate[] {
  const help: Candidate = { value: "--help", meaning: "display help for command" };
  const own = command.options.filter(({ hidden }) => !hidden);
  return [
    ...own.map(({ long, short, description }) => ({ value: long ?? short ?? "", meaning: description })),
    help,
  ];
}

function visibleCommands(program: Command): readonly Command[] {
  return program.createHelp().visibleCommands(program);
}

function described(command: Command): Candidate {
  return { value: command.name(), meaning: command.description() };
}

function plain(values: readonly string[]): Candidate[] {
  return values.map((value) => ({ value, meaning: "" }));
}

function takesValue(option: Option): boolean {
  return option.required || option.optional;
}

function isNamed({ short, long }: Option, word: string): boolean {
  return word === short || word === long;
}
