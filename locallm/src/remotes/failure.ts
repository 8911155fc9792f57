import { type ErrorCode, LocallmError } from "../wire/errors.ts";
import type { Upstream } from "./engine.ts";

/** Errors that another replica may not have. None of them is thrown after the answer's first piece. */
const elsewhere: readonly ErrorCode[] = [
  "connection_refused",
  "remote_not_allowed",
  "remote_unreachable",
  "remote_timeout",
  "remote_busy",
  "remote_unauthorized",
  "remote_model_missing",
  "remote_failed",
];

/**
 * Whether the request may be sent to another replica, provided that no piece of the answer was passed on: a request
 * that the engine rejects would be rejected there as well.
 */
export function mayRetryElsewhere(error: unknown): boolean {
  return error instanceof LocallmError && elsewhere.includes(error.code);
}

const maxWords = 300;

/** An engine's own words in one line: bounded, and without control characters that could change a terminal or log. */
export function engineWords(text: string): string {
  const line = text
    .slice(0, 4 * maxWords)
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, " ")
    .trim();
  return line.length <= maxWords ? line : `${line.slice(0, maxWords - 1).toWellFormed()}…`;
}

/** The host and port of an upstream, as error messages name it. */
export function hostOf({ url }: Pick<Upstream, "url">): string {
  return new URL(url).host;
}
