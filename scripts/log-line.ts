/**
 * A product's line as `npm start` shows it, or null for one that only a log wants. Words stay as they are; a call is
 * told in few words when it changed something or failed; trouble, and what a debug setting asked for, in full.
 */
export function shownLine(line: string): string | null {
  const log = readLog(line);
  if (log === null || !isInfo(log["level"])) return line;
  const { method, route, status, ms, tokens } = log;
  if (typeof status !== "number" || (method === "GET" && status < 400)) return null;
  const paid = typeof tokens === "number" ? `, ${tokens.toLocaleString("en")} tokens` : "";
  return `${method} ${route} → ${status} in ${Math.round(Number(ms))} ms${paid}`;
}

function readLog(line: string): Record<string, unknown> | null {
  if (!line.startsWith('{"level":')) return null;
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return null;
  }
}

/** By its name, or by the number that pino gives it. */
function isInfo(level: unknown): boolean {
  return level === "info" || level === 30;
}
