import type { Logger } from "pino";
import type { Database } from "../database/database.ts";
import { sweepKeys } from "../ledger/idempotency.ts";
import { recover } from "../ledger/instance.ts";
import { expireTrials } from "../ledger/movement.ts";
import { sealEntries } from "../ledger/seal.ts";
import type { Limiter } from "../limits/limiter.ts";
import type { AnswerCache } from "../query/answer-cache.ts";

interface SweeperParts {
  readonly database: Database;
  readonly limiter: Limiter;
  readonly cache: AnswerCache;
  readonly clock: () => Date;
  readonly logger: Logger;
  /** Seals the audit log. */
  readonly seal: () => Promise<void>;
}

const SWEEP_EVERY_MS = 10_000;

/** Gives back the holds of dead processes, forgets expired answers and keys, and seals. Returns what stops it. */
export function startSweeper(parts: SweeperParts): () => Promise<void> {
  const { database, limiter, cache, clock, logger, seal } = parts;
  let running: Promise<void> = Promise.resolve();
  const sweep = async () => {
    try {
      const voided = await recover(database, clock());
      if (voided > 0) logger.warn({ voided }, "open holds given back");
      await cache.sweep(clock());
      await expireTrials(database, clock());
      await limiter.sweep(clock());
      await sweepKeys(database, clock());
      await sealEntries(database, clock());
      await seal();
    } catch (error) {
      logger.warn({ err: (error as Error).message }, "sweep failed");
    }
  };
  const timer = setInterval(() => {
    running = running.then(sweep);
  }, SWEEP_EVERY_MS);
  timer.unref();
  return async () => {
    clearInterval(timer);
    await running;
  };
}
