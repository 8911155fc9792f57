import type { CreateRequest } from "../wire/api/library.ts";
import { LocallmError } from "../wire/errors.ts";
import { goJson } from "../wire/go-json.ts";
import { mostFurtherTokens } from "../wire/inference/load.ts";
import { displayModelName, type ModelName, requireModelName } from "../wire/model-name.ts";
import { checkOption, isOptionName } from "../wire/options.ts";
import { configBytes } from "./config-blob.ts";
import { type Digest, requireDigest } from "./digest.ts";
import type { GgufHeader } from "./gguf/header.ts";
import { ggufKind } from "./gguf/rules.ts";
import { joinHeaders, splitPlace } from "./gguf/split.ts";
import { type Layer, mediaTypes } from "./manifest.ts";
import type { Model, ModelConfig } from "./model.ts";
import { detailsFromHeader, headerLengths } from "./model-details.ts";
import {
  type QuantizeContext,
  type QuantizedWeights,
  requestedQuantization,
  withQuantized,
} from "./quantize.ts";
import { type RemoteAddresses, remoteConfig, requestedRemotes } from "./remote.ts";
import type { Store } from "./store.ts";

export interface CreateContext {
  store: Store;
  /** Throws `template_invalid` if the text is not a Go template. */
  checkTemplate(text: string): Promise<void>;
  /** Throws `remote_not_allowed` if a model may not name the host of this URL. */
  requireRemote(url: string): Promise<void>;
  onStatus(status: string): void;
  readonly quantizing: Omit<QuantizeContext, "store">;
}

/**
 * Creates a model from another model or from uploaded files, with the request's additions and replacements. Checks
 * everything before it writes the first layer; the manifest is written atomically at the end.
 */
export async function createModel(
  name: ModelName,
  request: CreateRequest,
  context: CreateContext,
): Promise<void> {
  rejectUnsupported(request);
  const quantization = requestedQuantization(request);
  const remotes = requestedRemotes(request);
  for (const { url } of remotes ?? []) await context.requireRemote(url);
  const base = remotes === null ? await readBase(request, context.store) : remoteBase(remotes);
  rejectForRemote(request, base);
  base.layers.push(...(await readAdapters(request, base, context.store)));
  const draft = await readDraft(request, base, context.store);
  if (draft !== null)
    base.layers = [...base.layers.filter(({ mediaType }) => mediaType !== mediaTypes.draft), draft];
  if (request.template !== undefined) await context.checkTemplate(request.template);
  const params = checkParameters(request.parameters);
  const messages = checkMessages(request.messages);
  const write = (finished: Base, weights?: QuantizedWeights) =>
    writeModel(name, { ...request, parameters: params, messages }, finished, context, weights);
  if (quantization === null || quantization.type.name === base.config.file_type) return await write(base);
  const { store, quantizing } = context;
  await withQuantized(base.layers, quantization, { store, ...quantizing }, (weights) =>
    write(
      { ...base, layers: weights.layers, config: { ...base.config, file_type: weights.fileType } },
      weights,
    ),
  );
}

/** `weights` are not in the store yet. */
async function writeModel(
  name: ModelName,
  request: CreateRequest,
  base: Base,
  context: CreateContext,
  weights?: QuantizedWeights,
): Promise<void> {
  const { parameters: params = {}, messages = [] } = request;
  const layers = new Layers(context, base.layers);
  if (weights?.isNew) layers.markNew(weights.digest);
  if (request.template !== undefined) await layers.replace(mediaTypes.template, request.template);
  if (request.system !== undefined) await layers.replace(mediaTypes.system, request.system);
  if (Object.keys(params).length > 0) {
    await layers.replace(mediaTypes.params, goJson({ ...base.params, ...params }));
  }
  if (messages.length > 0) await layers.replace(mediaTypes.messages, goJson(messages));
  for (const license of [request.license ?? []].flat()) await layers.add(mediaTypes.license, license);

  const fields: ModelConfig = {
    ...base.config,
    ...(request.renderer === undefined ? {} : { renderer: request.renderer }),
    ...(request.parser === undefined ? {} : { parser: request.parser }),
    ...(request.requires === undefined ? {} : { requires: request.requires }),
    ...definedOf(request.info ?? {}),
  };
  const config = await context.store.blobs.writeBytes(configBytes(fields, layers.list));
  layers.announce();
  await weights?.adopt();
  context.onStatus("writing manifest");
  await context.store.write(name, {
    config: { mediaType: mediaTypes.config, digest: config.digest, sizeBytes: config.sizeBytes },
    layers: layers.list,
  });
  context.onStatus("success");
}

/** The model or files that the new model is created from. */
interface Base {
  layers: Layer[];
  config: ModelConfig;
  params: Readonly<Record<string, unknown>>;
  architecture: string;
}

function remoteBase(remotes: RemoteAddresses): Base {
  return { layers: [], config: remoteConfig(remotes), params: {}, architecture: "" };
}

/** Rejects fields that have no effect on a remote model, and fields that have an effect on no other model. */
function rejectForRemote(request: CreateRequest, { config }: Base): void {
  const isRemote = Boolean(config.remote_host);
  const unusable = isRemote
    ? (["adapters", "draft_files", "template", "renderer", "parser", "quantize"] as const)
    : (["info"] as const);
  for (const field of unusable) {
    if (Object.values(request[field] ?? {}).every((value) => value === undefined)) continue;
    const problem = isRemote
      ? "cannot be set for a remote model, because its engine loads the weights and applies the template"
      : "can be set only for a remote model; the weights of other models contain this information";
    throw new LocallmError("invalid_field", { field, problem });
  }
}

function rejectUnsupported(request: CreateRequest): void {
  const files = [
    ...Object.entries(request.files ?? {}),
    ...Object.entries(request.adapters ?? {}),
    ...Object.entries(request.draft_files ?? {}),
  ];
  for (const [path, digest] of files) {
    checkFileName(path);
    requireDigest(digest);
    if (/\.safetensors(\.index\.json)?$/i.test(path)) {
      throw new LocallmError("not_built_yet", { what: "safetensors", instead: "upload a GGUF file" });
    }
  }
}

/** File names are only used as labels, but a path that leaves its folder is an attack or a mistake. */
function checkFileName(path: string): void {
  const parts = path.split("/");
  if (
    path === "" ||
    /^[\\/]|^[A-Za-z]:|\\|\0/.test(path) ||
    parts.some((part) => part === ".." || part === "")
  ) {
    throw new LocallmError("invalid_field", {
      field: "files",
      problem: "must use relative paths without .. as file names",
    });
  }
}

async function readBase(request: CreateRequest, store: Store): Promise<Base> {
  const files = Object.values(request.files ?? {}).map(requireDigest);
  if (request.from !== undefined && request.from !== "") {
    if (files.length > 0) {
      throw new LocallmError("invalid_field", { field: "files", problem: "cannot be combined with from" });
    }
    return await baseFromModel(request.from, store);
  }
  if (files.length === 0) throw new LocallmError("nothing_to_create_from", {});
  return await baseFromFiles(files, store);
}

async function baseFromModel(typed: string, store: Store): Promise<Base> {
  const model = await store.require(requireModelName(typed), typed);
  const from = displayModelName(model.name);
  const layers = model.manifest.layers.map((layer) => ({ ...layer, from: layer.from ?? from }));
  return {
    layers,
    config: model.config,
    params: model.params,
    architecture: await architectureOf(store, model),
  };
}

async function architectureOf(store: Store, model: Model): Promise<string> {
  const path = model.modelPaths[0];
  return path === undefined ? "" : architecture(await store.headers.of(path));
}

async function baseFromFiles(files: Digest[], store: Store): Promise<Base> {
  const projectors: Layer[] = [];
  const weights: { header: GgufHeader; layer: Layer }[] = [];
  for (const digest of new Set(files)) {
    const { header, layer } = await readUpload(digest, store);
    const kind = ggufKind(header);
    if (kind === "adapter") {
      throw new LocallmError("invalid_field", {
        field: "files",
        problem: "contains an adapter; put it in adapters",
      });
    }
    if (kind === "projector") projectors.push({ ...layer, mediaType: mediaTypes.projector });
    else weights.push({ header, layer: { ...layer, mediaType: mediaTypes.model } });
  }
  if (weights.length === 0) throw new LocallmError("nothing_to_create_from", {});
  if (weights.length > 1 && weights.some(({ header }) => splitPlace(header).count === 1)) {
    throw new LocallmError("invalid_field", { field: "files", problem: "contains more than one model" });
  }
  weights.sort((a, b) => splitPlace(a.header).index - splitPlace(b.header).index);
  const header = joinHeaders(weights.map((one) => one.header));
  const layers = [...weights.map(({ layer }) => layer), ...projectors];
  return { layers, config: configFields(header), params: {}, architecture: architecture(header) };
}

/** Fields of the configuration blob for these weights. */
export function configFields(header: GgufHeader): ModelConfig {
  const { contextLength, embeddingLength } = headerLengths(header);
  return {
    ...detailsFromHeader(header),
    ...(contextLength === undefined ? {} : { context_length: contextLength }),
    ...(embeddingLength === undefined ? {} : { embedding_length: embeddingLength }),
  };
}

async function readAdapters(request: CreateRequest, base: Base, store: Store): Promise<Layer[]> {
  const layers: Layer[] = [];
  for (const digest of new Set(Object.values(request.adapters ?? {}).map(requireDigest))) {
    const { header, layer } = await readUpload(digest, store);
    const problem = adapterProblem(header, base.architecture);
    if (problem !== null) throw new LocallmError("invalid_field", { field: "adapters", problem });
    layers.push({ ...layer, mediaType: mediaTypes.adapter });
  }
  return layers;
}

/** The draft model of a request, which must read the same tokens as the model. Null if it names none. */
async function readDraft(request: CreateRequest, base: Base, store: Store): Promise<Layer | null> {
  const [digest, further] = new Set(Object.values(request.draft_files ?? {}).map(requireDigest));
  if (digest === undefined) return null;
  const fail = (problem: string) => new LocallmError("invalid_field", { field: "draft_files", problem });
  if (further !== undefined) throw fail("must be one file");
  const { header, layer } = await readUpload(digest, store);
  if (ggufKind(header) !== "model" || splitPlace(header).count > 1)
    throw fail("must be a whole model, but the file is another kind of GGUF file");
  const weights = base.layers.find(({ mediaType }) => mediaType === mediaTypes.model);
  const own = weights && (await store.headers.of(store.blobs.path(weights.digest)));
  const [ours, its] = [vocabularyOf(own), vocabularyOf(header)];
  if (ours.kind !== its.kind || Math.abs(ours.size - its.size) > mostFurtherTokens)
    throw fail(
      `must be a model with the same tokens: it has ${its.size} (${its.kind}), and the model ${ours.size} (${ours.kind})`,
    );
  return { ...layer, mediaType: mediaTypes.draft };
}

function vocabularyOf(header: GgufHeader | undefined) {
  const tokens = header?.metadata.get("tokenizer.ggml.tokens");
  const kind = header?.metadata.get("tokenizer.ggml.model");
  return { kind: String(kind ?? "none"), size: typeof tokens === "object" ? tokens.length : 0 };
}

function adapterProblem(header: GgufHeader, baseArchitecture: string): string | null {
  if (ggufKind(header) !== "adapter")
    return "must be a LoRA adapter, but the file is another kind of GGUF file";
  if (header.metadata.get("adapter.type") !== "lora") return "must have adapter.type lora";
  if (architecture(header) !== baseArchitecture) {
    return `is for architecture ${architecture(header)}, but the model is ${baseArchitecture}`;
  }
  return null;
}

async function readUpload(digest: Digest, store: Store) {
  const sizeBytes = await store.blobs.size(digest);
  if (sizeBytes === null) throw new LocallmError("upload_missing", { digest });
  await store.blobs.renewAge(digest);
  const header = await store.headers.of(store.blobs.path(digest));
  return { header, layer: { digest, sizeBytes } };
}

function architecture(header: GgufHeader): string {
  return String(header.metadata.get("general.architecture") ?? "");
}

function definedOf<Fields extends object>(fields: Fields): Partial<Fields> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as Partial<Fields>;
}

/** Checks options and their types. Drops options that Ollama has retired, as Ollama does. */
function checkParameters(given: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  const params: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(given)) {
    if (retiredParameters.has(name) || value === null) continue;
    if (!isOptionName(name)) throw new LocallmError("unknown_parameter", { name: name.slice(0, 80) });
    params[name] = checkOption(name, name === "stop" && typeof value === "string" ? [value] : value);
  }
  return params;
}

export const retiredParameters: ReadonlySet<string> = new Set([
  "penalize_newline",
  "low_vram",
  "f16_kv",
  "logits_all",
  "vocab_only",
  "use_mlock",
  "numa",
  "tfs_z",
  "draft_num_predict",
]);

function checkMessages(messages: CreateRequest["messages"] = []) {
  return messages.map(({ role, content }, index) => {
    const lowered = role.toLowerCase();
    if (!["system", "user", "assistant"].includes(lowered)) {
      throw new LocallmError("invalid_field", {
        field: `messages[${index}].role`,
        problem: "must be one of system, user, assistant",
      });
    }
    return { role: lowered, content };
  });
}

/** The layers of the new model, and which of them are new in the store. */
class Layers {
  list: Layer[];
  #context: CreateContext;
  #created = new Set<Digest>();

  constructor(context: CreateContext, base: Layer[]) {
    this.list = base;
    this.#context = context;
  }

  async replace(mediaType: string, text: string): Promise<void> {
    const isReplaced = (layer: Layer) =>
      layer.mediaType === mediaType ||
      (mediaType === mediaTypes.template && layer.mediaType === mediaTypes.prompt);
    this.list = this.list.filter((layer) => !isReplaced(layer));
    if (text !== "") await this.add(mediaType, text);
  }

  async add(mediaType: string, text: string): Promise<void> {
    const { digest, sizeBytes, isNew } = await this.#context.store.blobs.writeBytes(text);
    if (isNew) this.#created.add(digest);
    this.list.push({ mediaType, digest, sizeBytes });
  }

  /** For weights, which are written elsewhere. */
  markNew(digest: Digest): void {
    this.#created.add(digest);
  }

  announce(): void {
    for (const { digest } of this.list) {
      this.#context.onStatus(
        `${this.#created.has(digest) ? "creating new" : "using existing"} layer ${digest}`,
      );
    }
  }
}
