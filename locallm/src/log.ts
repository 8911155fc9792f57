import { logOutput } from "@locallm/autostart/log-output";
import pino, { type Logger } from "pino";

/** Receives the log, one JSON line per call. */
export interface LogDestination {
  write(json: string): void;
}

/** The log of a server. */
export interface ServerLog {
  readonly log: Logger;
  /** Logs an ended request. The fields are values of JSON: an error belongs in `log`. */
  readonly writeRequest: (fields: Readonly<Record<string, unknown>>) => void;
}

/** A log of JSON lines. Default: to standard error. */
export function createLog(level: "info" | "debug", to: LogDestination = errorOutput()): ServerLog {
  const time = isoTime(Date.now);
  const log = pino(
    { level, base: null, timestamp: time, formatters: { level: (label) => ({ level: label }) } },
    to,
  );
  return {
    log,
    // Through pino, this line would take a tenth of the time of a small request.
    writeRequest(fields) {
      if (!log.isLevelEnabled("info")) return;
      to.write(`{"level":"info"${time()},${JSON.stringify(fields).slice(1, -1)},"msg":"request"}\n`);
    },
  };
}

/** The log of a program that embeds the server. */
export function logTo(log: Logger): ServerLog {
  return { log, writeRequest: (fields) => log.info(fields, "request") };
}

export function silentLog(): ServerLog {
  return { log: pino({ level: "silent" }), writeRequest() {} };
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
