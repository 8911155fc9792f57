import { LocallmError } from "./errors.ts";

/** Parses a duration in Go's notation (`300ms`, `1h30m`, `-1.5s`, `0`) to milliseconds. Null if it is invalid. */
export function parseDuration(text: string): number | null {
  const body = /^[+-]/.test(text) ? text.slice(1) : text;
  const sign = text.startsWith("-") ? -1 : 1;
  if (body === "0") return 0;
  if (body === "" || body.length > maxDurationLength) return null;
  let totalMs = 0;
  let at = 0;
  while (at < body.length) {
    piece.lastIndex = at;
    const match = piece.exec(body);
    if (match === null) return null;
    totalMs += Number(match[1]) * unitMs[match[2] as keyof typeof unitMs];
    at = piece.lastIndex;
  }
  return sign * totalMs;
}

/**
 * How long a model stays loaded after its last request, in milliseconds. Numbers and strings of digits are seconds,
 * other strings are durations; negative values mean forever (`Infinity`).
 */
export function parseKeepAlive(value: unknown): number {
  const valueMs = keepAliveMs(value);
  if (valueMs === null) throw new LocallmError("invalid_keep_alive", { value: show(value) });
  return valueMs < 0 || valueMs > longestMs ? Number.POSITIVE_INFINITY : valueMs;
}

/** About the longest duration that Go can represent; longer values mean forever. */
const longestMs = 290 * 365 * 24 * 3600e3;

const unitMs = { ns: 1e-6, us: 1e-3, µs: 1e-3, μs: 1e-3, ms: 1, s: 1e3, m: 60e3, h: 3600e3 };
const piece = /(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/y;
const maxDurationLength = 64;

function keepAliveMs(value: unknown): number | null {
  if (typeof value === "number") return Number.isFinite(value) ? value * 1000 : null;
  if (typeof value !== "string") return null;
  if (/^[+-]?\d{1,15}(\.\d{1,9})?$/.test(value)) return Number(value) * 1000;
  return parseDuration(value);
}

function show(value: unknown): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? String(value));
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}
