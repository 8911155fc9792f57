import type { AnswerPiece } from "../dialogue/answer-piece.ts";
import type { Dialogue, DialogueTraits } from "../dialogue/dialogue.ts";
import {
  canShorten,
  type FittedTurn,
  fitTurn,
  type WholePrompt,
  type Window,
  wholePrompt,
} from "../dialogue/fit.ts";
import type { Message, Turn } from "../dialogue/turn.ts";
import type { Model } from "../library/model.ts";
import type { Lease, LoadedVocabulary } from "../scheduler/lease.ts";
import { LocallmError } from "../wire/errors.ts";
import type { GenerateDone, GenerateJob, PromptCounts } from "../wire/inference/generate.ts";
import { AnswerCheck } from "./answer-check.ts";
import { generateJob } from "./generate-job.ts";
import { PieceLogprobs } from "./logprobs.ts";
import type { StreamOutlet } from "./outlet.ts";
import type { LocalRun, Run } from "./run.ts";
import { seenPrompt, seenTurn } from "./seen-turn.ts";

export type Dropped = FittedTurn["dropped"];

export type TurnEvent = AnswerPiece | TurnDone;

export interface TurnDone {
  readonly kind: "done";
  readonly done: GenerateDone;
  /** How many of the answer's tokens are thinking. */
  readonly thinkingTokens: number;
  readonly lease: AnswerLease;
  readonly dropped: Dropped;
  /** Violations of the schemas that the grammar could not fully enforce. */
  readonly violations: readonly string[];
}

/** How long the answer waited for the model, and the window that it has. */
export type AnswerLease = Pick<Lease, "waitedMs" | "numCtx">;

export interface TurnWish {
  /** Includes the model's system text and example messages. */
  readonly turn: Turn;
  /** If the conversation is too long, drops its oldest messages (true) or rejects it. */
  readonly truncate: boolean;
  /** If the window is full, drops the older half and continues (true) or stops. */
  readonly shift: boolean;
  /** Called before the first piece, when headers can still be set. */
  readonly onDropped?: (dropped: Dropped) => void;
  /** Called before the first piece, unless the answer has none. */
  readonly onPrompt?: (counts: PromptCounts) => void;
  readonly logprobs?: GenerateJob["logprobs"];
  /** Where the answer is streamed to; null if it is not streamed, or the runner cannot write it. */
  readonly outlet?: StreamOutlet | null;
}

/** Runs one turn on this machine: render, fit, generate, parse. Leaving the loop cancels the generation. */
export async function* runTurn(run: LocalRun, dialogue: Dialogue, wish: TurnWish): AsyncGenerator<TurnEvent> {
  // Check the constraint before waiting for the model, so that an invalid schema fails at once.
  const constraint = await dialogue.constraint(wish.turn, run.schemas);
  run.tellIgnored(constraint?.ignored ?? []);
  const check = new AnswerCheck(run.schemas, constraint);
  const { turn, pictures } = await seenTurn(run, wish.turn);
  const answer = run.window.answerTokens;
  const growth = {
    largest: run.window.largest,
    answerTokens: answer,
    async grow(promptTokens: number, canShorten: boolean) {
      lease = await run.window.grow(lease, promptTokens, { answer, canShorten });
      return lease.numCtx;
    },
  };
  /** `loaded` may change, because growing loads the model again. */
  const windowOf = (loaded: () => LoadedVocabulary, contextLength: number): Window => ({
    contextLength,
    vocabulary: run.promptVocabulary(loaded()),
    longestToken: loaded().info.longestToken,
    truncate: wish.truncate,
    tokenize: (text, limit) => seenPrompt(text, pictures, loaded(), { limit, signal: run.signal }),
    signal: run.signal,
    ...(run.window.isAutomatic ? { growth } : {}),
  });
  let whole: WholePrompt | undefined;
  const sizing = run.window.sizing(
    async (vocabulary, firstWindow) => {
      whole = await wholePrompt(
        dialogue,
        turn,
        windowOf(() => vocabulary, firstWindow),
      );
      if (whole.tokens === undefined) return 0;
      return whole.tokens?.length ?? Number.POSITIVE_INFINITY;
    },
    { answer, canShorten: canShorten(turn, wish.truncate) },
  );
  let lease = await run.lease("slot", sizing);
  try {
    const fitted = await fitTurn(
      dialogue,
      turn,
      windowOf(() => lease, lease.numCtx),
      whole,
    );
    if (fitted.dropped.tokens > 0) wish.onDropped?.(fitted.dropped);
    const reader = dialogue.reader(turn, fitted.text);
    const job = generateJob(run.options, {
      prompt: jobPrompt(fitted.prompt),
      numCtx: lease.numCtx,
      stop: dialogue.stop,
      renderSpecial: dialogue.marked,
      shift: wish.shift,
      logprobs: wish.logprobs,
      grammar: constraint?.grammar(fitted.text) ?? null,
    });
    const logprobs = wish.logprobs === undefined ? null : new PieceLogprobs();
    const outlet = logprobs === null ? (wish.outlet ?? null) : null;
    outlet?.readBy(() => reader.plain());
    let thinkingTokens = 0;
    // The number of tokens that the reader holds back until it can classify them.
    let undecidedTokens = 0;
    for await (const event of run.generate(lease, job, outlet)) {
      if (event.kind === "text" && event.prompt !== undefined) wish.onPrompt?.(event.prompt);
      if (event.kind === "text") logprobs?.add(event.logprobs ?? []);
      const pieces = event.kind === "text" ? reader.push(event.text) : reader.end();
      if (event.kind === "text") undecidedTokens += event.tokens;
      if (pieces.length > 0) {
        if (pieces.some(({ kind }) => kind === "thinking")) thinkingTokens += undecidedTokens;
        undecidedTokens = 0;
        for (const piece of pieces) check.see(piece);
        if (event.kind === "text" && event.toldIn !== undefined) yield* told(pieces, event.toldIn);
        else yield* logprobs === null ? pieces : pieces.map((piece) => logprobs.addTo(piece));
      }
      if (event.kind !== "done") continue;
      run.count(event);
      const violations = await check.violations();
      yield { kind: "done", done: event, thinkingTokens, lease, dropped: fitted.dropped, violations };
    }
  } catch (error) {
    throw run.window.explained(error, lease);
  } finally {
    lease.release();
  }
}

/** The pieces of a text that the client has: one, because only plain text is told by others. */
function told(pieces: readonly AnswerPiece[], toldIn: number): AnswerPiece[] {
  return pieces.map((piece) =>
    piece.kind === "content" || piece.kind === "thinking" ? { ...piece, toldIn } : piece,
  );
}

function jobPrompt(prompt: FittedTurn["prompt"]): GenerateJob["prompt"] {
  return typeof prompt !== "string" && "parts" in prompt ? prompt.parts : prompt;
}

/** Throws `unsupported_capability` if the model's template lacks what the turn needs. */
export function requireTraits(run: Run, traits: DialogueTraits, turn: Turn): void {
  const lacks = (capability: string) =>
    new LocallmError("unsupported_capability", { model: run.typedName, capability });
  if (turn.tools.length > 0 && !traits.tools) throw lacks("tools");
  if (turn.think !== null && turn.think !== false && !traits.thinking) throw lacks("thinking");
}

/** Prepends the model's example messages, and its system text unless the client sends one. */
export function conversation(model: Model, messages: readonly Message[]): Message[] {
  const own =
    model.system !== null && messages[0]?.role !== "system"
      ? [{ role: "system", content: model.system }]
      : [];
  return [...own, ...model.messages, ...messages];
}
