import { z } from "zod";
import { LocallmError } from "../wire/errors.ts";
import type { ModelName } from "../wire/model-name.ts";
import { remoteLimits } from "../wire/remote-address.ts";
import type { Blobs } from "./blob.ts";
import { type Layer, type Manifest, mediaTypes } from "./manifest.ts";
import { type RemoteAddresses, storedAddress, storedRemotes } from "./remote.ts";

/** A model of the store: its manifest and the contents of its small layers. Immutable; large files stay on disk. */
export interface Model {
  /** The name as spelled on disk. */
  name: ModelName;
  /** SHA-256 of the manifest file, 64 hex digits: the `digest` in tags, ps and list. */
  digest: string;
  /** Total size of the layers and the configuration. */
  sizeBytes: number;
  modifiedAt: Date;
  manifest: Manifest;
  config: ModelConfig;
  /** The engines that serve the model; null for a local model. */
  remotes: RemoteAddresses | null;
  /** The files of the weights: several if they are split, none for a remote model. */
  modelPaths: string[];
  projectorPaths: string[];
  adapterPaths: string[];
  draftPaths: string[];
  /** The Go template layer. If it is null, the Jinja template in the weights applies. */
  template: string | null;
  system: string | null;
  /** Options from PARAMETER lines, by name; `stop` is a list. */
  params: Readonly<Record<string, unknown>>;
  messages: readonly { role: string; content: string }[];
  licenses: string[];
}

const text = z.string().max(65_536);
const configSchema = z.object({
  model_format: text.optional(),
  model_family: text.optional(),
  model_families: z.array(text).nullish(),
  model_type: text.optional(),
  file_type: text.optional(),
  renderer: text.optional(),
  parser: text.optional(),
  requires: text.optional(),
  remote_host: text.optional(),
  remote_model: text.optional(),
  /** The replicas of a remote model. A locallm extension. */
  remotes: z.array(storedAddress).max(remoteLimits.addresses).optional(),
  capabilities: z.array(text).nullish(),
  context_length: z.number().int().nonnegative().optional(),
  embedding_length: z.number().int().nonnegative().optional(),
  base_name: text.optional(),
});
/** The configuration blob, with Ollama's field names. */
export type ModelConfig = z.input<typeof configSchema>;

const paramsSchema = z.record(z.string(), z.unknown());
const messagesSchema = z.array(z.object({ role: z.string(), content: z.string().default("") }));

/** Reads the small layers of a manifest. Throws `blob_missing`, `invalid_manifest` and read errors. */
export async function readModel(
  blobs: Blobs,
  found: { name: ModelName; digest: string; modifiedAt: Date; manifest: Manifest },
): Promise<Model> {
  const { manifest } = found;
  const layersOf = (...types: string[]) => manifest.layers.filter((layer) => types.includes(layer.mediaType));
  const paths = (type: string) => layersOf(type).map((layer) => blobs.path(layer.digest));
  const lastText = async (...types: string[]) => {
    const layer = layersOf(...types).at(-1);
    return layer === undefined ? null : await blobs.readText(layer.digest);
  };
  const licenses: string[] = [];
  for (const layer of layersOf(mediaTypes.license)) licenses.push(await blobs.readText(layer.digest));
  const config = await readJson(blobs, manifest.config, configSchema);
  const modelPaths = paths(mediaTypes.model);
  return {
    ...found,
    sizeBytes: manifestSize(manifest),
    config,
    remotes: modelPaths.length > 0 ? null : storedRemotes(config),
    modelPaths,
    projectorPaths: paths(mediaTypes.projector),
    adapterPaths: paths(mediaTypes.adapter),
    draftPaths: paths(mediaTypes.draft),
    template: await lastText(mediaTypes.template, mediaTypes.prompt),
    system: await lastText(mediaTypes.system),
    params: await lastJson(blobs, layersOf(mediaTypes.params), paramsSchema, {}),
    messages: await lastJson(blobs, layersOf(mediaTypes.messages), messagesSchema, []),
    licenses,
  };
}

function manifestSize(manifest: Manifest): number {
  return manifest.layers.reduce((sum, layer) => sum + layer.sizeBytes, manifest.config.sizeBytes);
}

async function lastJson<Value>(
  blobs: Blobs,
  layers: Layer[],
  schema: z.ZodType<Value>,
  otherwise: Value,
): Promise<Value> {
  const layer = layers.at(-1);
  return layer === undefined ? otherwise : await readJson(blobs, layer, schema);
}

async function readJson<Value>(blobs: Blobs, layer: Layer, schema: z.ZodType<Value>): Promise<Value> {
  const read = await blobs.readText(layer.digest);
  let json: unknown;
  try {
    json = JSON.parse(read);
  } catch (cause) {
    throw new LocallmError("invalid_manifest", { reason: `blob ${layer.digest} is not JSON` }, { cause });
  }
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  throw new LocallmError("invalid_manifest", {
    reason: `blob ${layer.digest} is not a valid ${layer.mediaType}: ${parsed.error.issues[0]?.message ?? ""}`,
  });
}
