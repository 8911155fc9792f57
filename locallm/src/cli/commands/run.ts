import { Command } from "commander";
import { type CommandConfig, readCommandConfig } from "../../config.ts";
import { abilitiesAnswer, embedAnswer } from "../../wire/api/answers.ts";
import { LocallmError } from "../../wire/errors.ts";
import { Client, ServerError } from "../client.ts";
import { type ChatSettings, Conversation, readFormat, readSwitch } from "../conversation.ts";
import { type Senses, sensesOf } from "../picture-paths.ts";
import { converse } from "../repl.ts";
import { pullModel, source } from "./pull.ts";

interface Options {
  keepalive?: string;
  verbose?: boolean;
  insecure?: boolean;
  format?: string;
  think?: boolean | string;
  hidethinking?: boolean;
  nowordwrap?: boolean;
  truncate?: string;
  dimensions?: string;
}

export function runCommand(): Command {
  return new Command("run")
    .description("chat with a model; downloads it first if it is missing")
    .argument("[model]")
    .argument("[prompt...]", "a single question; without it, on a terminal, start a conversation")
    .option("--keepalive <duration>", "how long the model stays loaded")
    .option("--verbose", "show timings after each answer")
    .option("--insecure", "allow unencrypted HTTP when downloading the model")
    .option("--format <format>", "json, or a JSON schema")
    .option("--think [level]", "true, false, low, medium or high")
    .option("--hidethinking", "hide the model's thinking")
    .option("--nowordwrap", "do not wrap lines between words on a terminal")
    .option(
      "--truncate <boolean>",
      "embedding models: whether to truncate a text that is too long; false rejects it",
    )
    .option("--dimensions <count>", "embedding models: length of the vector")
    .action(async (first: string | undefined, rest: string[], given: Options, command: Command) => {
      const { model, words, options } = modelFirst(first, rest, given);
      if (model === undefined) command.error("Error: missing required argument 'model'");
      await run(model, words, options);
    });
}

/** Handles `run --think smollm2 hello`: if the word after --think is not a level, it is the model. */
function modelFirst(first: string | undefined, rest: string[], options: Options) {
  const { think } = options;
  if (typeof think !== "string" || thinkLevels.has(think)) return { model: first, words: rest, options };
  const words = first === undefined ? [] : [first, ...rest];
  return { model: think, words, options: { ...options, think: true } };
}

const thinkLevels: ReadonlySet<string> = new Set(["true", "false", "low", "medium", "high", "max"]);

async function run(reference: string, words: string[], options: Options): Promise<void> {
  const config = readCommandConfig();
  const client = new Client(config);
  const { name: model, capabilities } = await present(reference, client, config, options.insecure === true);
  const piped = process.stdin.isTTY ? "" : await readAll(process.stdin);
  const prompt = [piped, words.join(" ")].filter((text) => text !== "").join("\n");
  if (capabilities.includes("embedding")) {
    await printEmbedding(client, model, prompt, options);
    return;
  }
  if (capabilities.includes("rerank")) {
    throw new LocallmError("unsupported_capability", {
      model,
      capability: "answers in words: it ranks documents; send a query and documents to /v1/rerank",
    });
  }
  const conversation = new Conversation(
    client,
    settings(model, options, sensesOf(capabilities)),
    process.stdout,
  );
  if (prompt !== "") await conversation.ask(prompt);
  else if (process.stdin.isTTY) {
    await conversation.load();
    await converse(conversation, client);
  }
}

function settings(model: string, options: Options, senses: Senses): ChatSettings {
  return {
    model,
    system: null,
    options: {},
    format: options.format === undefined ? null : readFormat(options.format),
    think: options.think === undefined ? null : readSwitch(options.think),
    senses,
    hideThinking: options.hidethinking === true,
    keepAlive: options.keepalive ?? null,
    verbose: options.verbose === true,
    wordWrap: options.nowordwrap !== true,
  };
}

/** Returns the model's name in the store and its capabilities. Downloads the model if it is missing. */
export async function present(reference: string, client: Client, config: CommandConfig, insecure: boolean) {
  const wanted = await source(reference);
  const { name } = wanted;
  const show = () => client.json("/api/show", abilitiesAnswer, { body: { model: name } });
  try {
    return { name, capabilities: (await show()).capabilities };
  } catch (error) {
    if (!(error instanceof ServerError) || error.status !== 404) throw error;
    await pullModel(wanted, client, config, insecure);
    return { name, capabilities: (await show()).capabilities };
  }
}

async function printEmbedding(
  client: Client,
  model: string,
  input: string,
  { truncate, dimensions }: Options,
): Promise<void> {
  const body = {
    model,
    input,
    // The server rejects anything that is not a boolean or a number.
    ...(truncate === undefined ? {} : { truncate: readSwitch(truncate) }),
    ...(dimensions === undefined ? {} : { dimensions: Number(dimensions) || dimensions }),
  };
  const { embeddings } = await client.json("/api/embed", embedAnswer, { body });
  console.log(JSON.stringify(embeddings[0] ?? []));
}

async function readAll(input: AsyncIterable<Buffer | string>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of input) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString("utf8").trimEnd();
}
