import type { Logger } from "pino";
import type { Database } from "../database/database.ts";
import { sweepClosed } from "../leaving/closing.ts";
import { sweepKeys } from "../ledger/idempotency.ts";
import { recover } from "../ledger/instance.ts";
import { expireTrials } from "../ledger/movement.ts";
import { sweepPackages } from "../ledger/package.ts";
import { RecentEntries } from "../ledger/recent.ts";
import { sealEntries } from "../ledger/seal.ts";
import { sweepSessions } from "../ledger/session-spend.ts";
import type { Limiter } from "../limits/limiter.ts";
import type { AnswerCache } from "../query/answer-cache.ts";
import { sumNewUsage } from "../query/usage-sums.ts";
import { sweepMessages } from "../webhooks/delivery-log.ts";
import { freeJobs, type Queue } from "../webhooks/queue.ts";

interface SweeperParts {
  readonly everyMs: number;
  readonly database: Database;
  readonly limiter: Limiter;
  readonly cache: AnswerCache;
  readonly clock: () => Date;
  readonly logger: Logger;
  /** Seals the audit log. */
  readonly seal: () => Promise<void>;
  readonly queue: Queue;
  /** Warns accounts and operators; looks at what was spent since a time. */
  readonly tellAlerts: (since: Date) => Promise<void>;
  /** Ends roles from single sign-on that the provider has not confirmed for long. */
  readonly dropAbsent: () => Promise<void>;
  /** Asks providers for payments whose outcome is not known. */
  readonly askPayments: () => Promise<void>;
}

const DAY_MS = 86_400_000;

/** Voids the holds of dead processes, seals the audit log, and deletes expired rows, again and again until it is closed. */
export function startSweeper(parts: SweeperParts): Sweeper {
  const { database, limiter, cache, clock, logger, seal, queue, askPayments, tellAlerts, dropAbsent } = parts;
  const toSeal = new RecentEntries();
  const toSum = new RecentEntries();
  const toTell = new RecentEntries();
  const sweeper = new Sweeper(
    {
      recover: async () => {
        const voided = await recover(database, clock());
        if (voided > 0) logger.warn({ voided }, "released open holds");
      },
      // After recovery, which deletes the instances that were killed.
      freeJobs: () => freeJobs(database),
      freeLostJobs: () => queue.freeLost(),
      startQueue: () => queue.startIfNeeded(),
      sweepMessages: () => sweepMessages(database, clock()),
      sealEntries: () =>
        toSeal.run(clock(), async (since) => (await sealEntries(database, clock(), since)) !== undefined),
      sumUsage: () => toSum.run(clock(), (since) => sumNewUsage(database, since)),
      sealAudit: seal,
      sweepPackages: () => sweepPackages(database, clock()),
      expireTrials: () => expireTrials(database, clock()),
      sweepAnswers: () => cache.sweep(clock()),
      sweepLimits: () => limiter.sweep(clock()),
      sweepClosed: () => sweepClosed(database, clock()),
      sweepKeys: () => sweepKeys(database, clock()),
      dropAbsent,
      sweepSessions: () => sweepSessions(database, clock()),
      // After the sums of usage, which it reads.
      tellAlerts: () =>
        toTell.run(clock(), async (since) => {
          await tellAlerts(since ?? new Date(clock().getTime() - DAY_MS));
          return true;
        }),
      // Last, because a provider may take its time.
      askPayments,
    },
    (step, error) => logger.warn({ step, err: error.message }, "sweep step failed"),
  );
  sweeper.repeat(parts.everyMs);
  return sweeper;
}

/** Runs steps one after the other, again and again. A step that fails does not keep the others from running. */
export class Sweeper {
  readonly #steps: Readonly<Record<string, () => Promise<unknown>>>;
  readonly #onError: (step: string, error: Error) => void;
  #running: Promise<void> | undefined;
  #isClosed = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    steps: Readonly<Record<string, () => Promise<unknown>>>,
    onError: (step: string, error: Error) => void,
  ) {
    this.#steps = steps;
    this.#onError = onError;
  }

  /** Sweeps at this interval until it is closed. Does not keep the process alive. */
  repeat(everyMs: number): void {
    this.#timer = setInterval(() => void this.sweep(), everyMs).unref();
  }

  /** Runs all steps, unless they are already running. So sweeps do not queue up on a slow database. */
  sweep(): Promise<void> {
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  /** Waits for the step that is running. The remaining steps do not start. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await this.#running;
  }

  async #run(): Promise<void> {
    for (const [name, step] of Object.entries(this.#steps)) {
      if (this.#isClosed) return;
      try {
        await step();
      } catch (error) {
        this.#onError(name, error as Error);
      }
    }
  }
}
