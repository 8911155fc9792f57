import type { FastifyInstance } from "fastify";
import { detokenizeRequest, tokenizeRequest } from "../../wire/api/inference.ts";
import { LocallmError } from "../../wire/errors.ts";
import { readBody } from "../body.ts";
import type { Parts } from "../parts.ts";
import { localRun, prepareRun } from "../run.ts";

/** The maximum number of tokens in one answer. A longer list would block the server while it is printed. */
const mostTokens = 1_048_576;

/** `POST /api/tokenize` and `/api/detokenize`. Ollama has neither; the field names are llama-server's. */
export function tokenizeRoutes(app: FastifyInstance, parts: Parts): void {
  app.post("/api/tokenize", async (request, reply) => {
    const body = readBody(request, reply, tokenizeRequest);
    const run = await prepareRun(parts, request, reply, body);
    const lease = await localRun(run, "tokenize").lease("visit");
    try {
      const addSpecial = body.add_special ?? true;
      const parseSpecial = body.parse_special ?? true;
      const options = { addSpecial, parseSpecial, limit: mostTokens };
      const tokens = await lease.runner.tokenize(body.content, options, run.signal);
      if (tokens.length > mostTokens) throw new LocallmError("content_too_long", { limit: mostTokens });
      return { model: run.typedName, tokens, count: tokens.length };
    } finally {
      lease.release();
    }
  });

  app.post("/api/detokenize", async (request, reply) => {
    const body = readBody(request, reply, detokenizeRequest);
    const run = await prepareRun(parts, request, reply, body);
    const lease = await localRun(run, "detokenize").lease("visit");
    try {
      return { model: run.typedName, content: await lease.runner.detokenize(body.tokens) };
    } finally {
      lease.release();
    }
  });
}
