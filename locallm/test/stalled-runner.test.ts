import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readConfig } from "../src/config.ts";
import { startRunner } from "../src/runner/start.ts";
import { createServer, type Server } from "../src/server.ts";
import { createSmallStore, type ModelStore } from "./model-store.ts";
import { collect, loadOf, longText, newJob } from "./runner/jobs.ts";
import { lines, until } from "./server-process.ts";
import { starterModelPath } from "./starter-model.ts";

// At the same time as the other suite: this one waits, and the other computes.
describe.concurrent("a runner that hangs", () => {
  let store: ModelStore;
  let server: Server;
  const pids: number[] = [];
  beforeAll(async () => {
    store = await createSmallStore();
    server = await createServer(
      readConfig({ LOCALLM_HOST: "127.0.0.1:0", LOCALLM_MODELS: store.folder, LOCALLM_NUM_PARALLEL: "2" }),
      {
        log: pino({ level: "silent" }),
        startRunner: async (load, start) => {
          const runner = await startRunner(load, { ...start, heartbeat: { everyMs: 100, questions: 40 } });
          pids.push(runner.pid);
          return runner;
        },
      },
    );
  });
  afterAll(async () => {
    await server.close();
    await store.remove();
  });

  const generate = (options: object, stream = false) =>
    fetch(`${server.url}/api/generate`, {
      method: "POST",
      body: JSON.stringify({
        model: "small:a",
        prompt: "abc",
        stream,
        options: { num_ctx: 4096, ...options },
      }),
    });
  const health = async () => {
    const answer = await fetch(`${server.url}/health`);
    return {
      code: answer.status,
      ...((await answer.json()) as { ready: boolean; status: string; stalled: string[] }),
    };
  };

  it("is stopped; its requests get a clear error, the next request reloads the model, and /health reports it", async () => {
    const streaming = await generate({ num_predict: 4_000 }, true);
    const events = lines(streaming)[Symbol.asyncIterator]();
    await events.next();
    process.kill(pids[0]!, "SIGSTOP");
    const beside = generate({ num_predict: 3 });
    await until("/health tells", async () => (await health()).code === 503);
    expect(await health()).toMatchObject({
      code: 503,
      ready: false,
      status: "stalled",
      stalled: ["small:a"],
    });

    const named = expect.stringContaining("made no progress for 4 s and was stopped");
    let last: unknown;
    for (;;) {
      const { done, value } = await events.next();
      if (done === true) break;
      last = value;
    }
    expect(last).toEqual({ error: named });
    const refused = await beside;
    expect([refused.status, await refused.json()]).toEqual([500, { error: named }]);

    const again = await generate({ num_predict: 3 });
    expect([again.status, await again.json()]).toEqual([
      200,
      expect.objectContaining({ done: true, eval_count: 3 }),
    ]);
    expect(await health()).toMatchObject({ code: 200, ready: true, status: "ok", stalled: [] });
    expect(pids).toHaveLength(2);
    expect(() => process.kill(pids[0]!, 0)).toThrow();
  });
});

const starter = await starterModelPath();

describe.skipIf(starter === null)("a step that takes longer than the limit", { concurrent: true }, () => {
  it("is not mistaken for a hanging runner", async () => {
    const heartbeat = { everyMs: 50, questions: 20 };
    const load = loadOf(starter!, { numCtx: 512, numBatch: 512 });
    const runner = await startRunner(load, { heartbeat });
    const { done } = await collect(runner.generate(newJob(longText("x", 400), { numPredict: 1 })));
    expect(done.evalTokens).toBe(1);
    await runner.kill();
  });
});
