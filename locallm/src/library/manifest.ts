import { z } from "zod";
import { LocallmError } from "../wire/errors.ts";
import { goJson } from "../wire/go-json.ts";
import { type Digest, parseDigest } from "./digest.ts";

/** Lists the files of a model: Docker's manifest version 2 with Ollama's layer types. */
export interface Manifest {
  config: Layer;
  layers: Layer[];
}

export interface Layer {
  mediaType: string;
  digest: Digest;
  sizeBytes: number;
  /** Name of the model that the layer was taken from, recorded as Ollama does. */
  from?: string;
  name?: string;
}

export const mediaTypes = {
  manifest: "application/vnd.docker.distribution.manifest.v2+json",
  ociManifest: "application/vnd.oci.image.manifest.v1+json",
  config: "application/vnd.docker.container.image.v1+json",
  model: "application/vnd.ollama.image.model",
  projector: "application/vnd.ollama.image.projector",
  adapter: "application/vnd.ollama.image.adapter",
  /** A model that guesses what this one will answer. */
  draft: "application/vnd.ollama.image.draft",
  template: "application/vnd.ollama.image.template",
  /** Template type of older Ollama versions. */
  prompt: "application/vnd.ollama.image.prompt",
  system: "application/vnd.ollama.image.system",
  params: "application/vnd.ollama.image.params",
  messages: "application/vnd.ollama.image.messages",
  license: "application/vnd.ollama.image.license",
} as const;

/** Larger manifests are rejected without being read. */
export const manifestLimitBytes = 4 * 1024 * 1024;
const maxLayers = 4096;

const layerSchema = z.object({
  mediaType: z.string().min(1).max(256),
  digest: z.string().max(256),
  size: z.number().int().nonnegative().max(Number.MAX_SAFE_INTEGER),
  from: z.string().max(1024).optional(),
  name: z.string().max(1024).optional(),
});
const manifestSchema = z.object({
  schemaVersion: z.literal(2),
  mediaType: z.string().max(256).optional(),
  config: layerSchema,
  layers: z.array(layerSchema).max(maxLayers).nullish(),
});

/** Throws `invalid_manifest` with the reason. */
export function parseManifest(bytes: Uint8Array): Manifest {
  if (bytes.length > manifestLimitBytes) throw invalid(`it is larger than ${manifestLimitBytes} bytes`);
  let json: unknown;
  try {
    json = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (cause) {
    throw invalid("it is not JSON", cause);
  }
  const parsed = manifestSchema.safeParse(json);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw invalid(`${issue?.path.join(".") || "it"}: ${issue?.message ?? "not a manifest"}`);
  }
  const { config, layers } = parsed.data;
  return {
    config: toLayer(config, "config"),
    layers: (layers ?? []).map((layer, i) => toLayer(layer, `layers.${i}`)),
  };
}

/** The exact bytes that Ollama writes for this manifest, including the final newline. */
export function printManifest(manifest: Manifest): Buffer {
  const json = {
    schemaVersion: 2,
    mediaType: mediaTypes.manifest,
    config: printLayer(manifest.config),
    layers: manifest.layers.map(printLayer),
  };
  return Buffer.from(`${goJson(json)}\n`);
}

/** All layers and the configuration, without duplicates. */
export function manifestLayers(manifest: Manifest): Layer[] {
  const byDigest = new Map([...manifest.layers, manifest.config].map((layer) => [layer.digest, layer]));
  return [...byDigest.values()];
}

function toLayer(layer: z.infer<typeof layerSchema>, where: string): Layer {
  const digest = parseDigest(layer.digest);
  if (digest === null) throw invalid(`${where}.digest is not a sha256 digest`);
  return {
    mediaType: layer.mediaType,
    digest,
    sizeBytes: layer.size,
    ...(layer.from === undefined ? {} : { from: layer.from }),
    ...(layer.name === undefined ? {} : { name: layer.name }),
  };
}

function printLayer(layer: Layer) {
  return {
    mediaType: layer.mediaType,
    digest: layer.digest,
    size: layer.sizeBytes,
    ...(layer.from ? { from: layer.from } : {}),
    ...(layer.name ? { name: layer.name } : {}),
  };
}

function invalid(reason: string, cause?: unknown): LocallmError {
  return new LocallmError("invalid_manifest", { reason }, { cause });
}
