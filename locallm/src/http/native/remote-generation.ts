import { type Message, plainTurn } from "../../dialogue/turn.ts";
import { remoteFields } from "../../library/remote.ts";
import type { RemoteEvent } from "../../remotes/engine.ts";
import type { GenerateRequest } from "../../wire/api/inference.ts";
import { LocallmError } from "../../wire/errors.ts";
import type { GenerateJob } from "../../wire/inference/generate.ts";
import { answerTurn } from "../answer-turn.ts";
import { answerFormat } from "../format.ts";
import type { Parts } from "../parts.ts";
import { remoteEvents, remoteLease, remoteTraits, windowFields } from "../remote-turn.ts";
import type { RemoteRun } from "../run.ts";
import { requireTraits, type TurnEvent } from "../run-turn.ts";
import { refuse } from "../sampling.ts";
import { counters, extras, violationsField } from "./counters.ts";
import { firstMessages, type GeneratePiece, refuseRawConflict } from "./generate-prompt.ts";

interface RemoteGenerationWish {
  /** The prompt and its images. */
  readonly content: Pick<Message, "content" | "parts">;
  readonly logprobs: GenerateJob["logprobs"];
  readonly templatesPlain: boolean;
}

/**
 * Checks a generate request for another engine. The engine completes a plain prompt as it is, like a local model. It
 * applies its template where `system` asks for it, where `format`, `think` or images need its chat API, and where it has
 * no other API.
 */
export async function remoteGeneration(
  parts: Parts,
  run: RemoteRun,
  body: GenerateRequest,
  { content, logprobs, templatesPlain }: RemoteGenerationWish,
): Promise<() => AsyncGenerator<GeneratePiece>> {
  refuseRawConflict(body);
  refuse(
    "context",
    body.context !== undefined,
    ": a remote model takes text only; send the text or use /api/chat",
  );
  refuse("template", body.template !== undefined, ": the engine of a remote model applies its own template");
  run.tellIgnored(windowFields(body));
  const { raw, suffix, system, think = null, prompt = "" } = body;
  const format = answerFormat(body.format);
  const hasImages = content.parts !== undefined;
  const needsChat =
    system !== undefined || format !== null || hasImages || (think !== null && think !== false);
  if (raw === true || suffix !== undefined) {
    const field = format !== null ? "format" : think ? "think" : hasImages ? "images" : "system";
    refuse(field, needsChat, raw === true ? " together with raw" : " together with suffix");
  }
  const canComplete = run.remote.upstreams.some(({ protocol }) => protocol !== "anthropic");
  const usesTemplate = raw !== true && suffix === undefined && (needsChat || !canComplete || templatesPlain);
  if (usesTemplate) {
    const turn = plainTurn(firstMessages(run, body, content), { think, format });
    requireTraits(run, remoteTraits(run.model), turn);
    return () =>
      fromTurn(run, answerTurn(parts, run, { turn, truncate: false, shift: false, ...asked(logprobs) }));
  }
  if (suffix !== undefined && !remoteTraits(run.model).insert)
    throw new LocallmError("unsupported_capability", { model: run.typedName, capability: "insert" });
  const ask = {
    prompt,
    options: run.options,
    ...(suffix === undefined ? {} : { suffix }),
    ...asked(logprobs),
  };
  return () => shown(run, remoteEvents(parts, run, { kind: "complete", ask }));
}

function asked(logprobs: GenerateJob["logprobs"]) {
  return logprobs === undefined ? {} : { logprobs };
}

async function* fromTurn(
  run: RemoteRun,
  events: Promise<AsyncGenerator<TurnEvent>>,
): AsyncGenerator<GeneratePiece> {
  yield* shown(run, await events);
}

async function* shown(
  run: RemoteRun,
  events: AsyncIterable<TurnEvent | Exclude<RemoteEvent, { kind: "ignored" }>>,
): AsyncGenerator<GeneratePiece> {
  for await (const event of events) {
    if (event.kind === "content" || event.kind === "thinking") {
      const { text, logprobs } = event;
      yield { kind: event.kind === "content" ? "response" : "thinking", text, logprobs };
    } else if (event.kind === "done") {
      const { done } = event;
      const fields = {
        ...counters(run, remoteLease, done),
        ...extras(run, remoteLease, done, null),
        ...remoteFields(run.model),
        ...("violations" in event ? violationsField(event.violations) : {}),
      };
      yield { kind: "final", fields: { done: true, done_reason: done.reason, ...fields } };
    }
  }
}
