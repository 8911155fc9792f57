import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { expect, test, vi } from "vitest";
import { createSmallStore } from "../../../locallm/test/model-store.ts";
import { environmentOf, makeDataFolder, removeDataFolder } from "./data-folder.ts";

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
    const publisher = createServer((_request, reply) => {
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
