import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A registry whose answers the test determines. It serves blobs with ranges, directly or by redirect. */
export interface FakeRegistry {
  /** `127.0.0.1:port`. */
  readonly host: string;
  /** Method and path of every request, in order. */
  readonly requests: string[];
  readonly headers: IncomingMessage["headers"][];
  /** Bytes of blobs that the registry sent. */
  sentBytes: number;
  /** The pause between two slices of a blob, which makes a pull take some time. 0 sends the blob at once. */
  paceMs: number;
  readonly blobs: Map<string, Buffer>;
  /** Manifests by `repository:tag`; text and bytes are sent unchanged. */
  readonly manifests: Map<string, string | Buffer>;
  /** Called first for each request. It returns true if it has answered the request. */
  answer: ((request: IncomingMessage, response: ServerResponse, path: string) => boolean) | null;
  add(content: Buffer | string, mediaType: string): { mediaType: string; digest: string; size: number };
  /** Adds a model with these weights under this name and returns its manifest. */
  publish(name: string, weights: Buffer): { manifest: string; digest: string };
  close(): Promise<void>;
}

export const layerType = (kind: string) => `application/vnd.ollama.image.${kind}`;
const configType = "application/vnd.docker.container.image.v1+json";

export async function fakeRegistry(address = "127.0.0.1"): Promise<FakeRegistry> {
  const server = createServer((request, response) => {
    const path = (request.url ?? "").split("?")[0] ?? "";
    registry.requests.push(`${request.method} ${request.url}`);
    registry.headers.push(request.headers);
    if (registry.answer?.(request, response, path)) return;
    const [, repository, kind, reference] = /^\/v2\/(.+)\/(manifests|blobs)\/([^/]+)$/.exec(path) ?? [];
    const blob = kind === "blobs" ? registry.blobs.get(reference ?? "") : undefined;
    const manifest = kind === "manifests" ? registry.manifests.get(`${repository}:${reference}`) : undefined;
    if (manifest !== undefined) response.end(manifest);
    else if (blob !== undefined) sendBlob(request, response, blob);
    else response.writeHead(404).end('{"errors":[{"code":"MANIFEST_UNKNOWN"}]}');
  });
  const sendBlob = (request: IncomingMessage, response: ServerResponse, blob: Buffer) => {
    const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "") ?? [];
    const start = Number(from ?? 0);
    const end = to === undefined ? blob.length : Number(to) + 1;
    const part = blob.subarray(start, end);
    response.writeHead(from === undefined ? 200 : 206, {
      "content-length": part.length,
      ...(from === undefined ? {} : { "content-range": `bytes ${start}-${end - 1}/${blob.length}` }),
    });
    void sendSlices(response, part);
  };
  const sendSlices = async (response: ServerResponse, part: Buffer) => {
    const sliceBytes = registry.paceMs === 0 ? Math.max(part.length, 1) : 64 * 1024;
    for (let at = 0; at < part.length && !response.destroyed; at += sliceBytes) {
      const slice = part.subarray(at, at + sliceBytes);
      registry.sentBytes += slice.length;
      response.write(slice);
      if (registry.paceMs > 0) await new Promise((resolve) => setTimeout(resolve, registry.paceMs));
    }
    response.end();
  };
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  const registry: FakeRegistry = {
    host: `${address}:${(server.address() as AddressInfo).port}`,
    requests: [],
    headers: [],
    sentBytes: 0,
    paceMs: 0,
    blobs: new Map(),
    manifests: new Map(),
    answer: null,
    add(content, mediaType) {
      const bytes = Buffer.from(content as Buffer);
      const digest = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
      registry.blobs.set(digest, bytes);
      return { mediaType, digest, size: bytes.length };
    },
    publish(name, weights) {
      const layer = registry.add(weights, layerType("model"));
      const config = registry.add('{"model_format":"gguf","model_family":"llama"}', configType);
      const manifest = JSON.stringify({ schemaVersion: 2, config, layers: [layer] });
      registry.manifests.set(name, manifest);
      return { manifest, digest: layer.digest };
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return registry;
}
