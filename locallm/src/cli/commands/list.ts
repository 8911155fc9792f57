import { Command } from "commander";
import { readConfig } from "../../config.ts";
import { Client } from "../client.ts";
import { humanBytes, humanTime, table } from "../text.ts";

interface Listed {
  name: string;
  digest: string;
  size: number;
  modified_at: string;
}

export function listCommand(): Command {
  return new Command("list")
    .alias("ls")
    .description("list the models on this machine")
    .argument("[prefix]", "only names that begin so")
    .action(async (prefix: string | undefined) => {
      const { models } = await new Client(readConfig()).json<{ models: Listed[] }>("/api/tags");
      const wanted = (prefix ?? "").toLowerCase();
      const now = new Date();
      const rows = models
        .filter(({ name }) => name.toLowerCase().startsWith(wanted))
        .map(({ name, digest, size, modified_at }) => [
          name,
          digest.slice(0, 12),
          humanBytes(size),
          humanTime(new Date(modified_at), now),
        ]);
      console.log(table(["NAME", "ID", "SIZE", "MODIFIED"], rows));
    });
}
