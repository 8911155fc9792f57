import { Command } from "commander";
import { readCommandConfig } from "../../config.ts";
import { tagsAnswer } from "../../wire/api/answers.ts";
import { Client } from "../client.ts";
import { humanBytes, humanTime, plain, table } from "../text.ts";

export function listCommand(): Command {
  return new Command("list")
    .alias("ls")
    .description("list the models on this machine")
    .argument("[prefix]", "list only names with this prefix")
    .action(async (prefix: string | undefined) => {
      console.log(await listModels(new Client(readCommandConfig()), prefix));
    });
}

/** A table of the models whose names start with `prefix`. Prints damaged models to standard error. */
export async function listModels(client: Client, prefix = ""): Promise<string> {
  const { models, damaged = [] } = await client.json("/api/tags", tagsAnswer);
  for (const { name, error } of damaged) console.error(plain(`${name} is damaged: ${error}`));
  const now = new Date();
  const rows = models
    .filter(({ name }) => name.toLowerCase().startsWith(prefix.toLowerCase()))
    .map(({ name, digest, size, modified_at, remote_host }) => [
      name,
      digest.slice(0, 12),
      // Like Ollama: a remote model has no weights here.
      remote_host === undefined ? humanBytes(size) : "-",
      humanTime(new Date(modified_at), now),
    ]);
  return table(["NAME", "ID", "SIZE", "MODIFIED"], rows);
}
