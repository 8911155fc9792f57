import type { FastifyInstance } from "fastify";
import { LocallmError } from "../../wire/errors.ts";
import { embeddingsRequest, inputList } from "../../wire/openai/completions.ts";
import { readBody } from "../body.ts";
import { embed, normalise, shorten } from "../embedding.ts";
import type { Parts } from "../parts.ts";
import { prepareRun } from "../run.ts";

/** `POST /v1/embeddings`: vectors of length 1, as numbers or as base64 of little-endian float32. */
export function embeddingsRoute(app: FastifyInstance, parts: Parts): void {
  app.post("/v1/embeddings", async (request, reply) => {
    const body = readBody(request, reply, embeddingsRequest);
    const inputs = inputList(body.input);
    if (inputs.length === 0 || inputs.some((input) => input.length === 0))
      throw new LocallmError("invalid_field", { field: "input", problem: "must not be empty" });
    const run = await prepareRun(parts, request, reply, body);
    const { vectors, tokens } = await embed(parts, run, inputs, true);
    const count = run.countEmbedded(tokens);
    const data = vectors.map((vector, index) => {
      const embedding = normalise(shorten(vector, body.dimensions));
      return {
        object: "embedding",
        index,
        embedding: body.encoding_format === "base64" ? base64(embedding) : [...embedding],
      };
    });
    return {
      object: "list",
      data,
      model: run.typedName,
      usage: { prompt_tokens: count, total_tokens: count },
    };
  });
}

function base64(vector: Float32Array): string {
  const bytes = Buffer.alloc(vector.length * 4);
  for (const [index, value] of vector.entries()) bytes.writeFloatLE(value, index * 4);
  return bytes.toString("base64");
}
