import { writeFileSync } from "node:fs";
import pg from "pg";

/**
 * Loaded before `dataq` (`--import`): SIGKILL before the n-th statement of the process (`KILL_BEFORE`). A process
 * that ends records how many it sent (`STATEMENTS_FILE`).
 */
const killBefore = Number(process.env["KILL_BEFORE"] ?? Number.POSITIVE_INFINITY);
let statements = 0;

// biome-ignore lint/suspicious/noExplicitAny: pg's overloads, passed on as they are
const prototype = pg.Client.prototype as any;
const { query } = prototype;
prototype.query = function (...words: unknown[]) {
  if (++statements === killBefore) process.kill(process.pid, "SIGKILL");
  return query.apply(this, words);
};

process.on("exit", () => writeFileSync(process.env["STATEMENTS_FILE"] as string, String(statements)));
