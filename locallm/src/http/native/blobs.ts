import type { IncomingMessage } from "node:http";
import type { FastifyInstance } from "fastify";
import { requireDigest } from "../../library/digest.ts";
import { modelsFolderHeader } from "../../wire/api/library.ts";
import { LocallmError } from "../../wire/errors.ts";
import type { Parts } from "../parts.ts";

/** `HEAD` and `POST /api/blobs/:digest`: files of any size for create, verified against their digest. */
export function blobRoutes(app: FastifyInstance, parts: Parts): void {
  app.head("/api/blobs/:digest", async (request, reply) => {
    const { digest } = request.params as { digest: string };
    const { blobs } = parts.store;
    const sizeBytes = await blobs.size(requireDigest(digest));
    // Lets the CLI detect that it shares the models folder with the server.
    const identity = await blobs.identity();
    if (identity !== null) reply.header(modelsFolderHeader, identity);
    if (sizeBytes === null) return reply.code(404).send();
    return reply.code(200).header("content-length", sizeBytes).send();
  });

  // Uploads are gigabytes, so they are streamed to disk, not read into memory like other bodies.
  void app.register(async (uploads) => {
    uploads.removeAllContentTypeParsers();
    uploads.addContentTypeParser("*", (_request, payload, done) => done(null, payload));
    uploads.post("/api/blobs/:digest", async (request, reply) => {
      const digest = requireDigest((request.params as { digest: string }).digest);
      if ((await parts.store.blobs.size(digest)) !== null) {
        request.raw.resume();
        return reply.code(200).send();
      }
      try {
        await parts.store.blobs.writeStream(watched(request.raw), {
          expected: digest,
          announcedBytes: Number(request.headers["content-length"] ?? 0),
        });
      } catch (error) {
        readAway(request.raw);
        throw error;
      }
      return reply.code(201).send();
    });
  });
}

/** An upload that receives no byte for this long is aborted, even if its connection is open. */
const idleMs = 60_000;

async function* watched(raw: IncomingMessage): AsyncGenerator<Buffer> {
  let timer = setTimeout(() => {}, 0);
  const rearm = () => {
    clearTimeout(timer);
    timer = setTimeout(
      () => raw.destroy(new LocallmError("body_too_slow", { seconds: idleMs / 1000 })),
      idleMs,
    );
  };
  rearm();
  try {
    // Keep the connection open when reading stops early; the error is still sent on it.
    for await (const chunk of raw.iterator({ destroyOnReturn: false })) {
      rearm();
      yield chunk as Buffer;
    }
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Discards the rest of the body for up to 10 s. Otherwise a client that is still sending would not receive
 * the error message.
 */
function readAway(raw: IncomingMessage): void {
  if (raw.complete) return;
  const timer = setTimeout(() => raw.socket.destroy(), 10_000).unref();
  raw.resume().once("close", () => clearTimeout(timer));
}
