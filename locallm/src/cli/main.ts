#!/usr/bin/env node
import { Command } from "commander";
import { version } from "../server.ts";
import { LocallmError } from "../wire/errors.ts";
import { serveCommand } from "./commands/serve.ts";

const program = new Command("locallm")
  .description("Runs language models on this machine, behind Ollama's API and OpenAI's")
  .version(version, "-v, --version")
  .addCommand(serveCommand());

try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof LocallmError)) throw error;
  console.error(`Error: ${error.message}`);
  process.exitCode = 1;
}
