import type { FastifyInstance } from "fastify";
import { createModel } from "../../library/create.ts";
import { compileGo } from "../../template/go/template.ts";
import { createRequest } from "../../wire/api/library.ts";
import { LocallmError } from "../../wire/errors.ts";
import { requireModelName } from "../../wire/model-name.ts";
import { readBody } from "../body.ts";
import type { Parts } from "../parts.ts";
import { sendProgress } from "./progress.ts";

/** `POST /api/create`: a model from another one or from uploaded blobs. */
export function createRoute(app: FastifyInstance, parts: Parts): void {
  app.post("/api/create", async (request, reply) => {
    const body = readBody(request, reply, createRequest);
    const name = requireModelName(body.model || body.name);
    return await sendProgress(request, reply, body.stream, async (onProgress) => {
      await createModel(name, body, {
        store: parts.store,
        checkTemplate,
        onStatus: (status) => onProgress({ status }),
      });
    });
  });
}

function checkTemplate(text: string): void {
  try {
    compileGo(text);
  } catch (cause) {
    if (cause instanceof LocallmError) throw cause;
    throw new LocallmError(
      "template_invalid",
      { problem: cause instanceof Error ? cause.message : String(cause) },
      { cause },
    );
  }
}
