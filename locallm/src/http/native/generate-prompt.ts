import type { AnswerPiece } from "../../dialogue/answer.ts";
import { formatGrammar } from "../../dialogue/constraint.ts";
import { plainTurn } from "../../dialogue/turn.ts";
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
  ready(lease: Lease): ReadyPrompt;
}

export interface ReadyPrompt {
  readonly prompt: GenerateJob["prompt"];
  readonly read: AnswerText;
  readonly grammar: GenerateJob["grammar"];
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
    const grammar = formatGrammar(format);
    return { ready: () => ({ prompt: inFront(body.prompt ?? ""), read: asItIs, grammar }) };
  }

  const dialogue = await parts.dialogues.of(run.model, body.template);
  const { suffix } = body;
  if (suffix !== undefined) {
    if (!dialogue.traits.insert)
      throw new LocallmError("unsupported_capability", { model: run.typedName, capability: "insert" });
    const grammar = formatGrammar(format);
    return {
      ready: (lease) => ({
        prompt: inFront(dialogue.insert(body.prompt ?? "", suffix, lease.info)),
        read: asItIs,
        grammar,
      }),
    };
  }
  const turn = plainTurn(firstMessages(run, body), { think: body.think ?? null, format });
  requireTraits(run, dialogue, turn);
  const constraint = dialogue.constraint(turn);
  return {
    ready: (lease) => {
      const text = dialogue.prompt(turn, lease.info);
      return {
        prompt: inFront(text),
        read: dialogue.reader(turn, text),
        grammar: constraint?.(text) ?? null,
      };
    },
  };
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
