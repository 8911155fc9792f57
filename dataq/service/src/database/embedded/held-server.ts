import { closeSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import lockfile from "proper-lockfile";
import { type Binaries, findBinaries } from "./binaries.ts";
import { type Cluster, findHome, hasCluster, openCluster, ROOT_FOLDER } from "./cluster.ts";
import { findOwner } from "./owner.ts";
import {
  answers,
  type Connection,
  findPostmaster,
  openLifeline,
  type Postmaster,
  startPostmaster,
  stopPostmaster,
} from "./postmaster.ts";

/** A share in the embedded server of a data folder. Several processes can each hold one. */
export interface HeldServer {
  readonly connection: Connection;
  /** Releases the share. The last one stops the server and waits until it has ended. */
  release(): Promise<void>;
}

const KEEPER = "dataq keeper";
const START_LIMIT_MS = 60_000;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;

/**
 * Joins the server that already runs in `dataFolder` (started by another dataq, or left by a killed one), or starts
 * one. Simultaneous starts take turns.
 */
export async function holdServer(dataFolder: string, progress: (line: string) => void): Promise<HeldServer> {
  const owner = findOwner(dataFolder, progress);
  const home = findHome(dataFolder, owner, progress);
  const unlock = await takeTurn(home, progress);
  try {
    const copyFolder = owner.ids ? ROOT_FOLDER : home;
    const binaries = await findBinaries(owner, copyFolder, progress, hasCluster(home));
    const cluster = await openCluster(home, owner, binaries, progress);
    const lifeline = openLifeline(cluster, owner);
    try {
      const running = await join(cluster, progress);
      if (!running) progress("Starting the database …");
      const restart = () => startPostmaster(cluster, owner, binaries);
      return await keep(running ?? (await restart()), cluster, { lifeline, binaries, restart, progress });
    } catch (error) {
      if (lifeline !== undefined) closeSync(lifeline);
      throw error;
    }
  } finally {
    await unlock();
  }
}

async function takeTurn(home: string, progress: (line: string) => void): Promise<() => Promise<void>> {
  const lock = () => lockfile.lock(home, { stale: 5_000, update: 1_000 });
  const end = Date.now() + START_LIMIT_MS;
  for (let told = false; ; told = true) {
    try {
      return await lock();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ELOCKED" || Date.now() > end) throw error;
    }
    if (!told)
      progress("Another dataq is starting or stopping the database in this data folder; waiting for it …");
    await sleep(100);
  }
}

/** The running server; undefined if there is none, or if it ended meanwhile. */
async function join(cluster: Cluster, progress: (line: string) => void): Promise<Postmaster | undefined> {
  const end = Date.now() + START_LIMIT_MS;
  let told = false;
  for (;;) {
    const found = findPostmaster(cluster.data, cluster.password);
    if (!found) return undefined;
    if (found.connection && (await answers(found.connection))) {
      // Its last user may have just left, so that it is about to stop: check again.
      await sleep(50);
      if (await answers(found.connection)) return found;
    }
    if (Date.now() > end)
      throw new Error(
        `PostgreSQL (process ${found.pid}) uses ${cluster.data} and does not answer. Stop it, then start again.`,
      );
    if (!told) progress("Waiting for the database to finish starting or stopping …");
    told = true;
    await sleep(50);
  }
}

/**
 * Holds a session on the server, so that others see that it is in use, and so that this process notices if the server
 * ends (killed for lack of memory, for example) and restarts it.
 */
async function keep(server: Postmaster, cluster: Cluster, parts: KeepParts): Promise<HeldServer> {
  const { lifeline, binaries, restart, progress } = parts;
  let current = server;
  let isReleased = false;
  let keeper = await connectKeeper(server.connection);
  const watch = () =>
    keeper.once("end", async () => {
      if (isReleased) return;
      progress("The database has stopped. Restarting it …");
      let told = "";
      for (let pauseMs = FIRST_PAUSE_MS; !isReleased; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
        try {
          const unlock = await takeTurn(cluster.home, progress);
          try {
            current = (await join(cluster, progress)) ?? (await restart());
            keeper = await connectKeeper(current.connection);
          } finally {
            await unlock();
          }
          progress("The database is running again.");
          watch();
          return;
        } catch (error) {
          const { message } = error as Error;
          if (message !== told) progress(`The database cannot start; trying again: ${message}`);
          told = message;
          await sleep(pauseMs);
        }
      }
    });
  watch();
  return {
    connection: server.connection,
    async release() {
      isReleased = true;
      const unlock = await takeTurn(cluster.home, progress);
      try {
        const isLast = await endKeeper(keeper);
        if (isLast) await stopPostmaster(cluster.data, current.pid, binaries);
      } finally {
        if (lifeline !== undefined) closeSync(lifeline);
        await unlock();
      }
    },
  };
}

interface KeepParts {
  readonly lifeline: number | undefined;
  readonly binaries: Binaries;
  readonly restart: () => Promise<Postmaster>;
  readonly progress: (line: string) => void;
}

async function connectKeeper(connection: Connection): Promise<pg.Client> {
  const keeper = new pg.Client({ ...connection, application_name: KEEPER, keepAlive: true });
  keeper.on("error", () => {});
  await keeper.connect();
  return keeper;
}

async function endKeeper(keeper: pg.Client): Promise<boolean> {
  try {
    const others = await keeper.query<{ n: number }>(
      "select count(*)::int as n from pg_stat_activity where application_name = $1 and pid <> pg_backend_pid()",
      [KEEPER],
    );
    await keeper.end();
    return others.rows[0]!.n === 0;
  } catch {
    // The server has already ended.
    return false;
  }
}
