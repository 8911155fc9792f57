import { Command } from "commander";
import { readCommandConfig } from "../../config.ts";
import { LocallmError } from "../../wire/errors.ts";

/** Ollama's verb for an account with its vendor. Here nobody has one; registries know people by a file. */
export function signInCommand(): Command {
  return new Command("signin")
    .description("there are no accounts: says where registries' passwords and tokens stand")
    .action(() => {
      const { credentialsFile: file } = readCommandConfig();
      throw new LocallmError("no_accounts", {
        instead: `for a registry that wants to know you, write {"HOST": {"token": "…"}} or {"HOST": {"username": "…", "password": "…"}} into ${file} and let nobody else read it (chmod 600)`,
      });
    });
}

export function signOutCommand(): Command {
  return new Command("signout")
    .description("there are no accounts: says how a registry is forgotten")
    .action(() => {
      const { credentialsFile: file } = readCommandConfig();
      throw new LocallmError("no_accounts", {
        instead: `to forget a registry, remove its entry from ${file}`,
      });
    });
}
