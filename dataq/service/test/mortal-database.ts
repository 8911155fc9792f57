import { join } from "node:path";
import type pg from "pg";
import { refreshCorpus } from "../src/background/refresh/refresh.ts";
import type { Database } from "../src/database/database.ts";
import { removeDataset, restoreDataset } from "../src/importer/datasets.ts";
import { fetchOrigin } from "../src/importer/origin/origin.ts";
import { findTarget, importAny } from "../src/operations/imports.ts";
import { embeddedIndex } from "../src/search/open-index.ts";
import type { RunCommand } from "./dataset-kills.ts";

/** What the command line does with these arguments, on a database that can be killed. */
export function commandsOn(immortal: Database, folder: string): RunCommand {
  const mortal = new MortalDatabase(immortal);
  const index = embeddedIndex(mortal.database, { now: () => Number.POSITIVE_INFINITY });
  const needs = { database: mortal.database, index, dataFolder: folder, progress: () => {} };
  return (words, killAt) =>
    mortal.live(async () => {
      const [verb, ...rest] = words as [string, ...string[]];
      if (verb === "index") return refreshCorpus(needs, rest[1] as string);
      if (verb === "import") {
        const [target, origin] = rest as [string, string];
        const file = await fetchOrigin(origin, { folder: join(folder, "downloads") });
        const dataset = rest[rest.indexOf("--dataset") + 1] as string;
        const isOn = (flag: string) => rest.includes(flag);
        const options = { dataset, again: isOn("--again"), yes: isOn("--yes"), update: isOn("--update") };
        return importAny(mortal.database, index, target, file, options);
      }
      const [change, name, , target] = rest as [string, string, string, string];
      const run = change === "remove" ? removeDataset : restoreDataset;
      return run(mortal.database, index, findTarget(target), name);
    }, killAt);
}

/**
 * A database whose user can be killed before its n-th statement: its connections break, and it sends nothing more.
 * For the server this is the same as SIGKILL of a process. Only one user at a time can use a mortal database.
 */
export class MortalDatabase {
  readonly database: Database;
  #statements = 0;
  #killAt = Number.POSITIVE_INFINITY;
  #clients: pg.Client[] = [];

  constructor(immortal: Database) {
    this.database = {
      ...immortal,
      pool: new Proxy(immortal.pool, {
        get: (pool, name) =>
          name === "query" ? this.#counted(pool.query.bind(pool)) : Reflect.get(pool, name),
      }),
      query: this.#counted(immortal.query),
      connect: async () => {
        this.#assertAlive();
        const client = await immortal.connect();
        this.#clients.push(client);
        client.query = this.#counted(client.query.bind(client));
        return client;
      },
    };
  }

  /** Runs `run`. Returns whether it was killed, and how many statements it sent. Throws any other failure. */
  async live(run: () => Promise<unknown>, killAt = Number.POSITIVE_INFINITY) {
    this.#statements = 0;
    this.#killAt = killAt;
    this.#clients = [];
    try {
      await run();
    } catch (error) {
      if (this.#statements < this.#killAt) throw error;
    }
    return { killed: this.#statements >= this.#killAt, statements: this.#statements };
  }

  #counted<Query extends (...words: never[]) => unknown>(query: Query): Query {
    return (async (...words: never[]) => {
      if (this.#statements < this.#killAt) this.#statements++;
      this.#assertAlive();
      return query(...words);
    }) as unknown as Query;
  }

  #assertAlive(): void {
    if (this.#statements < this.#killAt) return;
    for (const { connection } of this.#clients as unknown as {
      connection: { stream: { destroy(): void } };
    }[])
      connection.stream.destroy();
    throw new Error("killed");
  }
}
