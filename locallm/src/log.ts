import pino, { type Logger } from "pino";
import { type LogDestination, logOutput } from "./log-output.ts";

/** The log of a server. */
export interface ServerLog {
  readonly log: Logger;
  /** Logs an ended request. The fields are values of JSON: an error belongs in `log`. */
  readonly request: (fields: Readonly<Record<string, unknown>>) => void;
}

/** A log of JSON lines. Default: to standard error. */
export function createLog(level: "info" | "debug", to: LogDestination = errorOutput()): ServerLog {
  const time = isoTime(Date.now);
  return {
    log: pino(
      { level, base: null, timestamp: time, formatters: { level: (label) => ({ level: label }) } },
      to,
    ),
    // pino would take as long for this line as Fastify does for a small request.
    request: (fields) =>
      to.write(`{"level":"info"${time()},${JSON.stringify(fields).slice(1, -1)},"msg":"request"}\n`),
  };
}

/** The log of a program that embeds the server. */
export function logTo(log: Logger): ServerLog {
  return { log, request: (fields) => log.info(fields, "request") };
}

export function silentLog(): ServerLog {
  return { log: pino({ level: "silent" }), request() {} };
}

/** Formats a time only once for all lines of a millisecond. */
function isoTime(nowMs: () => number): () => string {
  let lastMs = Number.NaN;
  let text = "";
  return () => {
    const ms = nowMs();
    if (ms !== lastMs) {
      lastMs = ms;
      text = `,"time":"${new Date(ms).toISOString()}"`;
    }
    return text;
  };
}

let output: LogDestination | null = null;

/** All servers of this process share it. */
function errorOutput(): LogDestination {
  output ??= logOutput(2);
  return output;
}
