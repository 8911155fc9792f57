import type { GenerateDone } from "../../wire/inference/generate.ts";
import type { Run } from "../run.ts";
import type { AnswerLease, Dropped } from "../run-turn.ts";

/**
 * The counters of every final chunk. All of them are always present, including zeros. Durations are integer
 * nanoseconds.
 */
export interface Counters {
  readonly total_duration: number;
  readonly load_duration: number;
  readonly prompt_eval_count: number;
  readonly prompt_eval_duration: number;
  readonly eval_count: number;
  readonly eval_duration: number;
}

export function counters(run: Run, lease: AnswerLease, done: GenerateDone): Counters {
  return {
    total_duration: nanoseconds(performance.now() - run.startedMs),
    load_duration: nanoseconds(lease.waitedMs),
    prompt_eval_count: done.promptTokens,
    prompt_eval_duration: Math.round(done.promptNs),
    eval_count: done.evalTokens,
    eval_duration: Math.round(done.evalNs),
  };
}

/** Fields that Ollama does not have. Each is present only if it applies. */
export function extras(
  run: Run,
  lease: AnswerLease,
  done: GenerateDone,
  dropped: Dropped | null,
): Record<string, unknown> {
  const tokens = (dropped?.tokens ?? 0) + done.truncatedTokens;
  const messages = dropped?.messages ?? 0;
  return {
    ...(done.stopString === null ? {} : { stop_string: done.stopString }),
    ...(done.cachedTokens === 0 ? {} : { prompt_cached_count: done.cachedTokens }),
    ...(done.shiftedTokens === 0 ? {} : { shifted_count: done.shiftedTokens }),
    ...(done.drafts === undefined
      ? {}
      : { draft_n: done.drafts.tokens, draft_n_accepted: done.drafts.accepted }),
    ...(isWindowWorthTelling(run, lease, done) ? { context_length: lease.numCtx } : {}),
    ...(tokens + messages === 0 ? {} : { truncated: { messages, tokens } }),
  };
}

/** The field is null if the answer has no violations. */
export function violationsField(violations: readonly string[]): Record<string, unknown> {
  return violations.length === 0 ? {} : { format_violations: violations };
}

/** At least 1, because clients divide by it. */
export function nanoseconds(ms: number): number {
  return Math.max(1, Math.round(ms * 1e6));
}

/** Whether to report the window, because it is smaller than requested or ended the answer. */
function isWindowWorthTelling(run: Run, lease: AnswerLease, done: GenerateDone): boolean {
  const isFull = done.reason === "length" && done.promptTokens + done.evalTokens >= lease.numCtx;
  return isFull || lease.numCtx < (run.options.num_ctx ?? 0);
}
