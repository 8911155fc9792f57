import type { Caller } from "../keys/keys.ts";
import type { Lease } from "../scheduler/lease.ts";
import type { Embeddings, EmbedJob } from "../wire/inference/embed.ts";
import type { GenerateEvent, GenerateJob, Prompt, PromptPart } from "../wire/inference/generate.ts";
import { isPicture } from "../wire/inference/picture.ts";
import type { RankJob, Ranks } from "../wire/inference/rank.ts";
import type { StreamOutlet } from "./outlet.ts";

type Runner = Lease["runner"];

/**
 * Generates, and counts the tokens of the caller's key as they arrive. Throws `key_tokens_used_up` if other requests
 * used the key's tokens while this one waited.
 */
export function meteredGenerate(
  runner: Pick<Runner, "generate">,
  job: GenerateJob,
  caller: Caller,
  signal: AbortSignal,
  outlet: StreamOutlet | null = null,
): AsyncIterable<GenerateEvent> {
  if (caller.id === null) return runner.generate(job, signal, outlet);
  caller.requireTokens();
  outlet?.lateTo((tokens) => caller.count(0, tokens));
  return counted(runner.generate(job, signal, outlet), job.prompt, caller, signal);
}

async function* counted(
  events: AsyncIterable<GenerateEvent>,
  prompt: Prompt,
  caller: Caller,
  signal: AbortSignal,
): AsyncGenerator<GenerateEvent> {
  let promptTokens: number | null = null;
  let generatedTokens = 0;
  try {
    for await (const event of events) {
      const known = event.kind === "done" ? event : event.prompt;
      const newPrompt = promptTokens === null && known !== undefined ? known.promptTokens : 0;
      if (known !== undefined) promptTokens ??= known.promptTokens;
      // The last text may hold back tokens, so the end corrects the sum.
      const newGenerated = event.kind === "done" ? event.evalTokens - generatedTokens : event.tokens;
      generatedTokens += newGenerated;
      if (newPrompt + newGenerated !== 0) caller.count(newPrompt, newGenerated);
      yield event;
    }
  } finally {
    if (promptTokens === null && signal.aborted) caller.count(estimatedTokens(prompt), 0);
  }
}

/** Embeds, and counts the tokens of the caller's key. Throws `key_tokens_used_up` like `meteredGenerate`. */
export function meteredEmbed(
  runner: Pick<Runner, "embed">,
  job: EmbedJob,
  caller: Caller,
  signal: AbortSignal,
): Promise<Embeddings> {
  return meteredWhole(
    (begin) => {
      begin();
      return runner.embed(job, signal);
    },
    job.inputs,
    caller,
    signal,
  );
}

/** Ranks, and counts the tokens of the caller's key. Throws `key_tokens_used_up` like `meteredGenerate`. */
export function meteredRank(
  runner: Pick<Runner, "rank">,
  job: RankJob,
  caller: Caller,
  signal: AbortSignal,
): Promise<Ranks> {
  return meteredWhole(
    (begin) => {
      begin();
      return runner.rank(job, signal);
    },
    job.documents,
    caller,
    signal,
  );
}

/**
 * Counts the tokens of an answer that comes as a whole. `work` calls `begin` before an engine gets the texts: from then on
 * they count, even if the client leaves. Throws `key_tokens_used_up` like `meteredGenerate`.
 */
export async function meteredWhole<Answer extends { readonly tokens: readonly number[] }>(
  work: (begin: () => void) => Promise<Answer>,
  texts: Prompt,
  caller: Caller,
  signal: AbortSignal,
): Promise<Answer> {
  let hasBegun = false;
  const begin = () => {
    caller.requireTokens();
    hasBegun = true;
  };
  try {
    const answer = await work(begin);
    caller.count(
      answer.tokens.reduce((sum, each) => sum + each, 0),
      0,
    );
    return answer;
  } catch (error) {
    if (hasBegun && signal.aborted) caller.count(estimatedTokens(texts), 0);
    throw error;
  }
}

export const bytesPerToken = 4;

/**
 * Estimates the tokens of a prompt whose client left before the prompt was computed. Such a prompt is not
 * counted exactly, but it took time.
 */
export function estimatedTokens(prompt: Prompt): number {
  if (typeof prompt === "string") return Math.ceil(Buffer.byteLength(prompt) / bytesPerToken);
  const parts: readonly (number | PromptPart)[] = "pieces" in prompt ? prompt.pieces : prompt;
  return parts.reduce<number>((sum, part) => {
    if (typeof part === "number") return sum + 1;
    return sum + (isPicture(part) ? part.cells : estimatedTokens(part));
  }, 0);
}
