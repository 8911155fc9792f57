import type { FastifyInstance } from "fastify";
import { embeddingsRequest, embedRequest } from "../../wire/api/inference.ts";
import { readBody } from "../body.ts";
import { embed, normalise, shorten } from "../embedding.ts";
import type { Parts } from "../parts.ts";
import { windowFields } from "../remote-turn.ts";
import { prepareRun } from "../run.ts";
import { nanoseconds } from "./counters.ts";

/** `POST /api/embed` and the older `/api/embeddings`. Never streamed. */
export function embedRoutes(app: FastifyInstance, parts: Parts): void {
  app.post("/api/embed", async (request, reply) => {
    const body = readBody(request, reply, embedRequest);
    const run = await prepareRun(parts, request, reply, body);
    if (run.remote !== null) run.tellIgnored(windowFields(body));
    const inputs = body.input === undefined || body.input === "" ? [] : [body.input].flat();
    const { vectors, tokens, waitedMs } = await embed(parts, run, inputs, body.truncate ?? true);
    const count = run.countEmbedded(tokens);
    return {
      model: run.typedName,
      embeddings: vectors.map((vector) => [...normalise(shorten(vector, body.dimensions))]),
      total_duration: nanoseconds(performance.now() - run.startedMs),
      load_duration: nanoseconds(waitedMs),
      prompt_eval_count: count,
    };
  });

  app.post("/api/embeddings", async (request, reply) => {
    const body = readBody(request, reply, embeddingsRequest);
    const run = await prepareRun(parts, request, reply, body);
    const prompt = body.prompt ?? "";
    const { vectors, tokens } = await embed(parts, run, prompt === "" ? [] : [prompt], true);
    run.countEmbedded(tokens);
    return { embedding: [...(vectors[0] ?? [])] };
  });
}
