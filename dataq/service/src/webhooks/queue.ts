import { setTimeout as sleep } from "node:timers/promises";
import type { Runner } from "graphile-worker";
import type pg from "pg";
import { isAway, isCutOff } from "../database/connection-loss.ts";
import type { Database, Queries } from "../database/database.ts";

/** A job's task. `attempts` counts the runs of the job, this one included; `signal` is aborted when the service stops. */
export type Task = (
  payload: Payload,
  run: { readonly attempts: number; readonly signal: AbortSignal | undefined },
) => Promise<void>;

type Payload = Readonly<Record<string, unknown>>;

export interface QueueParts {
  readonly database: Database;
  /** This service, and its own connection; see ledger/instance.ts. */
  readonly instance: { readonly id: number; session(): pg.Client | undefined };
  readonly tasks: Readonly<Record<string, Task>>;
  /** How often it looks for jobs of which nobody told it, such as one whose time has come. */
  readonly everyMs: number;
  readonly onError: (error: Error) => void;
}

/** Jobs that one service runs at the same time. Most of their time they wait for endpoints. */
const CONCURRENT = 10;
/** Of these, jobs of one group, such as a webhook, so that a slow endpoint does not delay the others. */
const CONCURRENT_OF_GROUP = 3;
/** After this time at the end, running jobs are aborted. They run again later. */
const STOP_AFTER_MS = 1_500;
const STOP_LIMIT_MS = 5_000;

/**
 * Runs the jobs of graphile-worker. Every service on a database runs one, and each job is run by one of them. Nothing is
 * loaded and no connection is opened until the first webhook or job exists, so a service without them pays nothing.
 */
export class Queue {
  readonly #parts: QueueParts;
  #starting: Promise<Runner | undefined> | undefined;
  /** Running jobs by group. */
  readonly #running = new Map<string, number>();
  readonly #runningJobs = new Set<string>();
  #isClosed = false;
  #pool: string | undefined;

  constructor(parts: QueueParts) {
    this.#parts = parts;
  }

  /** Starts it unless it runs. Failures are reported, and the next call tries again. */
  start(): void {
    if (this.#isClosed) return;
    this.#starting ??= this.#run().catch((error: Error) => {
      this.#starting = undefined;
      this.#parts.onError(error);
      return undefined;
    });
  }

  /** Starts it if there is anything to send; another service may have created the webhook or the job. */
  async startIfNeeded(): Promise<void> {
    if (this.#starting !== undefined || this.#isClosed) return;
    const found = await this.#parts.database.query<{ needed: boolean }>(
      "select exists (select from webhook) or exists (select from graphile_worker._private_jobs) as needed",
    );
    if (found.rows[0]!.needed) this.start();
  }

  /**
   * Frees jobs that were given to this service in an answer that got lost, so that it never ran them. graphile-worker
   * itself would wait for four hours.
   */
  async freeLost(): Promise<void> {
    if (this.#pool === undefined) return;
    await this.#parts.database.query(
      `update graphile_worker._private_jobs set locked_by = null, locked_at = null
        where locked_by = $1 and locked_at < now() - interval '30 seconds' and id <> all($2::bigint[])`,
      [this.#pool, [...this.#runningJobs]],
    );
  }

  /** Ends the jobs within seconds. An aborted one runs again, here or in another service. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const runner = await this.#starting;
    if (!runner) return;
    const limit = new AbortController();
    await Promise.race([
      runner.stop().catch((error: Error) => this.#parts.onError(error)),
      sleep(STOP_LIMIT_MS, undefined, { signal: limit.signal }).catch(() => {}),
    ]);
    limit.abort();
    await this.#parts.database
      .query("delete from webhook_worker where pool = $1", [this.#pool])
      .catch(() => {});
  }

  async #run(): Promise<Runner | undefined> {
    const { database, instance, tasks, everyMs } = this.#parts;
    const [{ run }, { silent }] = await Promise.all([import("graphile-worker"), import("./queue-log.ts")]);
    if (this.#isClosed) return undefined;
    const runner = await run({
      pgPool: listeningOn(database.pool, instance),
      logger: silent,
      noHandleSignals: true,
      concurrency: CONCURRENT,
      pollInterval: everyMs,
      forbiddenFlags: () => this.#busy(),
      gracefulShutdownAbortTimeout: STOP_AFTER_MS,
      preset: {
        worker: { preparedStatements: !database.isPooled },
        plugins: [
          {
            name: "dataq-instance",
            version: "1.0.0",
            worker: {
              // Before a worker takes its first job, so that every job of a killed service can be freed.
              hooks: { startWorker: (_, { worker }) => this.#register(worker.workerPool.id) },
            },
          },
        ],
      },
      taskList: Object.fromEntries(
        Object.entries(tasks).map(([name, task]) => [
          name,
          (payload, { job, abortSignal }) =>
            this.#inGroup(job.id, payload as Payload, (own) =>
              task(own, { attempts: job.attempts, signal: abortSignal }),
            ),
        ]),
      ),
    });
    void runner.promise
      .catch((error: Error) => this.#parts.onError(error))
      .then(() => {
        if (!this.#isClosed) this.#starting = undefined;
      });
    return runner;
  }

  async #inGroup(id: string, payload: Payload, task: (payload: Payload) => Promise<void>): Promise<void> {
    const group = String(payload["group"]);
    const change = (by: number) => {
      const count = (this.#running.get(group) ?? 0) + by;
      if (count === 0) this.#running.delete(group);
      else this.#running.set(group, count);
    };
    change(1);
    this.#runningJobs.add(id);
    try {
      await task(payload);
    } finally {
      change(-1);
      this.#runningJobs.delete(id);
    }
  }

  /** Groups that run as many jobs as they may. */
  #busy(): string[] {
    return [...this.#running].filter(([, count]) => count >= CONCURRENT_OF_GROUP).map(([group]) => group);
  }

  async #register(pool: string): Promise<void> {
    const { database, instance, onError } = this.#parts;
    this.#pool = pool;
    while (!this.#isClosed) {
      try {
        await database.query("insert into webhook_worker values ($1, $2) on conflict do nothing", [
          pool,
          instance.id,
        ]);
        return;
      } catch (error) {
        onError(error as Error);
        await sleep(1_000, undefined, { ref: false });
      }
    }
  }
}

/**
 * graphile-worker keeps a connection for LISTEN, the only one that it asks for with a callback. It gets the instance's,
 * so that it needs none of the pool, and none that PgBouncer changes. Its statements fail with `REPEATED` if the
 * connection is lost.
 */
export function listeningOn(pool: pg.Pool, instance: QueueParts["instance"]): pg.Pool {
  type Callback = (error?: Error, client?: pg.Client, release?: () => void) => void;
  const connect = (callback?: Callback) => {
    // graphile-worker does not wait until the end of a job is written. Once the service has closed, nobody would catch the
    // error, and it would end the process. The job runs again.
    if (callback === undefined)
      return pool.ending ? new Promise(() => {}) : pool.connect().then(repeating, throwRepeated);
    const session = instance.session();
    if (session === undefined) callback(new Error("the connection of this service is being replaced"));
    else callback(undefined, session, () => {});
    return undefined;
  };
  // `query` of a pool asks for its connection with a callback, too.
  return Object.assign(Object.create(pool), { connect, query: pool.query.bind(pool) }) as pg.Pool;
}

function repeating(client: pg.PoolClient): pg.PoolClient {
  const query = (...words: [string]) => client.query(...words).catch(throwRepeated);
  return Object.assign(Object.create(client), {
    query,
    release: client.release.bind(client),
  }) as pg.PoolClient;
}

/**
 * What a job's end writes has the same effect twice. graphile-worker repeats it after few errors, and nobody catches the
 * others: they would end the process.
 */
function throwRepeated(error: unknown): never {
  throw isAway(error) || isCutOff(error)
    ? Object.assign(new Error((error as Error).message, { cause: error }), { code: REPEATED })
    : error;
}

/** cannot_connect_now */
const REPEATED = "57P03";

/** Frees the jobs of services that were killed. graphile-worker itself would wait for four hours. */
export async function freeJobs(queries: Queries): Promise<void> {
  await queries.query(
    `with gone as (
       delete from webhook_worker w where not exists (select from instance i where i.id = w.instance_id) returning pool
     ) select graphile_worker.force_unlock_workers(array_agg(pool)) from gone having count(*) > 0`,
  );
}
