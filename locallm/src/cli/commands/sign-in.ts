import { Command } from "commander";
import { readCommandConfig } from "../../config.ts";
import { LocallmError } from "../../wire/errors.ts";

/** Ollama signs in to ollama.com. locallm has no accounts; credentials for registries are in a file. */
export function signInCommand(): Command {
  return new Command("signin")
    .description("locallm has no accounts: explains where to put registry credentials")
    .action(() => {
      const { credentialsFile: file } = readCommandConfig();
      throw new LocallmError("no_accounts", {
        instead: `for a registry that requires credentials, write {"HOST": {"token": "…"}} or {"HOST": {"username": "…", "password": "…"}} to ${file} and make it readable only by you (chmod 600)`,
      });
    });
}

export function signOutCommand(): Command {
  return new Command("signout")
    .description("locallm has no accounts: explains how to remove registry credentials")
    .action(() => {
      const { credentialsFile: file } = readCommandConfig();
      throw new LocallmError("no_accounts", {
        instead: `to remove a registry's credentials, delete its entry from ${file}`,
      });
    });
}
