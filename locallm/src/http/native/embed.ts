import type { FastifyInstance } from "fastify";
import type { Lease } from "../../scheduler/lease.ts";
import { embeddingsRequest, embedRequest } from "../../wire/api/inference.ts";
import { readBody } from "../body.ts";
import { checkCount, normalise, shorten } from "../embedding.ts";
import type { Parts } from "../parts.ts";
import { prepareRun, type Run, requirePurpose } from "../run.ts";
import { nanoseconds } from "./counters.ts";

/** `POST /api/embed` and the older `/api/embeddings`. Never streamed. */
export function embedRoutes(app: FastifyInstance, parts: Parts): void {
  app.post("/api/embed", async (request, reply) => {
    const body = readBody(request, reply, embedRequest);
    const run = await prepareRun(parts, request, reply, body);
    await requirePurpose(parts, run, "embedding", "embeddings");
    const inputs = body.input === undefined || body.input === "" ? [] : [body.input].flat();
    let lease = await run.lease();
    try {
      lease = await run.window.growFor(lease, inputs, { answer: 0, canShorten: true });
      const { vectors, tokens } = await embed(run, lease, inputs, body.truncate ?? true);
      const count = run.countEmbedded(tokens);
      return {
        model: run.typedName,
        embeddings: vectors.map((vector) => [...normalise(shorten(vector, body.dimensions))]),
        total_duration: nanoseconds(performance.now() - run.startedMs),
        load_duration: nanoseconds(lease.waitedMs),
        prompt_eval_count: count,
      };
    } finally {
      lease.release();
    }
  });

  app.post("/api/embeddings", async (request, reply) => {
    const body = readBody(request, reply, embeddingsRequest);
    const run = await prepareRun(parts, request, reply, body);
    await requirePurpose(parts, run, "embedding", "embeddings");
    let lease = await run.lease();
    try {
      const prompt = body.prompt ?? "";
      if (prompt === "") return { embedding: [] };
      lease = await run.window.growFor(lease, [prompt], { answer: 0, canShorten: true });
      const { vectors, tokens } = await embed(run, lease, [prompt], true);
      run.countEmbedded(tokens);
      return { embedding: [...(vectors[0] ?? [])] };
    } finally {
      lease.release();
    }
  });
}

async function embed(run: Run, lease: Lease, inputs: readonly string[], truncate: boolean) {
  if (inputs.length === 0) return { vectors: [], tokens: [] };
  checkCount(inputs.length, lease.info.embeddingLength);
  return await run.embed(lease, { inputs, truncate, numCtx: lease.numCtx });
}
