import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Database, openDatabase } from "../dataq/service/src/database/database.ts";
import { makeIdentifier } from "../dataq/service/src/database/identifier.ts";
import { migrate } from "../dataq/service/src/database/migrations.ts";
import { gatherStatements } from "../dataq/service/src/ledger/gather.ts";
import { hold } from "../dataq/service/src/ledger/hold.ts";
import { openWallet, topUp } from "../dataq/service/src/ledger/movement.ts";
import { settle } from "../dataq/service/src/ledger/settlement.ts";
import { migrations } from "../dataq/service/src/schema.ts";

/**
 * Measures how many paid calls per second the ledger handles. A call is a hold and a capture, each written to
 * disk before it returns. For comparison it also measures what this machine can do: commits of one inserted
 * row by the same clients, and flushes of one page to disk.
 */
export const title = "dataq ledger: hold and capture, embedded PostgreSQL, fsync on";

const bursts = 5;
const burstMs = 3_000;
const floorMs = 1_000;

export async function run(print: (line: string) => void): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "dataq-bench-"));
  const database = await openDatabase({ folder, progress: () => {}, poolSize: 8 });
  try {
    await migrate(database, migrations);
    const fsync = await database.pool.query("show fsync");
    if (fsync.rows[0].fsync !== "on") throw new Error("fsync is off; the figure would mean nothing.");
    const accounts = Array.from({ length: 64 }, (_, n) => `bench_${n}`);
    for (const id of accounts) {
      const now = new Date();
      await openWallet(database, id, now);
      await topUp(database, id, 1e12, `bench:${id}`, { actor: "bench", note: "bench", now });
    }
    const rows = {
      "64 accounts, 8 clients": [accounts, 8],
      "1 account, 8 clients": [accounts.slice(0, 1), 8],
      "64 accounts, 1 client": [accounts, 1],
    } as const;
    const rates = new Map<string, number[]>(Object.keys(rows).map((name) => [name, []]));
    const statements = gatherStatements(database);
    const burst = async (ids: readonly string[], clients: number): Promise<number> => {
      const begin = performance.now();
      let pairs = 0;
      await Promise.all(
        Array.from({ length: clients }, async (_, client) => {
          for (let n = client; performance.now() - begin < burstMs; n += clients) {
            const accountId = ids[n % ids.length]!;
            const now = new Date();
            const requestId = makeIdentifier("req", now);
            const deadline = new Date(now.getTime() + 120_000);
            await hold(
              database,
              {
                requestId,
                accountId,
                keyId: "key_bench",
                operation: "legal_laws",
                tokens: 5_000,
                priceVersion: 1,
                cached: false,
                instanceId: 0,
                now,
                deadline,
              },
              statements,
            );
            const end = {
              kind: "capture",
              tokens: 5_000,
              note: "answered",
              now: new Date(),
              accountId,
            } as const;
            await settle(database, requestId, end, undefined, statements);
            pairs += 1;
          }
        }),
      );
      return pairs / ((performance.now() - begin) / 1000);
    };
    const owner = await database.connectAsOwner();
    await owner.query("create table bench_floor (n bigint); grant insert on bench_floor to public");
    await owner.end();
    const floors = {
      "one inserted row, 8 clients": () => commits(database, 8),
      "one inserted row, 1 client": () => commits(database, 1),
      "one page written and flushed": () => flushes(folder),
    };
    for (const name of Object.keys(floors)) rates.set(name, []);
    await burst(accounts, 8);
    for (let n = 0; n < bursts; n++) {
      for (const [name, [ids, clients]] of Object.entries(rows))
        rates.get(name)!.push(await burst(ids, clients));
      for (const [name, floor] of Object.entries(floors)) rates.get(name)!.push(await floor());
    }
    print(
      `Hold + capture per second, ${bursts} alternating bursts of ${burstMs / 1000} s each; below it, commits per second.`,
    );
    print("");
    print("| | median | least | most |");
    print("|---|---:|---:|---:|");
    for (const [name, found] of rates) {
      const sorted = found.toSorted((a, b) => a - b);
      print(
        `| ${name} | ${[sorted[Math.floor(sorted.length / 2)], sorted[0], sorted.at(-1)].map((rate) => rate!.toFixed(0)).join(" | ")} |`,
      );
    }
  } finally {
    await database.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function commits(database: Database, clients: number): Promise<number> {
  const begin = performance.now();
  let done = 0;
  const client = async () => {
    for (; performance.now() - begin < floorMs; done++)
      await database.pool.query({
        name: "floor",
        text: "insert into bench_floor values ($1)",
        values: [done],
      });
  };
  await Promise.all(Array.from({ length: clients }, client));
  return done / ((performance.now() - begin) / 1000);
}

function flushes(folder: string): number {
  const file = openSync(join(folder, "floor"), "w");
  const page = Buffer.alloc(8_192);
  const begin = performance.now();
  let done = 0;
  for (; performance.now() - begin < floorMs; done++) {
    writeSync(file, page, 0, page.length, (done % 2_000) * page.length);
    fdatasyncSync(file);
  }
  closeSync(file);
  return done / (floorMs / 1000);
}

if (import.meta.main) await run(console.log);
