import { Command } from "commander";
import { readCommandConfig } from "../../config.ts";
import { Client } from "../client.ts";
import { progressView } from "../progress.ts";

export function pushCommand(): Command {
  return new Command("push")
    .description("send a model to the registry that its name says")
    .argument("<model>")
    .option("--insecure", "allow plain http")
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
