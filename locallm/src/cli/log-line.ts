/**
 * Formats a line of the server's JSON log for a terminal; null if the terminal should not show it. Requests that
 * changed something or failed become short lines; warnings, errors and LOCALLM_DEBUG lines keep all fields.
 */
export function logLine(json: string): string | null {
  const { level, time: _time, msg, err, ...fields } = JSON.parse(json) as LogFields;
  if (level === "info") return isTold(fields) ? callText(fields) : null;
  const call = fields["status"] === undefined ? String(msg ?? "") : callText(fields);
  const rest = Object.entries(fields)
    .filter(([name]) => !callFields.has(name))
    .map(([name, value]) => ` ${name}=${JSON.stringify(value)}`);
  const reason = err === undefined ? "" : `\n  ${(err.stack ?? err.message ?? "").replaceAll("\n", "\n  ")}`;
  return `${level.toUpperCase().padEnd(5)} ${call}${rest.join("")}${reason}`;
}

type LogFields = Record<string, unknown> & {
  readonly level: string;
  readonly msg?: string;
  readonly err?: { readonly message?: string; readonly stack?: string };
};

const callFields: ReadonlySet<string> = new Set(["method", "route", "status", "ms", "from"]);

function isTold({ method, status }: Record<string, unknown>): boolean {
  return typeof status === "number" && (method !== "GET" || status >= 400);
}

function callText({ method, route, status, ms }: Record<string, unknown>): string {
  return `${method} ${route} → ${status} in ${Math.round(Number(ms))} ms`;
}
