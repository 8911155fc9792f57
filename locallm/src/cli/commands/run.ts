import { Command } from "commander";
import { readConfig } from "../../config.ts";
import { Client, ServerError } from "../client.ts";
import { type ChatSettings, Conversation } from "../conversation.ts";
import { converse } from "../repl.ts";
import { pullModel } from "./pull.ts";

interface Options {
  keepalive?: string;
  verbose?: boolean;
  insecure?: boolean;
  format?: string;
  think?: boolean | string;
  hidethinking?: boolean;
}

export function runCommand(): Command {
  return new Command("run")
    .description("talk to a model; fetches it first if it is not here")
    .argument("<model>")
    .argument("[prompt...]", "one question; without it, and on a terminal, a conversation")
    .option("--keepalive <duration>", "how long the model stays loaded")
    .option("--verbose", "figures after each answer")
    .option("--insecure", "allow plain http when the model is fetched")
    .option("--format <format>", "json, or a JSON schema")
    .option("--think [level]", "true, false, low, medium or high")
    .option("--hidethinking", "do not show what the model thinks")
    .option("--nowordwrap", "taken for Ollama's sake; lines are never wrapped")
    .action(async (model: string, words: string[], options: Options) => {
      const client = new Client(readConfig());
      const capabilities = await present(client, model, options.insecure === true);
      const piped = process.stdin.isTTY ? "" : await readAll(process.stdin);
      const prompt = [piped, words.join(" ")].filter((text) => text !== "").join("\n");
      if (capabilities.includes("embedding")) {
        await printEmbedding(client, model, prompt);
        return;
      }
      const conversation = new Conversation(client, settings(model, options), process.stdout);
      if (prompt !== "") await conversation.ask(prompt);
      else if (process.stdin.isTTY) await converse(conversation, client);
    });
}

function settings(model: string, options: Options): ChatSettings {
  const { think } = options;
  return {
    model,
    system: null,
    options: {},
    format: readFormat(options.format),
    think:
      think === undefined
        ? null
        : think === true || think === "true"
          ? true
          : think === "false"
            ? false
            : think,
    hideThinking: options.hidethinking === true,
    keepAlive: options.keepalive ?? null,
    verbose: options.verbose === true,
  };
}

/** `json`, or a schema as text. What is neither goes to the server, which says what is wrong with it. */
function readFormat(text: string | undefined): unknown {
  if (text === undefined) return null;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** What the model can do; it is fetched where it is missing. */
async function present(client: Client, model: string, insecure: boolean): Promise<string[]> {
  const show = () => client.json<{ capabilities: string[] }>("/api/show", { body: { model } });
  try {
    return (await show()).capabilities;
  } catch (error) {
    if (!(error instanceof ServerError) || error.status !== 404) throw error;
    await pullModel(client, model, insecure);
    return (await show()).capabilities;
  }
}

async function printEmbedding(client: Client, model: string, input: string): Promise<void> {
  const { embeddings } = await client.json<{ embeddings: number[][] }>("/api/embed", {
    body: { model, input },
  });
  console.log(JSON.stringify(embeddings[0] ?? []));
}

async function readAll(input: AsyncIterable<Buffer | string>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of input) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString("utf8").trimEnd();
}
