import { Command } from "commander";
import { readCommandConfig } from "../../config.ts";
import { Client } from "../client.ts";
import { progressView } from "../progress.ts";

export function pushCommand(): Command {
  return new Command("push")
    .description("upload a model to the registry in its name")
    .argument("<model>")
    .option("--insecure", "allow unencrypted HTTP")
    .action(async (model: string, { insecure = false }: { insecure?: boolean }) => {
      const view = progressView(process.stderr);
      try {
        const client = new Client(readCommandConfig());
        for await (const line of client.progress("/api/push", { model, insecure })) {
          view.show(line);
        }
      } finally {
        view.end();
      }
    });
}
