/**
 * Formats a product's log line for `npm start`; null if the line belongs only in the log. Shortens calls that
 * changed something or failed. Keeps plain text, warnings, errors and debug lines unchanged.
 */
export function shownLine(line: string): string | null {
  const log = readLog(line);
  if (log === null || !isInfo(log["level"])) return line;
  const { method, route, status, ms, tokens } = log;
  if (typeof status !== "number" || (method === "GET" && status < 400)) return null;
  const paid =
    typeof tokens === "number" ? `, ${tokens.toLocaleString("en")} ${tokens === 1 ? "token" : "tokens"}` : "";
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

/** pino logs the level as a number by default, and as a name if so configured. */
function isInfo(level: unknown): boolean {
  return level === "info" || level === 30;
}
