import type { AnswerReader } from "../../dialogue/answer-reader.ts";
import { type Constraint, formatConstraint } from "../../dialogue/constraint.ts";
import { isPictured, type TurnPrompt } from "../../dialogue/prompt-text.ts";
import { type Message, plainTurn } from "../../dialogue/turn.ts";
import type { LoadedVocabulary } from "../../scheduler/lease.ts";
import type { PictureParts } from "../../vision/vision.ts";
import type { GenerateRequest } from "../../wire/api/inference.ts";
import { LocallmError } from "../../wire/errors.ts";
import type { GenerateJob, PromptText, SampledLogprob } from "../../wire/inference/generate.ts";
import { answerFormat } from "../format.ts";
import type { Parts } from "../parts.ts";
import type { LocalRun, Run } from "../run.ts";
import { conversation, requireTraits } from "../run-turn.ts";
import { seenPrompt, seenTurn } from "../seen-turn.ts";

/** A piece of the answer, in the form that lines show. */
export type GeneratePiece =
  | {
      readonly kind: "response" | "thinking";
      readonly text: string;
      readonly logprobs?: readonly SampledLogprob[] | undefined;
      readonly toldIn?: number | undefined;
    }
  | { readonly kind: "final"; readonly fields: Record<string, unknown> };

type Content = Pick<Message, "content" | "parts">;

export interface PromptWish {
  /** The images of the prompt, before its text. */
  readonly content: Content;
  readonly templatesPlain: boolean;
}

/** A request's prompt for a loaded model. */
export interface ReadyPrompt {
  readonly prompt: GenerateJob["prompt"];
  readonly grammar: GenerateJob["grammar"];
  readonly constraint: Pick<Constraint, "unchecked"> | null;
  readonly renderSpecial?: boolean;
  readonly read: AnswerReader;
}

/**
 * Whether a plain prompt gets the model's template although the request does not ask for it. `ollama run MODEL
 * "prompt"` sends a plain prompt and counts on the template; its user agent is `ollama/0.33.0 (amd64 linux)
 * Go/go1.26.0`, that of Ollama's Python and JavaScript libraries begins otherwise.
 */
export function templatesPlainPrompts(
  setting: Parts["settings"]["generate"],
  userAgent: string | undefined,
): boolean {
  return (
    setting === "template" || (setting === "auto" && /^ollama\/\S+ \([^)]*\) Go\//.test(userAgent ?? ""))
  );
}

/**
 * Prepares the prompt. The prompt is raw, unless the request has `system`, `template` or `suffix`, or
 * `templatesPlain`. Throws at once if the model lacks a capability that
 * the request needs.
 */
export async function generatePrompt(
  parts: Parts,
  run: LocalRun,
  body: GenerateRequest,
  { content, templatesPlain }: PromptWish,
): Promise<(loaded: LoadedVocabulary) => Promise<ReadyPrompt>> {
  refuseRawConflict(body);
  const asked = (body.system ?? body.template ?? body.suffix) !== undefined;
  const templated = body.raw !== true && (asked || templatesPlain);
  return templated
    ? await templatedPrompt(parts, run, body, content)
    : await rawPrompt(parts, run, body, content);
}

export function refuseRawConflict({ raw, system, template, context }: GenerateRequest): void {
  if (raw === true && (system ?? template ?? context) !== undefined)
    throw new LocallmError("raw_conflict", {});
}

async function rawPrompt(parts: Parts, run: LocalRun, body: GenerateRequest, content: Content) {
  const turn = plainTurn([], { think: body.think ?? null });
  if (body.think) requireTraits(run, await parts.dialogues.traits(run.model), turn);
  const constraint = await formatConstraint(answerFormat(body.format), run.schemas);
  run.tellIgnored(constraint?.ignored ?? []);
  const grammar = constraint?.grammar(false) ?? null;
  const text = body.prompt ?? "";
  const { turn: seen, pictures } = await seenTurn(run, plainTurn([{ role: "user", ...content }]));
  const places = (seen.messages[0]?.placed ?? []).filter((part) => typeof part === "number");
  const pictured = { parts: [...places.map((picture) => ({ picture })), ...(text === "" ? [] : [text])] };
  return async (loaded: LoadedVocabulary) => ({
    prompt: await finalPrompt(run, body, places.length === 0 ? text : pictured, pictures, loaded),
    ...{ grammar, constraint, read: asItIs },
  });
}

async function templatedPrompt(parts: Parts, run: LocalRun, body: GenerateRequest, content: Content) {
  const dialogue = await parts.dialogues.of(run.model, body.template);
  const asked = plainTurn(firstMessages(run, body, content), {
    think: body.think ?? null,
    format: answerFormat(body.format),
  });
  requireTraits(run, dialogue.traits, asked);
  const { suffix } = body;
  if (suffix !== undefined && !dialogue.traits.insert)
    throw new LocallmError("unsupported_capability", { model: run.typedName, capability: "insert" });
  if (suffix !== undefined && content.parts !== undefined)
    throw new LocallmError("invalid_field", { field: "images", problem: "cannot be combined with suffix" });
  const constraint = await dialogue.constraint(asked, run.schemas);
  run.tellIgnored(constraint?.ignored ?? []);
  const { turn, pictures } = await seenTurn(run, asked);
  return async (loaded: LoadedVocabulary) => {
    const vocabulary = run.promptVocabulary(loaded);
    const rendering =
      suffix === undefined
        ? dialogue.prompt(turn, vocabulary, run.signal)
        : dialogue.insert(body.prompt ?? "", suffix, vocabulary, run.signal);
    const text = await rendered(body, rendering);
    return {
      prompt: await finalPrompt(run, body, text, pictures, loaded),
      grammar: constraint?.grammar(text) ?? null,
      constraint,
      renderSpecial: dialogue.marked,
      read: dialogue.reader(turn, text),
    };
  };
}

/** Reports an error of the request's own template as an error of the request. */
async function rendered(body: GenerateRequest, rendering: Promise<TurnPrompt>): Promise<TurnPrompt> {
  try {
    return await rendering;
  } catch (cause) {
    if (body.template === undefined || !(cause instanceof LocallmError)) throw cause;
    const { problem, limit } = cause.details;
    if (cause.code === "template_failed")
      throw new LocallmError("template_invalid", { problem: `it ${problem}` }, { cause });
    if (cause.code === "template_over_budget")
      throw new LocallmError("template_invalid", { problem: `it takes more than ${limit}` }, { cause });
    throw cause;
  }
}

/** A prompt with pictures is tokenized here, because its texts stand apart. */
async function finalPrompt(
  { signal }: LocalRun,
  { context }: GenerateRequest,
  text: TurnPrompt,
  pictures: readonly PictureParts[],
  loaded: LoadedVocabulary,
): Promise<GenerateJob["prompt"]> {
  if (!isPictured(text)) return inFront(context, text);
  const counted = await seenPrompt(text, pictures, loaded, { limit: null, signal });
  const parts = "parts" in counted ? counted.parts : [counted];
  return context === undefined ? parts : [context, ...parts];
}

/** Puts the tokens of an earlier answer before the text. */
function inFront(context: readonly number[] | undefined, text: PromptText): GenerateJob["prompt"] {
  return context === undefined || context.length === 0 ? text : [context, text];
}

/**
 * Returns a conversation of one message. A `context` already contains the model's system text and example
 * messages.
 */
export function firstMessages(
  run: Run,
  body: GenerateRequest,
  content: Pick<Message, "content" | "parts"> = { content: body.prompt ?? "" },
) {
  const system = body.system === undefined ? [] : [{ role: "system", content: body.system }];
  const messages = [...system, { role: "user", ...content }];
  return body.context === undefined ? conversation(run.model, messages) : messages;
}

const asItIs: ReadyPrompt["read"] = {
  push: (text) => [{ kind: "content", text }],
  end: () => [],
  plain: () => ({ kind: "content", markers: [] }),
};
