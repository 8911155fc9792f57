import { Worker } from "node:worker_threads";
import { WORK_CONNECTIONS } from "../../database/connections.ts";
import type { Database } from "../../database/database.ts";
import type { SearchEngine } from "../../search/open-index.ts";
import { type Due, findDue } from "./refresh.ts";

export interface ScheduleOptions {
  readonly databaseUrl: string | undefined;
  readonly databaseDirectUrl: string | undefined;
  readonly search: SearchEngine | undefined;
  readonly dataFolder: string;
  readonly mirror?: string | undefined;
  readonly clock: () => Date;
  readonly progress: (line: string) => void;
}

/** A task for the worker. */
export interface RefreshTask {
  readonly databaseUrl: string | undefined;
  readonly databaseDirectUrl: string | undefined;
  readonly search: SearchEngine | undefined;
  readonly dataFolder: string;
  readonly mirror?: string | undefined;
  readonly due: Due;
}

/**
 * Refreshes data that is 30 days old, in a thread of low priority. Checks once per hour; several services on
 * one database take turns. Returns a function that stops the schedule.
 */
export function startSchedule(database: Database, options: ScheduleOptions): () => Promise<void> {
  let running: Promise<void> = Promise.resolve();
  let worker: Worker | undefined;
  let isStopped = false;
  const look = async () => {
    const due = await findDue(database, options.clock(), options.search);
    const isAnything = due.datasets.length > 0 || due.corpora.length > 0 || due.isFoldPending;
    if (!isAnything || isStopped) return;
    const takeBack = await database.lend(WORK_CONNECTIONS);
    // Other work of this service uses the connections.
    if (takeBack === undefined) return void setTimeout(turn, tryAgainMs).unref();
    const { databaseUrl, databaseDirectUrl, dataFolder, mirror, search } = options;
    const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
    const task: RefreshTask = { databaseUrl, databaseDirectUrl, search, dataFolder, mirror, due };
    const started = new Worker(new URL(`./worker.${extension}`, import.meta.url), { workerData: task });
    worker = started;
    await new Promise<void>((resolve) => {
      started.on("message", (line: string) => options.progress(line));
      started.once("error", (error) => options.progress(`Refresh failed: ${(error as Error).message}`));
      started.once("exit", () => resolve());
    });
    takeBack();
  };
  const turn = () => {
    running = running
      .then(look)
      .catch((error: Error) => options.progress(`Refresh failed: ${error.message}`));
  };
  const timer = setInterval(turn, lookEveryMs);
  timer.unref();
  turn();
  return async () => {
    isStopped = true;
    clearInterval(timer);
    // The next refresh continues or removes an unfinished build.
    await worker?.terminate();
    await running;
  };
}

const lookEveryMs = 3_600_000;
const tryAgainMs = 60_000;
