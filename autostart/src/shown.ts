import type { Command, Registration } from "./registration.ts";

/** A command as a user can paste it: into sh, or into cmd.exe and PowerShell. */
export function shownCommand(command: Command, manager: Registration["manager"]): string {
  return command.map((word) => shownWord(word, manager)).join(" ");
}

export function shownWord(word: string, manager: Registration["manager"]): string {
  if (/^[\w@%+=:,./\\-]+$/.test(word)) return word;
  // On Windows no path contains a quotation mark.
  return manager === "the Task Scheduler" ? `"${word}"` : `'${word.replaceAll("'", "'\\''")}'`;
}
