import { counted } from "../wire/counted.ts";

/** Removes control characters except tab and line feed, so that foreign text cannot control the terminal. */
export function plain(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern removes them
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, "");
}

/** 98362745 → `98 MB`, like Ollama: powers of 1000, one decimal below ten. */
export function humanBytes(bytes: number): string {
  const units = ["B", "KB", "MB", "GB", "TB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  const digits = unit > 0 && value < 10 ? 1 : 0;
  return `${value.toFixed(digits)} ${units[unit]}`;
}

/** A duration: `24s`, `1m20s`, `3h05m`. */
export function humanSeconds(seconds: number): string {
  const whole = Math.max(1, Math.ceil(seconds));
  const two = (value: number) => String(value).padStart(2, "0");
  if (whole < 60) return `${whole}s`;
  if (whole < 3600) return `${Math.floor(whole / 60)}m${two(whole % 60)}s`;
  return `${Math.floor(whole / 3600)}h${two(Math.floor((whole % 3600) / 60))}m`;
}

/** `3 minutes ago`, `4 minutes from now`, `Forever`. */
export function humanTime(time: Date, now: Date): string {
  const ms = time.getTime() - now.getTime();
  if (ms > 100 * 365 * 86_400_000) return "Forever";
  return ms > 0 ? `${humanDuration(ms)} from now` : `${humanDuration(-ms)} ago`;
}

const spans: readonly [upToSeconds: number, seconds: number, word: string][] = [
  [60, 1, "second"],
  [3600, 60, "minute"],
  [48 * 3600, 3600, "hour"],
  [14 * 86_400, 86_400, "day"],
  [60 * 86_400, 7 * 86_400, "week"],
  [730 * 86_400, 30 * 86_400, "month"],
  [Number.POSITIVE_INFINITY, 365 * 86_400, "year"],
];

function humanDuration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 1) return "Less than a second";
  const [, size, word] = spans.find(([upTo]) => seconds < upTo) ?? [0, 1, "second"];
  const count = Math.round(seconds / size);
  return counted(count, word);
}

/** Columns below their headings, separated by four spaces. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows].map((row) => row.map(plain));
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  return all
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("    ")
        .trimEnd(),
    )
    .join("\n");
}
