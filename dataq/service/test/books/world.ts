import { writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { readConfig } from "../../src/config.ts";
import { type Database, openDatabase } from "../../src/database/database.ts";
import { createService, type Service } from "../../src/server.ts";
import { checkAnswer } from "../answer-check.ts";
import {
  commitWithoutDisk,
  environmentOf,
  makeDataFolder,
  openFolder,
  queryAsOwner,
  removeDataFolder,
} from "../data-folder.ts";
import { databaseLine, FaultyLine } from "../faulty-line.ts";
import { type Receiver, startReceiver } from "../receiver.ts";
import { ScriptedSources } from "../scripted-source.ts";

/** One service, with the lines between it and its callers, and between it and the two addresses of the database. */
export interface Place {
  readonly service: Service;
  readonly callers: FaultyLine;
  /** The one in use, and the one that a fail-over goes to. */
  readonly database: readonly [FaultyLine, FaultyLine];
}

export interface Answer {
  readonly status: number;
  readonly requestId: string;
  /** Whether the service says that it gave this answer before. */
  readonly isReplay: boolean;
  // biome-ignore lint/suspicious/noExplicitAny: an answer has any form
  readonly body: any;
}

/** A caller hears of an answer within this time, whatever breaks on the way. No step takes a fraction of it. */
const LONGEST_CALL_MS = 600_000;

const NEVER_MS = 86_400_000;

/** Two services on one real PostgreSQL, with a clock that stands still until it is moved. */
export class World {
  nowMs = 0;
  /** The database is or was away for longer than the services repeat what they do not know, so that a 503 tells nothing. */
  isAwayForLong = false;
  readonly sources: ScriptedSources;
  /** Not disturbed by any fault. */
  readonly database: Database;
  /** The database as importers see it, through the lines of the first service. */
  readonly importing: Database;
  readonly places: readonly Place[];
  readonly receiver: Receiver;
  readonly folder: string;
  readonly #folders: readonly string[];

  private constructor(parts: {
    folders: readonly string[];
    database: Database;
    importing: Database;
    sources: ScriptedSources;
    receiver: Receiver;
  }) {
    this.#folders = parts.folders;
    this.folder = parts.folders[0]!;
    this.database = parts.database;
    this.importing = parts.importing;
    this.sources = parts.sources;
    this.receiver = parts.receiver;
    this.places = [];
  }

  static async open(): Promise<World> {
    const folder = await makeDataFolder("tables");
    const database = await openFolder(folder);
    await commitWithoutDisk(database);
    await connectQuickly(database);
    const lines = await Promise.all(
      [0, 1].map(async () => [await databaseLine(database), await databaseLine(database)] as const),
    );
    const urlOf = ([first, second]: (typeof lines)[number]) =>
      first.url.replace(/(:\d+)\//, `$1,127.0.0.1:${second.line.port}/`);
    const importing = await openDatabase({ url: urlOf(lines[0]!), folder, poolSize: 6, progress: () => {} });
    const world = new World({
      folders: [folder],
      database,
      importing,
      sources: new ScriptedSources(),
      receiver: await startReceiver(),
    });
    world.nowMs = Date.parse("2026-03-10T04:00:00Z");
    for (const pair of lines) {
      const config = readConfig({
        ...environmentOf(folder),
        DATABASE_URL: urlOf(pair),
        DATAQ_HOST: "127.0.0.1:0",
        DATAQ_LAWS: "off",
        DATAQ_SAMPLES: "off",
        DATAQ_DATA: join(folder, "service"),
        DATAQ_SECRET: "the secret of both services",
        DATAQ_POOL: "9",
      });
      const service = await createService(config, {
        progress: () => {},
        clock: () => new Date(world.nowMs),
        sources: world.sources,
        sourceLimitMs: 300,
        // What happens follows from the seed and not from real time, and a world that waits for the processor does nothing.
        sweepEveryMs: NEVER_MS,
        jobsEveryMs: NEVER_MS,
        logTo: { write: () => {} },
      });
      const { port } = new URL(service.url);
      const callers = await FaultyLine.open({ host: "127.0.0.1", port: Number(port) });
      (world.places as Place[]).push({ service, callers, database: [pair[0].line, pair[1].line] });
    }
    // Not before: on a machine that is busy enough, a first connection goes to the second address after 3 s.
    for (const [, { line }] of lines) line.isDown = true;
    return world;
  }

  /** Every line to the database. */
  databaseLines(): FaultyLine[] {
    return this.places.flatMap(({ database }) => [...database]);
  }

  /** The other address of the database accepts connections now, and the first one breaks. */
  async failOver(): Promise<void> {
    for (const { database } of this.places) {
      const down = database.find(({ isDown }) => !isDown)!;
      const up = database.find(({ isDown }) => isDown)!;
      down.isDown = true;
      down.break();
      up.isDown = false;
    }
  }

  /** For a while one service, or both, cannot reach the database, and something may happen meanwhile. */
  async cutOff(places: readonly Place[], forMs: number, meanwhile?: () => Promise<void>): Promise<void> {
    const lines = places.flatMap(({ database }) => database.filter(({ isDown }) => !isDown));
    for (const line of lines) {
      line.isDown = true;
      line.break();
    }
    await Promise.all([sleep(forMs), meanwhile?.()]);
    for (const line of lines) line.isDown = false;
  }

  /**
   * Undefined if the caller does not hear whether the request was answered. Every answer that arrives is compared with
   * the contract.
   */
  ask(
    place: Place,
    method: string,
    path: string,
    { key, body, headers }: { key?: string; body?: object; headers?: Readonly<Record<string, string>> } = {},
  ): Promise<Answer | undefined> {
    const sent = body === undefined ? "" : JSON.stringify(body);
    return new Promise((resolve, reject) => {
      const limit = setTimeout(
        () => reject(new Error(`${method} ${path} did not end: ${sent}`)),
        LONGEST_CALL_MS,
      );
      const end = (answer: Answer | undefined) => {
        clearTimeout(limit);
        resolve(answer);
      };
      const asked = request(
        {
          host: "127.0.0.1",
          port: place.callers.port,
          method,
          path,
          agent: false,
          headers: {
            authorization: `Bearer ${key ?? place.service.localKey}`,
            ...(body && { "content-type": "application/json", "content-length": Buffer.byteLength(sent) }),
            ...headers,
          },
        },
        (response) => {
          let text = "";
          response.setEncoding("utf8").on("data", (piece: string) => {
            text += piece;
          });
          response.on("error", () => end(undefined));
          response.on("close", () => {
            if (!response.complete) return end(undefined);
            const status = response.statusCode!;
            const type = response.headers["content-type"] ?? "";
            try {
              checkAnswer({ method, path, sent: body, status, type, text }, { hasRealRecords: false });
              const requestId = String(response.headers["x-request-id"]);
              const isReplay = response.headers["idempotent-replayed"] === "true";
              end({ status, requestId, isReplay, body: text === "" ? undefined : JSON.parse(text) });
            } catch (error) {
              clearTimeout(limit);
              reject(error);
            }
          });
        },
      );
      asked.on("error", () => end(undefined));
      asked.end(sent);
    });
  }

  async close(): Promise<void> {
    for (const line of this.databaseLines()) line.isDown = false;
    for (const { service, callers } of this.places) {
      await service.close();
      await callers.close();
    }
    await this.importing.close();
    for (const line of this.databaseLines()) await line.close();
    await this.receiver[Symbol.asyncDispose]();
    await this.database.close();
    for (const folder of this.#folders) await removeDataFolder(folder);
  }
}

/**
 * Every lost answer costs a connection. A new one asks for no password, whose check takes longer than what is done with
 * it, and the owner's, which the services have here, wait for no disk either.
 */
async function connectQuickly(database: Database): Promise<void> {
  if (!database.isEmbedded) return;
  const owner = await database.connectAsOwner();
  const found = await owner.query<{ hba_file: string }>("show hba_file");
  await owner.end();
  writeFileSync(found.rows[0]!.hba_file, "local all all trust\nhost all all 127.0.0.1/32 trust\n");
  await queryAsOwner(
    database,
    "alter role current_user set synchronous_commit = off",
    "select pg_reload_conf()",
  );
}
