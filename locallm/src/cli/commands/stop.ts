import { Command } from "commander";
import { readCommandConfig } from "../../config.ts";
import { abilitiesAnswer, chatLine, embedAnswer } from "../../wire/api/answers.ts";
import { Client } from "../client.ts";

export function stopCommand(): Command {
  return new Command("stop")
    .description("unload a model after its running answers")
    .argument("<model>")
    .action(async (model: string) => {
      const client = new Client(readCommandConfig());
      const { capabilities } = await client.json("/api/show", abilitiesAnswer, { body: { model } });
      const embeds = capabilities.includes("embedding");
      const body = embeds ? { model, input: [], keep_alive: 0 } : { model, keep_alive: 0, stream: false };
      if (embeds) await client.json("/api/embed", embedAnswer, { body });
      else await client.json("/api/generate", chatLine, { body });
    });
}
