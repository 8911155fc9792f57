import { createReadStream } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Digest } from "../../library/digest.ts";
import { type Layer, manifestLayers, mediaTypes, parseManifest } from "../../library/manifest.ts";
import type { Store } from "../../library/store.ts";
import type { ProgressLine } from "../../wire/api/library.ts";
import { LocallmError } from "../../wire/errors.ts";
import { displayModelName, type ModelName, parseModelName } from "../../wire/model-name.ts";
import type { NetworkResponse } from "../network.ts";
import { mayPass, readRefusal } from "../network-answer.ts";
import { withRetries } from "../retry.ts";
import type { Registry } from "./registry.ts";

export interface PushContext {
  store: Store;
  onProgress(line: ProgressLine): void;
  signal: AbortSignal;
  /** The delay before the second try of a chunk. Doubles with each further try, up to 16 s. */
  retryDelayMs?: number;
}

const chunkBytes = 64 * 1024 * 1024;
/**
 * The maximum number of consecutive failures without progress. It is high, because registries keep only whole
 * chunks.
 */
const tries = 10;
/** The maximum number of tries to end an upload. Each may take long. */
const closingTries = 5;
const longestDelayMs = 16_000;
/**
 * The maximum number of uploads of one blob. Some registries lose an upload when a chunk is interrupted; the
 * upload then starts again.
 */
const uploads = 20;
/** How long a registry may take to end an upload, during which it may hash or move the whole blob. */
const closingMs = 5 * 60_000;

/** Pushes a model: the blobs that the registry lacks, each verified before the upload, then the manifest. */
export async function pushToRegistry(
  registry: Registry,
  name: ModelName,
  context: PushContext,
): Promise<void> {
  const { store, onProgress, signal } = context;
  onProgress({ status: "retrieving manifest" });
  const bytes = await store.manifestBytes(name);
  if (bytes === null) throw new LocallmError("model_not_found", { model: displayModelName(name) });
  const manifest = parseManifest(bytes);
  await store.requireBlobs(manifest);
  for (const layer of manifestLayers(manifest)) await pushLayer(registry, layer, name, context);
  onProgress({ status: "pushing manifest" });
  const { mediaType } = JSON.parse(bytes.toString()) as { mediaType?: string };
  const request = {
    method: "PUT" as const,
    headers: { "content-type": mediaType ?? mediaTypes.manifest },
    body: () => bytes,
    signal,
  };
  const answer = await withRetries(() => registry.send(`manifests/${name.tag}`, request, "push"), signal);
  await finish(answer, registry, [200, 201, 202]);
  onProgress({ status: "success" });
}

async function pushLayer(
  registry: Registry,
  layer: Layer,
  name: ModelName,
  context: PushContext,
): Promise<void> {
  const { digest, sizeBytes: total } = layer;
  const status = `pushing ${digest.slice(7, 19)}`;
  const { store, onProgress, signal } = context;
  if (!(await isThere(registry, digest, signal))) {
    if (!(await store.blobs.verify(digest, signal))) throw new LocallmError("blob_damaged", { digest });
    const location = await beginUpload(registry, layer, name, context);
    if (location !== null) {
      await upload(registry, layer, name, location, {
        ...context,
        onProgress: (line) => onProgress({ ...line, status }),
      });
    }
  }
  onProgress({ status, digest, total, completed: total });
}

async function isThere(registry: Registry, digest: Digest, signal: AbortSignal): Promise<boolean> {
  const request = { method: "HEAD" as const, signal };
  const answer = await withRetries(() => registry.send(`blobs/${digest}`, request, "push"), signal);
  await finish(answer, registry, [200, 404]);
  return answer.status === 200;
}

/** Null if the registry copied the blob from another of its repositories. */
async function beginUpload(
  registry: Registry,
  layer: Layer,
  name: ModelName,
  { signal }: PushContext,
): Promise<URL | null> {
  const from = layer.from === undefined ? null : parseModelName(layer.from);
  const mount =
    from !== null && from.host === name.host
      ? `?mount=${layer.digest}&from=${from.namespace}/${from.model}`
      : "";
  const request = { method: "POST" as const, signal };
  const path = `blobs/uploads/${mount}`;
  const answer = await withRetries(() => registry.send(path, request, "push"), signal);
  await finish(answer, registry, [201, 202]);
  return answer.status === 201 ? null : locationOf(answer, registry);
}

/** Uploads the blob, and starts a new upload if the registry lost an interrupted one. */
async function upload(
  registry: Registry,
  layer: Layer,
  name: ModelName,
  begin: URL,
  context: PushContext,
): Promise<void> {
  let location: URL | null = begin;
  for (let attempt = 1; location !== null; attempt++) {
    try {
      await uploadChunks(registry, layer, location, context);
      return;
    } catch (error) {
      if (!(error instanceof LostTrack) || attempt === uploads) throw error;
      if (await isThere(registry, layer.digest, context.signal)) return;
      location = await beginUpload(registry, layer, name, context);
    }
  }
}

/**
 * The registry lost an interrupted upload. If the upload was not interrupted, the same statuses are final.
 */
class LostTrack extends LocallmError<"source_failed"> {}
const lostStatuses = [400, 404, 405, 410, 416];

/** Throws `LostTrack`, `push_stopped`, and what `finish` throws. */
async function uploadChunks(
  registry: Registry,
  layer: Layer,
  begin: URL,
  context: PushContext,
): Promise<void> {
  const { digest, sizeBytes: total } = layer;
  const { signal } = context;
  const path = context.store.blobs.path(digest);
  let state: UploadState = { location: begin, completed: 0 };
  let isKnown = true;
  let furthest = 0;
  let failures = 0;
  let hasBroken = false;
  const sendChunk = async () => {
    const { completed: start, location } = state;
    const end = Math.min(start + chunkBytes, total);
    const onSent = (sent: number) =>
      context.onProgress({ status: "", digest, total, completed: start + sent });
    const headers = {
      "content-type": "application/octet-stream",
      "content-length": String(end - start),
      "content-range": `${start}-${end - 1}`,
    };
    const body = () => counted(path, start, end, onSent);
    const answer = await registry.send(location, { method: "PATCH", headers, body, signal }, "push");
    await finish(answer, registry, [202], hasBroken);
    return { location: locationOf(answer, registry), completed: end };
  };
  while (state.completed < total) {
    try {
      state = isKnown ? await sendChunk() : await uploadState(registry, state, signal);
      isKnown = true;
    } catch (error) {
      hasBroken = true;
      isKnown = false;
      failures += 1;
      await pause(error, { failures, most: tries }, registry, context);
    }
    if (state.completed > furthest) failures = 0;
    furthest = Math.max(state.completed, furthest);
  }
  const close = new URL(state.location);
  close.searchParams.set("digest", digest);
  const headers = { "content-length": "0" };
  const closing = { method: "PUT" as const, headers, signal, silenceMs: closingMs };
  for (let asked = 1; ; asked++) {
    try {
      const answer = await registry.send(close, closing, "push");
      await finish(answer, registry, [201, 204], hasBroken || asked > 1);
      return;
    } catch (error) {
      await pause(error, { failures: asked, most: closingTries }, registry, context);
    }
  }
}

/** Waits before the next try. Throws permanent errors, and `push_stopped` after the last try. */
async function pause(
  error: unknown,
  { failures, most }: { failures: number; most: number },
  { host }: Registry,
  { signal, retryDelayMs = 1000 }: PushContext,
): Promise<void> {
  signal.throwIfAborted();
  if (!(error instanceof LocallmError) || error.code !== "source_unreachable") throw error;
  if (failures === most) {
    const reason = String(error.details["reason"]);
    throw new LocallmError("push_stopped", { host, attempts: most, reason }, { cause: error });
  }
  await sleep(Math.min(retryDelayMs * 2 ** (failures - 1), longestDelayMs), undefined, { signal });
}

interface UploadState {
  readonly location: URL;
  readonly completed: number;
}

/** Asks the registry how much of an interrupted chunk arrived. */
async function uploadState(
  registry: Registry,
  { location, completed: before }: UploadState,
  signal: AbortSignal,
): Promise<UploadState> {
  const answer = await registry.send(location, { method: "GET", signal }, "push");
  await finish(answer, registry, [204], true);
  const [, last] = /^(?:bytes=)?0-(\d+)$/.exec(answer.headers["range"] ?? "") ?? [];
  // Registries also report 0-0 for an empty upload.
  const completed = last === undefined ? before : last === "0" ? 0 : Number(last) + 1;
  return {
    location: answer.headers.location === undefined ? location : locationOf(answer, registry),
    completed,
  };
}

async function* counted(path: string, start: number, end: number, onSent: (bytes: number) => void) {
  let sent = 0;
  for await (const chunk of createReadStream(path, {
    start,
    end: end - 1,
    highWaterMark: 256 * 1024,
  }) as AsyncIterable<Buffer>) {
    yield chunk;
    sent += chunk.length;
    onSent(sent);
  }
}

function locationOf(answer: NetworkResponse, registry: Registry): URL {
  try {
    return new URL(answer.headers.location ?? "", answer.url);
  } catch {
    throw new LocallmError("source_failed", {
      host: registry.host,
      reason: "it did not return an upload location",
    });
  }
}

/**
 * Throws the registry's message if the status is not expected, or `LostTrack` if the registry may have lost
 * the upload.
 */
async function finish(
  answer: NetworkResponse,
  registry: Registry,
  allowed: readonly number[],
  hasBroken = false,
): Promise<void> {
  const { status } = answer;
  if (allowed.includes(status)) {
    answer.body.resume();
    return;
  }
  const { host } = registry;
  const reason = await readRefusal(answer);
  if (status === 401 || status === 403)
    throw new LocallmError("push_unauthorized", { host, detail: ` (${reason})` });
  if (mayPass(status)) throw new LocallmError("source_unreachable", { host, reason });
  if (hasBroken && lostStatuses.includes(status)) throw new LostTrack("source_failed", { host, reason });
  throw new LocallmError("source_failed", { host, reason });
}
