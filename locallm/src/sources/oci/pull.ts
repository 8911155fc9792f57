import { rm } from "node:fs/promises";
import { type Digest, digestOf, parseDigest } from "../../library/digest.ts";
import { requireSpace } from "../../library/disk-space.ts";
import {
  type Layer,
  type Manifest,
  manifestLayers,
  mediaTypes,
  parseManifest,
} from "../../library/manifest.ts";
import { readModel } from "../../library/model.ts";
import { headerOf } from "../../library/model-details.ts";
import { LocallmError } from "../../wire/errors.ts";
import type { ModelName } from "../../wire/model-name.ts";
import type { PullContext } from "../pull-context.ts";
import type { Registry } from "./registry.ts";

/**
 * Pulls a model from a registry: the manifest, then each missing blob. Verifies everything before the name refers to
 * it. Keeps complete blobs when the network fails, so that the next pull resumes; removes invalid blobs at once.
 */
export async function pullFromRegistry(
  registry: Registry,
  name: ModelName,
  context: PullContext,
): Promise<void> {
  const { store, onProgress, signal } = context;
  onProgress({ status: "pulling manifest" });
  const { bytes, manifest } = await fetchManifest(registry, name, signal);
  await requireModel(registry, name, manifest, context);
  const layers = manifestLayers(manifest);
  const missing = await missingLayers(layers, context);
  await requireRoom(missing, context);
  const arrived: Digest[] = [];
  try {
    for (const layer of layers) await pullLayer(registry, layer, missing.includes(layer), context, arrived);
    onProgress({ status: "verifying sha256 digest" });
    await checkModel(name, manifest, context);
  } catch (error) {
    if (isContentWrong(error)) await removeArrived(arrived, context);
    throw error;
  }
  onProgress({ status: "writing manifest" });
  await store.writeBytes(name, bytes);
  onProgress({ status: "success" });
}

async function fetchManifest(registry: Registry, name: ModelName, signal: AbortSignal) {
  const found = await registry.manifest(name.tag, signal);
  if (found === null) throw new LocallmError("manifest_unknown", {});
  const { bytes, announcedDigest } = found;
  const announced = parseDigest(announcedDigest);
  if (announced !== null && announced !== digestOf(bytes)) {
    throw new LocallmError("source_failed", {
      host: registry.host,
      reason: "its manifest does not match its digest",
    });
  }
  let manifest: Manifest;
  try {
    manifest = parseManifest(bytes);
  } catch (cause) {
    const reason = cause instanceof LocallmError ? String(cause.details["reason"]) : "it cannot be read";
    throw new LocallmError(
      "source_failed",
      { host: registry.host, reason: `its manifest is invalid: ${reason}` },
      { cause },
    );
  }
  return { bytes, manifest };
}

/**
 * A manifest without weights may be a remote model. Its configuration says so, and is therefore fetched
 * before all other layers. Throws `source_failed`, or `remote_not_allowed` if the model may not name its
 * host.
 */
async function requireModel(
  registry: Registry,
  name: ModelName,
  manifest: Manifest,
  context: PullContext,
): Promise<void> {
  if (manifest.layers.some(({ mediaType }) => mediaType === mediaTypes.model)) return;
  const { config } = manifest;
  const notModel = (cause?: unknown) =>
    new LocallmError(
      "source_failed",
      { host: registry.host, reason: "the content with that name is not a model" },
      { cause },
    );
  const isConfig = config.mediaType === mediaTypes.config && config.sizeBytes <= maxRemoteConfigBytes;
  if (!isConfig) throw notModel();
  const [missing] = await missingLayers([config], context);
  const arrived: Digest[] = [];
  try {
    await pullLayer(registry, config, missing !== undefined, context, arrived);
    const found = { name, digest: "", modifiedAt: new Date(0), manifest: { config, layers: [] } };
    const { remotes } = await readModel(context.store.blobs, found).catch((error: unknown) => {
      throw notModel(error);
    });
    if (remotes === null) throw notModel();
    for (const { url } of remotes) await context.requireRemote(url);
  } catch (error) {
    if (error instanceof LocallmError && error.code !== "source_unreachable")
      await removeArrived(arrived, context);
    throw error;
  }
}

const maxRemoteConfigBytes = 256 * 1024;

async function missingLayers(layers: readonly Layer[], { store }: PullContext): Promise<Layer[]> {
  const missing: Layer[] = [];
  for (const layer of layers) {
    if ((await store.blobs.size(layer.digest)) !== layer.sizeBytes) missing.push(layer);
  }
  return missing;
}

async function requireRoom(missing: readonly Layer[], { store }: PullContext): Promise<void> {
  const needBytes = missing.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  if (needBytes > 0) await requireSpace(await store.blobs.preparedFolder(), needBytes);
}

async function pullLayer(
  registry: Registry,
  layer: Layer,
  isMissing: boolean,
  { store, transfers, onProgress, signal }: PullContext,
  arrived: Digest[],
): Promise<void> {
  const { digest, sizeBytes: total } = layer;
  const status = `pulling ${digest.slice(7, 19)}`;
  if (isMissing) {
    await transfers.fetch({
      host: registry.host,
      key: digest,
      expected: digest,
      sizeBytes: total,
      signal,
      open: (range, partSignal) => registry.blob(digest, range, partSignal),
      onProgress: (completed) => onProgress({ status, digest, total, completed }),
      isDone: async () => (await store.blobs.size(digest)) === total,
      finish: (path) => store.blobs.adopt(path, digest),
    });
    arrived.push(digest);
  }
  onProgress({ status, digest, total, completed: total });
}

/** Validates the model by reading the weights' header and all small layers, as a request does. */
async function checkModel(name: ModelName, manifest: Manifest, { store }: PullContext): Promise<void> {
  const model = await readModel(store.blobs, { name, digest: "", modifiedAt: new Date(0), manifest });
  await headerOf(store, model);
  for (const path of [...model.projectorPaths, ...model.adapterPaths, ...model.draftPaths])
    await store.headers.of(path);
}

const wrongContent: ReadonlySet<string> = new Set([
  "download_damaged",
  "size_mismatch",
  "invalid_gguf",
  "invalid_manifest",
  "blob_too_large",
]);

function isContentWrong(error: unknown): boolean {
  return error instanceof LocallmError && wrongContent.has(error.code);
}

async function removeArrived(arrived: readonly Digest[], { store }: PullContext): Promise<void> {
  const used = await store.usedDigests();
  for (const digest of arrived) {
    if (!used.has(digest)) await rm(store.blobs.path(digest), { force: true });
  }
}
