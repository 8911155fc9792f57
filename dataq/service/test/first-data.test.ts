import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { FirstData } from "../src/background/first-data/first-data.ts";
import type { Database } from "../src/database/database.ts";
import { databaseUrl, makeDataFolder, openFolder, removeDataFolder } from "./data-folder.ts";

let folder: string;
let database: Database;
beforeAll(async () => {
  folder = await makeDataFolder("tables");
  database = await openFolder(folder);
}, 120_000);
afterAll(async () => {
  await database.close();
  await removeDataFolder(folder);
});

test("a call that comes too early says what is being prepared, how far it is and when to come again", async () => {
  // An index that accepts connections and never answers. It reads, because an unread socket never sees its end.
  const silent = createServer((socket) => socket.resume()).listen(0, "127.0.0.1");
  await once(silent, "listening");
  const { port } = silent.address() as AddressInfo;
  const firstData = new FirstData(database, {
    databaseUrl: databaseUrl(folder),
    databaseDirectUrl: undefined,
    search: undefined,
    dataFolder: folder,
    samples: false,
    laws: `http://127.0.0.1:${port}/laws.jsonl`,
    progress: () => {},
    longestWaitMs: 50,
  });
  const early = () => firstData.ready("legal_laws").catch((error: unknown) => error);
  try {
    expect(await early()).toMatchObject({
      code: "preparing",
      details: { operation: "legal_laws", percent: 0, retry_after: 5 },
    });
    for (const [done, total, seconds, percent, retryAfter] of [
      [5_000, 20_000, 10, 25, 30],
      [1, 26_196, 3_600, 0, 60],
      [26_195, 26_196, 30, 99, 5],
      [40_000, 20_000, 30, 100, 5],
      [7, 0, 1, 0, 5],
      [7, null, 1, 0, 5],
    ]) {
      await database.pool.query(
        `insert into import_run (target, dataset, origin, sha256, state, done, total, started_at, updated_at)
         values ('legal_laws', 'd', 'o', '', 'running', $1, $2, now() - make_interval(secs => $3), now())`,
        [done, total, seconds],
      );
      const { details } = (await early()) as { details: { percent: number; retry_after: number } };
      expect(details.percent).toBe(percent);
      expect(Math.abs(details.retry_after - Number(retryAfter))).toBeLessThanOrEqual(3);
    }
    // What is not being prepared waits for nothing.
    expect(await firstData.ready("research_paper_search")).toBeUndefined();
  } finally {
    await firstData.close();
    silent.close();
  }
});
