import type { FastifyInstance } from "fastify";
import type { Dialogue } from "../../dialogue/dialogue.ts";
import type { Lease, LoadedVocabulary } from "../../scheduler/lease.ts";
import { LocallmError } from "../../wire/errors.ts";
import type {
  GenerateDone,
  GenerateEvent,
  GenerateJob,
  SampledLogprob,
} from "../../wire/inference/generate.ts";
import { type CompletionsRequest, completionsRequest, inputList } from "../../wire/openai/completions.ts";
import { readBody } from "../body.ts";
import { generateJob } from "../generate-job.ts";
import { StreamOutlet, shapeOf } from "../outlet.ts";
import type { Parts } from "../parts.ts";
import { remoteEvents, remoteTraits } from "../remote-turn.ts";
import { type LocalRun, prepareRun, type RemoteRun } from "../run.ts";
import { refuse, samplingOptions } from "../sampling.ts";
import { done, event, fingerprint, newId, sse } from "../sse.ts";
import { sendStream } from "../stream.ts";
import { type AnswerHead, usageOf } from "./chat-completions.ts";
import { type CompletionLogprobs, CompletionLogprobsWriter } from "./completion-logprobs.ts";

/** `POST /v1/completions`: completes the raw prompt. Uses the model's template only for a `suffix`. */
export function completionsRoute(app: FastifyInstance, parts: Parts): void {
  app.post("/v1/completions", async (request, reply) => {
    const body = readBody(request, reply, completionsRequest);
    refuse("n", (body.n ?? 1) > 1, ": only one choice per prompt");
    refuse("best_of", (body.best_of ?? 1) > 1, ": only one choice per prompt");
    refuse("logprobs", body.logprobs !== undefined && body.echo === true, " together with echo");
    const run = await prepareRun(parts, request, reply, { ...body, options: samplingOptions(body) });
    const isLocal = run.remote === null;
    const dialogue = body.suffix === undefined || !isLocal ? null : await parts.dialogues.of(run.model);
    const traits = isLocal ? dialogue?.traits : remoteTraits(run.model);
    if (body.suffix !== undefined && traits?.insert !== true)
      throw new LocallmError("unsupported_capability", { model: run.typedName, capability: "insert" });
    const outlet = body.stream === true ? StreamOutlet.of(reply) : null;
    const pieces =
      run.remote === null
        ? complete(run, body, dialogue, outlet)
        : completeThere(parts, run, body, inputList(body.prompt).map(requireText));
    const head = { id: newId("cmpl-"), created: Math.floor(Date.now() / 1000), model: run.typedName };
    if (body.stream !== true) return await wholeAnswer(head, pieces);
    const withUsage = body.stream_options?.include_usage === true;
    await sendStream(reply, encode(head, pieces, withUsage, outlet), { ...sse(request), outlet });
    return reply;
  });
}

type Piece =
  | {
      readonly kind: "text";
      readonly index: number;
      readonly text: string;
      readonly logprobs?: readonly SampledLogprob[] | undefined;
      readonly toldIn?: number | undefined;
    }
  | { readonly kind: "done"; readonly index: number; readonly done: GenerateDone };

/** Answers several prompts one after the other, in the same slot. */
async function* complete(
  run: LocalRun,
  body: CompletionsRequest,
  dialogue: Dialogue | null,
  outlet: StreamOutlet | null,
): AsyncGenerator<Piece> {
  const growth = { answer: run.window.answerTokens, canShorten: false };
  const inputs = inputList(body.prompt);
  const prompts: Promise<GenerateJob["prompt"]>[] = [];
  const promptAt = (index: number, loaded: LoadedVocabulary) =>
    (prompts[index] ??= promptOf(inputs[index]!, body, dialogue, run, loaded));
  const sizing = run.window.sizingFor(
    (loaded) => Promise.all(inputs.map((_, index) => promptAt(index, loaded))),
    growth,
  );
  let lease = await run.lease("slot", sizing);
  try {
    for (const [index, prompt] of inputs.entries()) {
      if (body.echo === true) yield { kind: "text", index, text: await textOf(prompt, lease) };
      const asked = await promptAt(index, lease);
      lease = await run.window.growFor(lease, [asked], growth);
      for await (const piece of answer(run, lease, asked, body.logprobs, outlet)) {
        if (piece.kind === "text") {
          const { text, logprobs, toldIn } = piece;
          yield { kind: "text", index, text, logprobs, toldIn };
        } else {
          run.count(piece);
          yield { kind: "done", index, done: piece };
        }
      }
    }
  } catch (error) {
    throw run.window.explained(error, lease);
  } finally {
    lease.release();
  }
}

/** Asks another engine for the prompts, one after the other. */
async function* completeThere(
  parts: Parts,
  run: RemoteRun,
  { suffix, echo, logprobs: top }: CompletionsRequest,
  prompts: readonly string[],
): AsyncGenerator<Piece> {
  for (const [index, prompt] of prompts.entries()) {
    if (echo === true) yield { kind: "text", index, text: prompt };
    const ask = {
      prompt,
      options: run.options,
      ...(suffix === undefined ? {} : { suffix }),
      ...(top === undefined ? {} : { logprobs: { top } }),
    };
    for await (const event of remoteEvents(parts, run, { kind: "complete", ask })) {
      if (event.kind === "content") yield { kind: "text", index, text: event.text, logprobs: event.logprobs };
      else if (event.kind === "done") yield { kind: "done", index, done: event.done };
    }
  }
}

function requireText(prompt: string | number[]): string {
  if (typeof prompt === "string") return prompt;
  throw new LocallmError("unsupported_parameter", {
    field: "prompt",
    hint: " with tokens: a remote model takes text only",
  });
}

function answer(
  run: LocalRun,
  lease: Lease,
  prompt: GenerateJob["prompt"],
  top: number | undefined,
  outlet: StreamOutlet | null,
): AsyncIterable<GenerateEvent> {
  const logprobs = top === undefined ? undefined : { top };
  const job = generateJob(run.options, { prompt, numCtx: lease.numCtx, logprobs });
  outlet?.readBy(() => ({ kind: "content", markers: [] }));
  return run.generate(lease, job, logprobs === undefined ? outlet : null);
}

async function promptOf(
  prompt: string | number[],
  { suffix = "" }: CompletionsRequest,
  dialogue: Dialogue | null,
  run: LocalRun,
  loaded: LoadedVocabulary,
): Promise<GenerateJob["prompt"]> {
  if (dialogue === null) return prompt;
  return await dialogue.insert(
    await textOf(prompt, loaded),
    suffix,
    run.promptVocabulary(loaded),
    run.signal,
  );
}

async function textOf(prompt: string | number[], { runner }: LoadedVocabulary): Promise<string> {
  return typeof prompt === "string" ? prompt : await runner.detokenize(prompt);
}

async function* encode(
  head: AnswerHead,
  pieces: AsyncIterable<Piece>,
  withUsage: boolean,
  outlet: StreamOutlet | null,
): AsyncGenerator<string> {
  const base = {
    ...head,
    object: "text_completion",
    system_fingerprint: fingerprint,
    ...(withUsage ? { usage: null } : {}),
  };
  const start = `data: ${JSON.stringify(base).slice(0, -1)},"choices":[{"text":`;
  const ended: GenerateDone[] = [];
  let writer = new CompletionLogprobsWriter();
  const textLine = (text: string, index: number, shown = "null") =>
    `${start}${JSON.stringify(text)},"index":${index},"finish_reason":null,"logprobs":${shown}}]}\n\n`;
  // Each prompt begins when the one before has ended.
  outlet?.toldBy(() => ({ shape: shapeOf(({ text }) => textLine(text, ended.length)), number: 0 }));
  for await (const piece of pieces) {
    if (piece.kind === "text") {
      const { text, index, logprobs } = piece;
      if (piece.toldIn === undefined)
        yield textLine(text, index, logprobs && JSON.stringify(writer.write(logprobs)));
    } else {
      writer = new CompletionLogprobsWriter();
      ended.push(piece.done);
      yield `${start}"","index":${piece.index},"finish_reason":"${piece.done.reason}","logprobs":null}]}\n\n`;
    }
  }
  yield (withUsage ? event({ ...base, choices: [], usage: totalUsage(ended) }) : "") + done;
}

async function wholeAnswer(head: AnswerHead, pieces: AsyncIterable<Piece>) {
  const choices: {
    text: string;
    index: number;
    finish_reason: string | null;
    logprobs: CompletionLogprobs | null;
  }[] = [];
  const ended: GenerateDone[] = [];
  let sampled: SampledLogprob[] = [];
  for await (const piece of pieces) {
    choices[piece.index] ??= { text: "", index: piece.index, finish_reason: null, logprobs: null };
    const choice = choices[piece.index]!;
    if (piece.kind === "text") {
      choice.text += piece.text;
      sampled.push(...(piece.logprobs ?? []));
    } else {
      if (sampled.length > 0) choice.logprobs = new CompletionLogprobsWriter().write(sampled);
      sampled = [];
      choice.finish_reason = piece.done.reason;
      ended.push(piece.done);
    }
  }
  return {
    ...head,
    object: "text_completion",
    system_fingerprint: fingerprint,
    choices,
    usage: totalUsage(ended),
  };
}

function totalUsage(ended: readonly GenerateDone[]) {
  const sum = (of: (done: GenerateDone) => number) => ended.reduce((total, done) => total + of(done), 0);
  const drafts = {
    tokens: sum((done) => done.drafts?.tokens ?? 0),
    accepted: sum((done) => done.drafts?.accepted ?? 0),
  };
  return usageOf({
    promptTokens: sum((done) => done.promptTokens),
    evalTokens: sum((done) => done.evalTokens),
    cachedTokens: sum((done) => done.cachedTokens),
    ...(drafts.tokens === 0 ? {} : { drafts }),
  });
}
