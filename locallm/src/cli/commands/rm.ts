import { Command } from "commander";
import { readCommandConfig } from "../../config.ts";
import { Client } from "../client.ts";
import { plain } from "../text.ts";

export function rmCommand(): Command {
  return new Command("rm")
    .description("remove models; running answers finish first")
    .argument("<model...>")
    .action(async (models: string[]) => {
      const client = new Client(readCommandConfig());
      for (const model of models) {
        await client.done("/api/delete", { method: "DELETE", body: { model } });
        console.log(plain(`deleted '${model}'`));
      }
    });
}
