import { afterAll, beforeAll, expect, test } from "vitest";
import { isFullSize } from "../../../testing/test-size.ts";
import type { Database } from "../src/database/database.ts";
import { makeDataFolder, openFolder, removeDataFolder } from "./data-folder.ts";
import { DatasetKills, killActions, killTargets } from "./dataset-kills.ts";
import { commandsOn } from "./mortal-database.ts";

let folder: string;
let database: Database;
let kills: DatasetKills;

beforeAll(async () => {
  folder = await makeDataFolder("tables");
  database = await openFolder(folder);
  kills = new DatasetKills({ database, folder, run: commandsOn(database, folder), size: 10 });
  await kills.start();
}, 120_000);

afterAll(async () => {
  kills?.close();
  await database?.close();
  await removeDataFolder(folder);
});

/**
 * Picks `count` statements from the first to the last, more of the first ones, because the new state begins early. Each
 * seed picks different ones.
 */
function some(seed: number, count: number) {
  const share = (n: number) => ((n + ((seed * 0.37) % 1)) / count) ** 2;
  return (statements: number): number[] =>
    Array.from({ length: count }, (_, n) => 1 + Math.floor(share(n) * statements));
}

const cases = killTargets.flatMap((target) => killActions.map((action) => [target, action] as const));

test.each(cases.map(([target, action], seed) => [target, action, seed] as const))(
  "%s: %s, killed at some of its statements, leaves the old state or the new one (at each of them: npm run proof -- import-kills)",
  async (target, action, seed) => {
    const { keptOld } = await kills.killAt(target, action, some(seed, isFullSize ? 4 : 2));
    expect(keptOld).toBeGreaterThan(0);
  },
);
