import type { Command } from "commander";

/** A setting of the environment. */
export interface ManualSetting {
  readonly variable: string;
  readonly value: string;
  readonly meaning: string;
}

/** The manual page in section 1, made of the same descriptions that `--help` prints. The time is that of the release. */
export function manualPage(program: Command, settings: readonly ManualSetting[], time: Date): string {
  const name = program.name();
  const day = time.toISOString().slice(0, 10);
  const lines = [
    `.TH ${name.toUpperCase()} 1 ${day} "${name} ${program.version() ?? ""}"`,
    // Long names of settings leave lines that cannot be stretched to both margins.
    ".ad l",
    ".SH NAME",
    `${name} \\- ${plain(program.description())}`,
    ".SH SYNOPSIS",
    `.B ${name}`,
    plain(usageOf(program)),
    ".SH OPTIONS",
    ...optionsOf(program),
    ".SH COMMANDS",
    ...commandsOf(program).flatMap((command) => section(command, name)),
    ".SH ENVIRONMENT",
    ...settings.flatMap(({ variable, value, meaning }) =>
      item(bold(variable), `${meaning}${value === "" ? "" : ` (${value})`}`),
    ),
  ];
  return `${lines.join("\n")}\n`;
}

function section(command: Command, above: string): string[] {
  const path = `${above} ${command.name()}`;
  return [
    `.SS ${bold(path)} ${plain(usageOf(command))}`,
    plain(command.description()),
    ...command
      .createHelp()
      .visibleArguments(command)
      .filter(({ description }) => description !== "")
      .flatMap((argument) => item(italic(argument.name()), argument.description)),
    ...optionsOf(command),
    ...commandsOf(command).flatMap((below) => section(below, path)),
  ];
}

/** Without `help`, which Commander adds to every command that has others. */
export function commandsOf(command: Command): Command[] {
  return command
    .createHelp()
    .visibleCommands(command)
    .filter((each) => each.name() !== "help");
}

function optionsOf(command: Command): string[] {
  const help = command.createHelp();
  return help
    .visibleOptions(command)
    .flatMap((option) => item(bold(help.optionTerm(option)), help.optionDescription(option)));
}

function usageOf(command: Command): string {
  return command.usage();
}

function item(term: string, meaning: string): string[] {
  return [".TP", term, plain(meaning)];
}

function bold(text: string): string {
  return `\\fB${plain(text)}\\fR`;
}

function italic(text: string): string {
  return `\\fI${plain(text)}\\fR`;
}

/** Text that troff prints as it is: a backslash, a hyphen, and a dot or a quotation mark at the start of a line mean something there. */
function plain(text: string): string {
  return text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replaceAll(
      /[^\0-\x7f]/gu,
      (character) => `\\[u${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}]`,
    )
    .replaceAll(/^(?=[.'])/gm, "\\&");
}
