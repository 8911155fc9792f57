import type { AnswerPiece } from "../../dialogue/answer.ts";
import type { Dialogue } from "../../dialogue/dialogue.ts";
import { plainTurn, type Turn } from "../../dialogue/turn.ts";
import type { GenerateJob, Lease } from "../../scheduler/lease.ts";
import type { GenerateRequest } from "../../wire/api/inference.ts";
import { LocallmError } from "../../wire/errors.ts";
import { answerFormat } from "../format.ts";
import type { Parts } from "../parts.ts";
import { type Run, requireCapability } from "../run.ts";
import { conversation, requireTraits } from "../turn.ts";

/** How a request's prompt reaches the model, and how its answer is read. */
export interface GeneratePrompt {
  /** The engine's prompt for a model that is loaded, and the reader of what follows it. */
  ready(lease: Lease): { readonly prompt: GenerateJob["prompt"]; readonly read: AnswerText };
}

export interface AnswerText {
  push(text: string): readonly AnswerPiece[];
  end(): readonly AnswerPiece[];
}

/**
 * The prompt as it was sent, unless `system`, `template` or `suffix` stands in the request, or the server was
 * told to do as Ollama does. Refuses what the model cannot do before anything is loaded.
 */
export async function generatePrompt(parts: Parts, run: Run, body: GenerateRequest): Promise<GeneratePrompt> {
  if (body.raw === true && (body.system ?? body.template ?? body.context) !== undefined)
    throw new LocallmError("raw_conflict", {});
  const format = answerFormat(body.format);
  const asked = (body.system ?? body.template ?? body.suffix) !== undefined;
  const templated = body.raw !== true && (asked || parts.settings.generate === "template");
  const before = body.context ?? [];
  const inFront = (text: string) => (before.length === 0 ? text : [before, text]);

  if (!templated) {
    if (body.think !== undefined && body.think !== false) await requireCapability(parts, run, "thinking");
    return { ready: () => ({ prompt: inFront(body.prompt ?? ""), read: asItIs }) };
  }

  if (body.suffix !== undefined) await requireCapability(parts, run, "insert");
  const dialogue = await parts.dialogues.of(run.model, body.template);
  const turn = plainTurn(firstMessages(run, body), { think: body.think ?? null, format });
  requireTraits(run, dialogue, turn);
  return { ready: (lease) => render(dialogue, turn, lease, inFront) };
}

function render(
  dialogue: Dialogue,
  turn: Turn,
  lease: Lease,
  inFront: (text: string) => GenerateJob["prompt"],
) {
  const text = dialogue.prompt(turn, lease.info);
  return { prompt: inFront(text), read: dialogue.reader(turn, text) };
}

/** A conversation of one message; with `context` the model's own beginning stands in there already. */
function firstMessages(run: Run, body: GenerateRequest) {
  const system = body.system === undefined ? [] : [{ role: "system", content: body.system }];
  const messages = [...system, { role: "user", content: body.prompt ?? "" }];
  return body.context === undefined ? conversation(run.model, messages) : messages;
}

const asItIs: AnswerText = {
  push: (text) => [{ kind: "content", text }],
  end: () => [],
};
