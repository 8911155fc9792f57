import type { FastifyInstance } from "fastify";
import type { GenerateJob } from "../../scheduler/lease.ts";
import { type GenerateRequest, generateRequest } from "../../wire/api/inference.ts";
import { LocallmError } from "../../wire/errors.ts";
import { readBody } from "../body.ts";
import { generateJob } from "../generate-job.ts";
import type { Parts } from "../parts.ts";
import { prepareRun, type Run, requireCapability } from "../run.ts";
import { sendStream } from "../stream.ts";
import { counters, extras } from "./counters.ts";
import { loadOrUnload } from "./load.ts";
import { ndjson } from "./ndjson.ts";
import { refuseImages, refuseLogprobs } from "./refusals.ts";

/** `POST /api/generate`: the prompt goes to the model as it is, unless the request itself names a template. */
export function generateRoute(app: FastifyInstance, parts: Parts): void {
  app.post("/api/generate", async (request, reply) => {
    const body = readBody(request, reply, generateRequest);
    const run = await prepareRun(parts, request, reply, body);
    if (body.raw && (body.system ?? body.template ?? body.context) !== undefined)
      throw new LocallmError("raw_conflict", {});
    await requireCapability(parts, run, "completion", "generate");
    refuseLogprobs(body);
    refuseImages(run, body.images, "images");

    const isEmpty = (body.prompt ?? "") === "" && body.suffix === undefined;
    if (isEmpty) return await loadOrUnload(parts, run, { response: "" });

    const pieces = generate(run, body);
    if (body.stream === false) return await wholeAnswer(run, pieces);
    await sendStream(reply, encode(run, pieces), ndjson(request));
    return reply;
  });
}

type Piece = string | { readonly final: Record<string, unknown> };

async function* generate(run: Run, body: GenerateRequest): AsyncGenerator<Piece> {
  const lease = await run.lease();
  try {
    const job = generateJob(run.options, {
      prompt: promptOf(body),
      numCtx: lease.numCtx,
      truncate: body.truncate ?? false,
      shift: body.shift ?? false,
      wantContext: body.raw !== true,
    });
    for await (const event of lease.runner.generate(job, run.signal)) {
      if (event.kind === "text") yield event.text;
      else {
        run.count(event);
        const context = event.context === null ? {} : { context: event.context };
        yield {
          final: {
            done: true,
            done_reason: event.reason,
            ...context,
            ...counters(run, lease, event),
            ...extras(event, null),
          },
        };
      }
    }
  } finally {
    lease.release();
  }
}

function promptOf(body: GenerateRequest): GenerateJob["prompt"] {
  const text = body.prompt ?? "";
  return body.context === undefined || body.context.length === 0 ? text : [body.context, text];
}

/** What does not change from token to token is made once. */
async function* encode(run: Run, pieces: AsyncIterable<Piece>): AsyncGenerator<string> {
  const head = `{"model":${JSON.stringify(run.typedName)},"created_at":"`;
  for await (const piece of pieces) {
    const start = `${head}${new Date().toISOString()}","response":`;
    if (typeof piece === "string") yield `${start}${JSON.stringify(piece)},"done":false}\n`;
    else yield `${start}"",${JSON.stringify(piece.final).slice(1)}\n`;
  }
}

async function wholeAnswer(run: Run, pieces: AsyncIterable<Piece>) {
  let response = "";
  let final: Record<string, unknown> = {};
  for await (const piece of pieces) {
    if (typeof piece === "string") response += piece;
    else final = piece.final;
  }
  return { model: run.typedName, created_at: new Date().toISOString(), response, ...final };
}
