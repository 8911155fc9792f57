import { Command } from "commander";
import { readCommandConfig } from "../../config.ts";
import { Client } from "../client.ts";
import { plain } from "../text.ts";

export function cpCommand(): Command {
  return new Command("cp")
    .description("copy a model to a new name")
    .argument("<source>")
    .argument("<destination>")
    .action(async (source: string, destination: string) => {
      await new Client(readCommandConfig()).done("/api/copy", { body: { source, destination } });
      console.log(plain(`copied '${source}' to '${destination}'`));
    });
}
