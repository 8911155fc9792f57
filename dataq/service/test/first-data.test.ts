import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { createSmallStore } from "../../../locallm/test/model-store.ts";
import { FirstData } from "../src/background/first-data/first-data.ts";
import type { Database } from "../src/database/database.ts";
import { databaseUrl, environmentOf, makeDataFolder, openFolder, removeDataFolder } from "./data-folder.ts";

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

test.each([
  ["the laws come", "civil-code", "第五百七十七条", false],
  ["no laws can be read", undefined, expect.any(String), true],
])(
  "npm start gives the line to ask when that line works (%s)",
  async (_, law_id, article_no, sample) => {
    const row = {
      law_id,
      law_name: "中华人民共和国民法典",
      article_no: "第五百七十七条",
      article_text: "应当承担责任。",
    };
    // A publisher that answers when the test says so.
    const held: (() => void)[] = [];
    let isOpen = false;
    const publisher = createHttpServer((_request, reply) => {
      const answer = () => reply.end(JSON.stringify(row));
      if (isOpen) answer();
      else held.push(answer);
    });
    await once(publisher.listen(0, "127.0.0.1"), "listening");
    const { port } = publisher.address() as AddressInfo;
    const [own, models] = [await makeDataFolder("tables"), await createSmallStore()];
    const start = spawn(process.execPath, ["scripts/start.ts"], {
      cwd: fileURLToPath(new URL("../../../", import.meta.url)),
      env: {
        ...environmentOf(own),
        LOCALLM_HOST: "127.0.0.1:0",
        LOCALLM_MODELS: models.folder,
        DATAQ_HOST: "127.0.0.1:0",
        DATAQ_LAWS: `http://127.0.0.1:${port}/laws.jsonl`,
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let said = "";
    for (const output of [start.stdout, start.stderr]) output.on("data", (data) => (said += data));
    const ended = once(start, "exit");
    const waiting = { timeout: 120_000, interval: 200 };
    const lineToAsk =
      /curl (\S+\/v1\/data\/query) -H 'Authorization: (Bearer \w+)'[^']*'Content-Type: ([\w/]+)' -d '(.+)'/;
    try {
      await vi.waitUntil(() => said.includes("Both products run") && held.length > 0, waiting);
      // Lines may arrive one by one.
      await vi.waitUntil(
        () => said.includes("the laws are being prepared; the line to ask follows"),
        waiting,
      );
      expect(said).not.toMatch(lineToAsk);
      isOpen = true;
      for (const answer of held) answer();
      await vi.waitUntil(() => lineToAsk.test(said), waiting);
      const [, url, authorization, type, body] = lineToAsk.exec(said) as unknown as string[];
      const headers = { authorization: authorization!, "content-type": type! };
      const answer = await fetch(url!, { method: "POST", headers, body: body! });
      const told = (await answer.json()) as { sample?: boolean };
      expect(told, said).toMatchObject({ data: [{ article_no }] });
      expect(told.sample ?? false).toBe(sample);
    } finally {
      start.kill();
      await ended;
      publisher.closeAllConnections();
      publisher.close();
      await models.remove();
      await removeDataFolder(own);
    }
  },
  240_000,
);
