import type { Turn } from "../../dialogue/turn.ts";
import type { ConversationRequest } from "../../wire/anthropic/messages.ts";
import { traitsOf } from "../answer-turn.ts";
import { imageReader } from "../images.ts";
import type { Parts } from "../parts.ts";
import type { Run } from "../run.ts";
import { conversation, requireTraits } from "../run-turn.ts";
import { refuse } from "../sampling.ts";
import { messagesTurn } from "./messages-turn.ts";

export interface AskedTurn {
  /** Includes the model's system text and example messages. */
  readonly turn: Turn;
  /** Fields that are accepted but have no effect. */
  readonly ignored: readonly string[];
}

/** Converts a request to a turn. Both routes make the same prompt from the same conversation. */
export async function askedTurn(parts: Parts, run: Run, body: ConversationRequest): Promise<AskedTurn> {
  refuse("mcp_servers", (body.mcp_servers?.length ?? 0) > 0);
  refuse("container", body.container !== undefined);
  const { turn: asked, ignored } = messagesTurn(body, await imageReader(parts, run, body.messages));
  const traits = await traitsOf(parts, run);
  // Like Ollama, a model that cannot think answers without thinking, because agents request thinking from every model.
  const relaxed = traits.thinking ? asked : { ...asked, think: null };
  requireTraits(run, traits, relaxed);
  const turn = { ...relaxed, messages: conversation(run.model, relaxed.messages) };
  const lostThinking = !traits.thinking && asked.think !== false;
  return { turn, ignored: [...ignored, ...(lostThinking ? ["thinking"] : [])] };
}
