import type { FastifyInstance } from "fastify";
import type { Message } from "../../dialogue/turn.ts";
import type { LoadedVocabulary } from "../../scheduler/lease.ts";
import { type GenerateRequest, generateRequest } from "../../wire/api/inference.ts";
import type { GenerateJob } from "../../wire/inference/generate.ts";
import { AnswerCheck } from "../answer-check.ts";
import { readBody } from "../body.ts";
import { tellDropped } from "../dropped.ts";
import { generateJob } from "../generate-job.ts";
import { contentWithImages, imageReader } from "../images.ts";
import { logprobsWish, PieceLogprobs } from "../logprobs.ts";
import { StreamOutlet, shapeOf } from "../outlet.ts";
import type { Parts } from "../parts.ts";
import { type LocalRun, prepareRun, type Run } from "../run.ts";
import { sendStream } from "../stream.ts";
import { counters, extras, violationsField } from "./counters.ts";
import {
  type GeneratePiece,
  generatePrompt,
  type ReadyPrompt,
  templatesPlainPrompts,
} from "./generate-prompt.ts";
import { loadOrUnload } from "./load.ts";
import { ndjson } from "./ndjson.ts";
import { remoteGeneration } from "./remote-generation.ts";
import { shownLogprobs } from "./shown-logprobs.ts";

/** `POST /api/generate`: one prompt, one answer. */
export function generateRoute(app: FastifyInstance, parts: Parts): void {
  app.post("/api/generate", async (request, reply) => {
    const body = readBody(request, reply, generateRequest);
    const run = await prepareRun(parts, request, reply, body);
    const logprobs = logprobsWish(body);
    const read = await imageReader(parts, run);
    const content = contentWithImages(body.prompt ?? "", body.images, "images", read);
    const onCut = (tokens: number) => tellDropped(reply, { messages: 0, tokens });
    const outlet = body.stream === false ? null : StreamOutlet.of(reply);
    const templatesPlain = templatesPlainPrompts(parts.settings.generate, request.headers["user-agent"]);
    const generating =
      run.remote === null
        ? await localGeneration(parts, run, body, { content, logprobs, onCut, templatesPlain, outlet })
        : await remoteGeneration(parts, run, body, { content, logprobs, templatesPlain });

    const isEmpty = (body.prompt ?? "") === "" && body.suffix === undefined;
    if (isEmpty) return await loadOrUnload(parts, run, { response: "" });

    const pieces = generating();
    if (body.stream === false) return await wholeAnswer(run, pieces);
    await sendStream(reply, encode(run, pieces, outlet), { ...ndjson(request), outlet });
    return reply;
  });
}

interface GenerateWish {
  readonly content: Pick<Message, "content" | "parts">;
  readonly logprobs: GenerateJob["logprobs"];
  readonly templatesPlain: boolean;
  readonly outlet: StreamOutlet | null;
  /** Called before the first piece, when headers can still be set. */
  onCut(tokens: number): void;
}

async function localGeneration(parts: Parts, run: LocalRun, body: GenerateRequest, wish: GenerateWish) {
  const prompt = await generatePrompt(parts, run, body, wish);
  return () => generate(run, body, prompt, wish);
}

async function* generate(
  run: LocalRun,
  body: GenerateRequest,
  ready: (loaded: LoadedVocabulary) => Promise<ReadyPrompt>,
  wish: GenerateWish,
): AsyncGenerator<GeneratePiece> {
  const growth = { answer: run.window.answerTokens, canShorten: body.truncate ?? false };
  let prepared: Promise<ReadyPrompt> | null = null;
  const prepare = (loaded: LoadedVocabulary) => (prepared ??= ready(loaded));
  const sizing = run.window.sizingFor(async (loaded) => [(await prepare(loaded)).prompt], growth);
  let lease = await run.lease("slot", sizing);
  try {
    const { prompt, constraint, grammar, read, renderSpecial = false } = await prepare(lease);
    lease = await run.window.growFor(lease, [prompt], growth);
    const check = new AnswerCheck(run.schemas, constraint);
    const job = generateJob(run.options, {
      prompt,
      grammar,
      renderSpecial,
      numCtx: lease.numCtx,
      truncate: body.truncate ?? false,
      shift: body.shift ?? false,
      logprobs: wish.logprobs,
      // The numbers of tokens cannot say which picture stood between them.
      wantContext: body.raw !== true && (body.images ?? []).length === 0,
    });
    const logprobs = wish.logprobs === undefined ? null : new PieceLogprobs();
    const outlet = logprobs === null ? wish.outlet : null;
    outlet?.readBy(() => read.plain());
    let isFirst = true;
    for await (const event of run.generate(lease, job, outlet)) {
      const cutTokens = event.kind === "done" ? event.truncatedTokens : (event.prompt?.truncatedTokens ?? 0);
      if (isFirst && cutTokens > 0) wish.onCut(cutTokens);
      isFirst = false;
      if (event.kind === "text") logprobs?.add(event.logprobs ?? []);
      const parts = event.kind === "text" ? read.push(event.text) : read.end();
      for (const read of parts) {
        check.see(read);
        const part = logprobs === null ? read : logprobs.addTo(read);
        if (part.kind !== "content" && part.kind !== "thinking") continue;
        const kind = part.kind === "content" ? "response" : "thinking";
        const toldIn = event.kind === "text" ? event.toldIn : undefined;
        yield { kind, text: part.text, logprobs: part.logprobs, toldIn };
      }
      if (event.kind === "done") {
        run.count(event);
        const context = event.context === null ? {} : { context: event.context };
        const fields = { ...context, ...counters(run, lease, event), ...extras(run, lease, event, null) };
        const violations = violationsField(await check.violations());
        yield { kind: "final", fields: { done: true, done_reason: event.reason, ...fields, ...violations } };
      }
    }
  } catch (error) {
    throw run.window.explained(error, lease);
  } finally {
    lease.release();
  }
}

/** Builds the constant part of the lines once. */
async function* encode(
  run: Run,
  pieces: AsyncIterable<GeneratePiece>,
  outlet: StreamOutlet | null,
): AsyncGenerator<string> {
  const head = `{"model":${JSON.stringify(run.typedName)},"created_at":"`;
  const start = (time = new Date().toISOString()) => `${head}${time}","response":`;
  const textLine = (isThinking: boolean, text: string, time?: string, more = "") =>
    `${start(time)}${isThinking ? '"","thinking":' : ""}${JSON.stringify(text)}${more},"done":false}\n`;
  outlet?.toldBy((kind) => ({
    shape: shapeOf(({ text, time }) => textLine(kind === "thinking", text, time)),
    number: 0,
  }));
  for await (const piece of pieces) {
    if (piece.kind === "final") yield `${start()}"",${JSON.stringify(piece.fields).slice(1)}\n`;
    else if (piece.toldIn === undefined) {
      const shown =
        piece.logprobs === undefined ? "" : `,"logprobs":${JSON.stringify(shownLogprobs(piece.logprobs))}`;
      yield textLine(piece.kind === "thinking", piece.text, undefined, shown);
    }
  }
}

async function wholeAnswer(run: Run, pieces: AsyncIterable<GeneratePiece>) {
  const texts = { response: "", thinking: "" };
  let final: Record<string, unknown> = {};
  const logprobs: unknown[] = [];
  for await (const piece of pieces) {
    if (piece.kind === "final") final = piece.fields;
    else {
      texts[piece.kind] += piece.text;
      logprobs.push(...(shownLogprobs(piece.logprobs) ?? []));
    }
  }
  const { response, thinking } = texts;
  const thought = thinking === "" ? {} : { thinking };
  const probabilities = logprobs.length === 0 ? {} : { logprobs };
  const created = { model: run.typedName, created_at: new Date().toISOString() };
  return { ...created, response, ...thought, ...probabilities, ...final };
}
