import { open } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { Command, Option } from "commander";
import { type CommandConfig, readCommandConfig } from "../../config.ts";
import { writableTypes } from "../../library/gguf/quantisation.ts";
import { modelfileLimitBytes, parseModelfile } from "../../library/modelfile/parse.ts";
import { modelfileRequest } from "../../library/modelfile/request.ts";
import { requestedQuantization } from "../../library/quantize.ts";
import { RemoteHosts } from "../../sources/remote-hosts.ts";
import { bareHostname, isLoopback } from "../../wire/address.ts";
import { LocallmError } from "../../wire/errors.ts";
import { hostAndPort } from "../../wire/remote-address.ts";
import { Client } from "../client.ts";
import { type ProgressView, progressView } from "../progress.ts";
import { plain } from "../text.ts";
import { bringFile, modelFiles, uploadNames } from "../upload.ts";

interface Options {
  file: string;
  quantize?: string;
  requantize?: true;
  draftQuantize?: string;
  experimental?: true;
}

export function createCommand(): Command {
  return new Command("create")
    .description("create a model from a Modelfile")
    .argument("<model>")
    .option("-f, --file <path>", "path of the Modelfile", "Modelfile")
    .addOption(
      new Option("-q, --quantize <type>", "write the weights in this type")
        .choices(writableTypes)
        // Accepts capitals and llama.cpp's other names, too.
        .argParser((type: string) => type),
    )
    .option("--requantize", "quantise weights that are already quantised, at a loss of quality")
    .option("--draft-quantize <level>", "not supported yet")
    .option("--experimental", "not supported: models are created from GGUF files")
    .action(async (model: string, options: Options) => {
      await create(model, options, readCommandConfig());
    });
}

async function create(model: string, options: Options, config: CommandConfig): Promise<void> {
  refuseConversion(options);
  const { quantize, requantize } = options;
  // Before files are read, which may take minutes.
  requestedQuantization({ quantize, requantize });
  const client = new Client(config);
  const view = progressView(process.stderr);
  const folder = dirname(resolve(options.file));
  const { from, adapters, draft, fields, retired } = modelfileRequest(
    parseModelfile(await readModelfile(options.file)),
  );
  for (const name of retired) console.error(plain(`ignoring parameter ${name}: it is obsolete`));
  const base = from.length === 0 ? null : await readBase(from, folder);
  await client.requireServer();
  const urls = (fields.remotes ?? []).map(({ url }) => url);
  if (urls.length > 0) await allowHosts(urls, client, config, view);
  const adapterFiles: string[] = [];
  for (const path of adapters) {
    const found = await modelFiles(path, folder);
    if (found === null) throw new LocallmError("file_unusable", { path, reason: "file not found" });
    adapterFiles.push(...found);
  }
  const draftFiles = draft === null ? [] : await modelFiles(draft, folder);
  if (draftFiles === null)
    throw new LocallmError("file_unusable", { path: draft!, reason: "file not found" });
  const bring = async (paths: readonly string[]) => {
    const names = uploadNames(paths);
    const digests: Record<string, string> = {};
    for (const [index, path] of paths.entries()) {
      const { digest, how } = await bringFile(path, client, config, view);
      view.show({ status: `${basename(path)}: ${how}` });
      digests[names[index] ?? path] = digest;
    }
    return digests;
  };
  try {
    const body = {
      model,
      ...fields,
      ...(quantize === undefined ? {} : { quantize }),
      ...(requantize === undefined ? {} : { requantize }),
      ...(base === null ? {} : base.name === null ? { files: await bring(base.files) } : { from: base.name }),
      ...(adapterFiles.length === 0 ? {} : { adapters: await bring(adapterFiles) }),
      ...(draftFiles.length === 0 ? {} : { draft_files: await bring(draftFiles) }),
    };
    for await (const line of client.progress("/api/create", body)) view.show(line);
  } finally {
    view.end();
  }
}

/** A remote model that is created on the server's own command line may name any host. */
async function allowHosts(
  urls: readonly string[],
  client: Client,
  config: CommandConfig,
  view: ProgressView,
): Promise<void> {
  if (!isLoopback(bareHostname(new URL(client.url)))) return;
  await new RemoteHosts({ file: config.remoteHostsFile, named: [] }).allow(urls);
  for (const host of new Set(urls.map(hostAndPort)))
    view.show({ status: `allowing remote models to use ${host}` });
}

/** Rejects options that would convert other formats. */
function refuseConversion({ draftQuantize, experimental }: Options): void {
  const what =
    draftQuantize === undefined ? experimental && "experimental" : `draft-quantize (${draftQuantize})`;
  if (!what) return;
  throw new LocallmError("not_built_yet", { what, instead: "use a GGUF file" });
}

/** A model name or files. If a file exists at that path, it counts as a file. */
async function readBase(
  from: readonly string[],
  folder: string,
): Promise<{ name: string | null; files: string[] }> {
  const files: string[] = [];
  for (const text of from) {
    const found = await modelFiles(text, folder);
    if (found !== null) files.push(...found);
    else if (from.length === 1 && !/^[./~]|\.gguf$/i.test(text)) return { name: text, files: [] };
    else throw new LocallmError("file_unusable", { path: text, reason: "file not found" });
  }
  return { name: null, files };
}

async function readModelfile(path: string): Promise<Uint8Array> {
  const file = await open(path, "r").catch((cause: NodeJS.ErrnoException) => {
    const reason =
      cause.code === "ENOENT" ? "file not found; name the Modelfile with -f" : String(cause.code);
    throw new LocallmError("file_unusable", { path, reason }, { cause });
  });
  try {
    const { size } = await file.stat();
    // A pipe (`-f /dev/stdin`) has no size; `parseModelfile` checks the limit again.
    if (size > modelfileLimitBytes)
      throw new LocallmError("file_unusable", { path, reason: "it is too large" });
    return await file.readFile();
  } finally {
    await file.close();
  }
}
