import { Command } from "commander";
import { readCommandConfig } from "../../config.ts";
import { abilitiesAnswer, chatLine, embedAnswer, rerankAnswer } from "../../wire/api/answers.ts";
import { Client } from "../client.ts";

export function stopCommand(): Command {
  return new Command("stop")
    .description("unload a model after its running answers")
    .argument("<model>")
    .action(async (model: string) => {
      const client = new Client(readCommandConfig());
      const { capabilities } = await client.json("/api/show", abilitiesAnswer, { body: { model } });
      const unload = { model, keep_alive: 0 };
      if (capabilities.includes("embedding"))
        await client.json("/api/embed", embedAnswer, { body: { ...unload, input: [] } });
      else if (capabilities.includes("rerank"))
        await client.json("/api/rerank", rerankAnswer, { body: { ...unload, query: "", documents: [] } });
      else await client.json("/api/generate", chatLine, { body: { ...unload, stream: false } });
    });
}
