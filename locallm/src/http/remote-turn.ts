import type { DialogueTraits } from "../dialogue/dialogue.ts";
import { offeredTools, type Turn } from "../dialogue/turn.ts";
import type { Model } from "../library/model.ts";
import type { RemoteCompletion, RemoteEvent, RemoteTurn } from "../remotes/engine.ts";
import { AnswerCheck } from "./answer-check.ts";
import { remoteCapability } from "./capabilities.ts";
import { bytesPerToken, estimatedTokens } from "./metering.ts";
import type { Parts } from "./parts.ts";
import type { RemoteRun } from "./run.ts";
import type { AnswerLease, TurnEvent, TurnWish } from "./run-turn.ts";

export function remoteTraits(model: Model): DialogueTraits {
  return {
    tools: remoteCapability(model, "tools"),
    thinking: remoteCapability(model, "thinking"),
    insert: remoteCapability(model, "insert"),
  };
}

/** A remote model is not loaded here, and its window is not known. */
export const remoteLease: AnswerLease = { waitedMs: 0, numCtx: Number.POSITIVE_INFINITY };

/** Asks another engine, and yields the events of a local answer. */
export async function* remoteTurn(
  parts: Parts,
  run: RemoteRun,
  { turn, logprobs }: Pick<TurnWish, "turn" | "logprobs">,
): AsyncGenerator<TurnEvent> {
  // Engines differ in what they enforce, so the whole answer is checked.
  const check = new AnswerCheck(run.schemas, { unchecked: schemasOf(turn) });
  const ask = { turn, options: run.options, ...(logprobs === undefined ? {} : { logprobs }) };
  for await (const event of remoteEvents(parts, run, { kind: "turn", ask })) {
    if (event.kind !== "done") {
      check.see(event);
      yield event;
      continue;
    }
    const { done, thinkingTokens } = event;
    const violations = await check.violations();
    const dropped = { messages: 0, tokens: 0 };
    yield { kind: "done", done, thinkingTokens, lease: remoteLease, dropped, violations };
  }
}

/**
 * The request fields for a full window. They have no effect, because the engine decides what happens then.
 */
export function windowFields(body: {
  truncate?: boolean | undefined;
  shift?: boolean | undefined;
}): string[] {
  return (["truncate", "shift"] as const).filter((field) => body[field] !== undefined);
}

type Asking =
  | { readonly kind: "turn"; readonly ask: RemoteTurn }
  | { readonly kind: "complete"; readonly ask: RemoteCompletion };

/**
 * Yields the answer's pieces and its end, and counts their tokens. Reports the fields that the engine's
 * protocol lacks.
 */
export async function* remoteEvents(
  parts: Parts,
  run: RemoteRun,
  asking: Asking,
): AsyncGenerator<Exclude<RemoteEvent, { kind: "ignored" }>> {
  const { caller, signal, remote, via } = run;
  let wasSent = false;
  const from = {
    ...{ signal, key: caller.id, via },
    onPlace() {
      caller.requireTokens();
      wasSent = true;
    },
  };
  const { ask } = asking;
  const events =
    asking.kind === "turn"
      ? parts.remotes.turn(remote, asking.ask, from)
      : parts.remotes.complete(remote, asking.ask, from);
  let hasBegun = false;
  let isDone = false;
  let bytes = 0;
  try {
    for await (const event of events) {
      if (event.kind === "ignored") {
        run.tellIgnored(event.fields);
        continue;
      }
      hasBegun = true;
      if (event.kind === "done") {
        isDone = true;
        run.count(event.done);
        caller.count(event.done.promptTokens, event.done.evalTokens);
      } else if ("text" in event) bytes += event.text.length;
      yield event;
    }
  } finally {
    // The engine reports its counts only at the end, so those of an interrupted answer are estimated.
    const hasCost = hasBegun || (wasSent && signal.aborted);
    if (hasCost && !isDone) caller.count(estimatedTokens(promptOf(ask)), Math.ceil(bytes / bytesPerToken));
  }
}

function promptOf(ask: RemoteTurn | RemoteCompletion): string[] {
  return "prompt" in ask ? [ask.prompt] : ask.turn.messages.map(({ content }) => content);
}

function schemasOf(turn: Turn) {
  const { format } = turn;
  const tools = new Map<string, unknown>();
  for (const { function: tool } of offeredTools(turn))
    if (tool.parameters !== undefined) tools.set(tool.name, tool.parameters);
  return {
    format: format === null ? null : format.kind === "json" ? { type: "object" } : format.schema,
    tools,
  };
}
