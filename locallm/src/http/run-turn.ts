import type { AnswerPiece } from "../dialogue/answer-piece.ts";
import type { Dialogue, DialogueTraits } from "../dialogue/dialogue.ts";
import { type FittedTurn, fitTurn } from "../dialogue/fit.ts";
import type { Message, Turn } from "../dialogue/turn.ts";
import type { Model } from "../library/model.ts";
import type { Lease } from "../scheduler/lease.ts";
import { LocallmError } from "../wire/errors.ts";
import type { GenerateDone } from "../wire/inference/generate.ts";
import { AnswerCheck } from "./answer-check.ts";
import { generateJob } from "./generate-job.ts";
import type { Run } from "./run.ts";

export type Dropped = FittedTurn["dropped"];

export type TurnEvent = AnswerPiece | TurnDone;

export interface TurnDone {
  readonly kind: "done";
  readonly done: GenerateDone;
  /** Of the answer's tokens, how many came as thinking. */
  readonly thinkingTokens: number;
  readonly lease: Lease;
  readonly dropped: Dropped;
  /** How the answer violates schemas that its grammar could not keep to whole. */
  readonly violations: readonly string[];
}

export interface TurnWish {
  readonly turn: Turn;
  /** Drop the oldest messages of a conversation that is too long, or reject it. */
  readonly truncate: boolean;
  /** On a full window drop the older half and go on, or stop. */
  readonly shift: boolean;
  /** Called before the first piece, while headers can still be set. */
  readonly onDropped?: (dropped: Dropped) => void;
}

/** One turn of a conversation, whatever API asked: render, fit, generate, read. Leaving the loop cancels. */
export async function* runTurn(run: Run, dialogue: Dialogue, wish: TurnWish): AsyncGenerator<TurnEvent> {
  const { turn } = wish;
  // Before any waiting: a schema that is wrong is refused at once.
  const constraint = await dialogue.constraint(turn, run.schemas);
  run.tellIgnored(constraint?.ignored ?? []);
  const check = new AnswerCheck(run.schemas, constraint);
  const lease = await run.lease();
  try {
    const fitted = await fitTurn(dialogue, turn, {
      contextLength: lease.numCtx,
      vocabulary: run.promptVocabulary(lease),
      longestToken: lease.info.longestToken,
      truncate: wish.truncate,
      tokenize: (text, limit) => {
        const options = { addSpecial: true, parseSpecial: true };
        return lease.runner.tokenize(text, limit === null ? options : { ...options, limit }, run.signal);
      },
      signal: run.signal,
    });
    if (fitted.dropped.tokens > 0) wish.onDropped?.(fitted.dropped);
    const reader = dialogue.reader(turn, fitted.text);
    const job = generateJob(run.options, {
      prompt: fitted.prompt,
      numCtx: lease.numCtx,
      stop: dialogue.stop,
      renderSpecial: dialogue.marked,
      shift: wish.shift,
      grammar: constraint?.grammar(fitted.text) ?? null,
    });
    let thinkingTokens = 0;
    // Read, but held back by the reader until it knows what they are.
    let undecidedTokens = 0;
    for await (const event of lease.runner.generate(job, run.signal)) {
      const pieces = event.kind === "text" ? reader.push(event.text) : reader.end();
      if (event.kind === "text") undecidedTokens += event.tokens;
      if (pieces.length > 0) {
        if (pieces.some(({ kind }) => kind === "thinking")) thinkingTokens += undecidedTokens;
        undecidedTokens = 0;
        for (const piece of pieces) check.see(piece);
        yield* pieces;
      }
      if (event.kind !== "done") continue;
      run.count(event);
      const violations = await check.violations();
      yield { kind: "done", done: event, thinkingTokens, lease, dropped: fitted.dropped, violations };
    }
  } finally {
    lease.release();
  }
}

/** Rejects what the model's template does not support. */
export function requireTraits(run: Run, traits: DialogueTraits, turn: Turn): void {
  const lacks = (capability: string) =>
    new LocallmError("unsupported_capability", { model: run.typedName, capability });
  if (turn.tools.length > 0 && !traits.tools) throw lacks("tools");
  if (turn.think !== null && turn.think !== false && !traits.thinking) throw lacks("thinking");
}

/** The conversation as the model's maker begins it: its example messages, and its system text unless the client has one. */
export function conversation(model: Model, messages: readonly Message[]): Message[] {
  const own =
    model.system !== null && messages[0]?.role !== "system"
      ? [{ role: "system", content: model.system }]
      : [];
  return [...own, ...model.messages, ...messages];
}
