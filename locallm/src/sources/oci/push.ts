import { createReadStream } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { type Layer, manifestLayers, mediaTypes, parseManifest } from "../../library/manifest.ts";
import type { Store } from "../../library/store.ts";
import type { ProgressLine } from "../../wire/api/library.ts";
import { LocallmError } from "../../wire/errors.ts";
import { displayModelName, type ModelName, parseModelName } from "../../wire/model-name.ts";
import type { NetworkResponse } from "../network.ts";
import { patiently } from "../patience.ts";
import type { Registry } from "./registry.ts";

export interface PushContext {
  store: Store;
  onProgress(line: ProgressLine): void;
  signal: AbortSignal;
  /** Before the second try of a chunk; doubles with each. */
  retryDelayMs?: number;
}

const chunkBytes = 64 * 1024 * 1024;
const tries = 6;
/** Some registries forget an upload whose chunk broke off: it begins anew, as a whole. */
const uploads = 20;

/** Pushes a model: the blobs that the registry lacks, each verified before a byte of it leaves, then the manifest. */
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
  for (const layer of manifestLayers(manifest)) await pushLayer(registry, layer, name, context);
  onProgress({ status: "pushing manifest" });
  const { mediaType } = JSON.parse(bytes.toString()) as { mediaType?: string };
  const request = {
    method: "PUT" as const,
    headers: { "content-type": mediaType ?? mediaTypes.manifest },
    body: () => bytes,
    signal,
  };
  const answer = await patiently(() => registry.send(`manifests/${name.tag}`, request, "push"), signal);
  finish(answer, registry, [200, 201, 202]);
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
  const request = { method: "HEAD" as const, signal };
  const head = await patiently(() => registry.send(`blobs/${digest}`, request, "push"), signal);
  finish(head, registry, [200, 404]);
  if (head.status === 404) {
    if (!(await store.blobs.verify(digest, signal))) throw new LocallmError("blob_damaged", { digest });
    const location = await beginUpload(registry, layer, name, context);
    if (location !== null) {
      await upload(registry, layer, location, {
        ...context,
        onProgress: (line) => onProgress({ ...line, status }),
      });
    }
  }
  onProgress({ status, digest, total, completed: total });
}

/** Null where the registry took the blob from another of its repositories. */
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
  const answer = await registry.send(`blobs/uploads/${mount}`, { method: "POST", signal }, "push");
  finish(answer, registry, [201, 202]);
  return answer.status === 201 ? null : locationOf(answer, registry);
}

/** Sends the blob, and begins a new upload where the registry no longer wants to know of a broken one. */
async function upload(registry: Registry, layer: Layer, begin: URL, context: PushContext): Promise<void> {
  let location = begin;
  for (let attempt = 1; ; attempt++) {
    try {
      await uploadChunks(registry, layer, location, context);
      return;
    } catch (error) {
      const isRefusal = error instanceof LocallmError && error.code === "source_failed";
      if (!isRefusal || attempt === uploads || context.signal.aborted) throw error;
      const answer = await registry.send(
        "blobs/uploads/",
        { method: "POST", signal: context.signal },
        "push",
      );
      finish(answer, registry, [202]);
      location = locationOf(answer, registry);
    }
  }
}

async function uploadChunks(
  registry: Registry,
  layer: Layer,
  begin: URL,
  context: PushContext,
): Promise<void> {
  const { digest, sizeBytes: total } = layer;
  const { signal } = context;
  const path = context.store.blobs.path(digest);
  let state = { location: begin, completed: 0 };
  let failures = 0;
  while (state.completed < total) {
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
    try {
      const answer = await registry.send(location, { method: "PATCH", headers, body, signal }, "push");
      finish(answer, registry, [202]);
      state = { location: locationOf(answer, registry), completed: end };
      failures = 0;
    } catch (error) {
      signal.throwIfAborted();
      failures += 1;
      if (failures === tries || !isPassing(error)) throw error;
      await sleep((context.retryDelayMs ?? 1000) * 2 ** (failures - 1), undefined, { signal });
      state = await uploadState(registry, location, start, context);
    }
  }
  const close = new URL(state.location);
  close.searchParams.set("digest", digest);
  const answer = await registry.send(
    close,
    { method: "PUT", headers: { "content-length": "0" }, signal },
    "push",
  );
  finish(answer, registry, [201, 204]);
}

/** After a broken chunk the registry says how much of it arrived. */
async function uploadState(registry: Registry, location: URL, before: number, { signal }: PushContext) {
  const answer = await registry.send(location, { method: "GET", signal }, "push");
  finish(answer, registry, [204]);
  const [, last] = /^(?:bytes=)?0-(\d+)$/.exec(answer.headers["range"] ?? "") ?? [];
  const completed = last === undefined ? before : Number(last) + 1;
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
      reason: "it does not say where to upload",
    });
  }
}

function finish(answer: NetworkResponse, registry: Registry, allowed: readonly number[]): void {
  answer.body.resume();
  if (allowed.includes(answer.status)) return;
  if (answer.status === 401 || answer.status === 403) {
    throw new LocallmError("push_unauthorized", { host: registry.host });
  }
  const code = answer.status >= 500 ? "source_unreachable" : "source_failed";
  throw new LocallmError(code, { host: registry.host, reason: `it answered ${answer.status}` });
}

function isPassing(error: unknown): boolean {
  return error instanceof LocallmError && error.code === "source_unreachable";
}
