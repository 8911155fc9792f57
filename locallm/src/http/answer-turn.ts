import type { DialogueTraits } from "../dialogue/dialogue.ts";
import type { Parts } from "./parts.ts";
import { remoteTraits, remoteTurn } from "./remote-turn.ts";
import type { Run } from "./run.ts";
import { requireTraits, runTurn, type TurnEvent, type TurnWish } from "./run-turn.ts";

/**
 * Answers a turn for any API, in this machine's or another engine. Throws at once if the model lacks what the turn
 * needs. Leaving the loop cancels the generation.
 */
export async function answerTurn(parts: Parts, run: Run, wish: TurnWish): Promise<AsyncGenerator<TurnEvent>> {
  requireTraits(run, await traitsOf(parts, run), wish.turn);
  if (run.remote !== null) return remoteTurn(parts, run, wish);
  return runTurn(run, await parts.dialogues.of(run.model), wish);
}

/** What the model's template supports, or the Modelfile of a remote model. */
export async function traitsOf(parts: Parts, run: Run): Promise<DialogueTraits> {
  return run.remote === null ? (await parts.dialogues.of(run.model)).traits : remoteTraits(run.model);
}
