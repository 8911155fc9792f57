import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isFullSize } from "../../testing/test-size.ts";
import type { RunnerStart } from "../src/runner/handle.ts";
import { startRunner } from "../src/runner/start.ts";
import { crowd, type Explained, endedOrder, seeded, vanishing } from "./crowd.ts";
import { createSmallStore, type ModelStore } from "./model-store.ts";
import {
  command,
  lines,
  metricsOf,
  startServer,
  startServerHere,
  type TestServer,
  until,
} from "./server-process.ts";

const model = "small:a";
const other = "small:b";
const short = { num_predict: 1, temperature: 0, num_ctx: 512 };

describe("many requests", () => {
  let store: ModelStore;
  beforeAll(async () => {
    store = await createSmallStore();
    await store.derive("alias:1", { from: model, system: "x" });
  });
  afterAll(() => store.remove());

  async function withServer(env: Record<string, string>, use: (server: TestServer) => Promise<void>) {
    const server = await startServerHere({ models: store.folder, env });
    try {
      await use(server);
    } finally {
      await server.stop();
    }
  }
  const explain = (server: TestServer) =>
    server.ask<Explained>("/api/ps?explain").then((view) => view.explain);

  // At most one load per 16 requests of a model.
  const many = isFullSize ? { requests: 200, fewestLoads: 14 } : { requests: 70, fewestLoads: 6 };

  it(`${many.requests} concurrent requests for two models, one loaded at a time: answered in order, with as few loads as possible`, async () => {
    await withServer({}, async (server) => {
      const answers = await crowd(server, [model, other], many.requests, short);
      expect(answers.filter(({ done }) => !done)).toEqual([]);
      const { decisions } = await explain(server);
      const loads = decisions.filter(({ what }) => what === "load");
      // The scheduler allows one load per 16 requests, or one per 2 s if those requests finish sooner.
      const cutShort = decisions.filter(({ why }) => why.endsWith("served 2 s")).length;
      expect(loads.length).toBeLessThanOrEqual(many.fewestLoads + cutShort);
      expect(loads.length).toBeGreaterThanOrEqual(many.fewestLoads);
      await until("all are in the log", () => endedOrder(server).length === many.requests);
      for (const parity of [0, 1]) {
        const order = endedOrder(server).filter((index) => index % 2 === parity);
        expect(order).toEqual(order.toSorted((a, b) => a - b));
      }
    });
    // The test makes about ten loads in sequence.
  }, 240_000);

  it("two names for the same weights share one runner", async () => {
    await withServer({ LOCALLM_MAX_LOADED_MODELS: "3" }, async (server) => {
      for (const name of [model, "alias:1", other])
        await server.ask("/api/generate", { model: name, prompt: "x", stream: false, options: short });
      const { loaded } = await explain(server);
      expect(loaded.map((each) => each.model).sort()).toEqual([model, other]);
    });
  });

  it("memory that a model's cache does not get is told by /api/ps?explain and locallm ps", async () => {
    let grow: RunnerStart["onGrow"];
    const server = await startServerHere({
      models: store.folder,
      startRunner: (load, start) => {
        grow = start?.onGrow;
        return startRunner(load, start);
      },
    });
    try {
      await server.ask("/api/generate", { model, prompt: "x", stream: false, options: short });
      const ps = async () => (await command(["ps"], { LOCALLM_HOST: server.url })).out;
      expect(await ps()).not.toContain("could not grow");
      const granted = grow!(1e15);
      const bytes = 1e15 - granted;
      const { loaded, decisions } = await explain(server);
      expect(loaded[0]).toMatchObject({ cache_refused: { bytes, why: "memory is short" } });
      expect(decisions.at(-1)).toMatchObject({ model, what: "refuse" });
      expect(await ps()).toMatch(/^small:a: its cache could not grow by \d+ TB .+ ago: memory is short$/m);
      grow!(1);
      expect((await explain(server)).loaded[0]).not.toHaveProperty("cache_refused");
    } finally {
      await server.stop();
    }
  });

  it("requests beyond the queue limit get 503 with Retry-After", async () => {
    await withServer({ LOCALLM_MAX_QUEUE: "2" }, async (server) => {
      await server.ask("/api/generate", { model });
      const gone = new AbortController();
      const long = { num_predict: 4000, temperature: 0 };
      const held = [1, 2, 3].map((index) =>
        server
          .post("/api/generate", { model, prompt: `${index}`, options: long }, { signal: gone.signal })
          .catch(() => null),
      );
      await until("two wait", async () => (await explain(server)).waiting[0]?.count === 2);
      const refused = await server.post("/api/generate", { model, prompt: "x" });
      expect([refused.status, await refused.json()]).toEqual([
        503,
        {
          error:
            "server busy, please try again.  maximum pending requests exceeded: 2 requests wait; send it again in a moment, or raise LOCALLM_MAX_QUEUE or LOCALLM_NUM_PARALLEL on the server",
        },
      ]);
      expect(Number(refused.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
      const openAi = await server.post("/v1/chat/completions", {
        model,
        messages: [{ role: "user", content: "x" }],
      });
      expect([openAi.status, await openAi.json()]).toMatchObject([
        503,
        { error: { type: "server_overloaded" } },
      ]);
      expect(Number(openAi.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
      expect((await fetch(`${server.url}/health`)).status).toBe(503);
      gone.abort();
      await Promise.all(held);
      await until("nobody waits", async () => (await explain(server)).waiting.length === 0);
      expect((await fetch(`${server.url}/health`)).status).toBe(200);
    });
  });

  it("clients that disconnect at random free their slots and queue places", async () => {
    await withServer({ LOCALLM_NUM_PARALLEL: "3" }, async (server) => {
      const { left, served } = await vanishing(server, model, 60, seeded(5));
      expect(left + served).toBe(60);
      expect(Math.min(left, served)).toBeGreaterThan(5);
      await until("all slots are free", async () => {
        const view = await explain(server);
        return view.waiting.length === 0 && view.loaded.every(({ active }) => active === 0);
      });
      expect((await explain(server)).decisions.filter(({ what }) => what === "load")).toHaveLength(1);
      // The server counts each client that it saw as served or as gone. Some clients left earlier.
      const route = (status: string) => `route="/api/generate",status="${status}"`;
      await until("who was served is counted", async () => {
        return (await metricsOf(server))("requests_total", route("200")) >= served;
      });
      const counted = await metricsOf(server);
      const gone = counted("requests_total", route("499"));
      expect(gone).toBeGreaterThan(0);
      expect(counted("requests_total", route("200")) + gone).toBeLessThanOrEqual(60);
      expect(counted("slots_active", `model="${model}"`)).toBe(0);
    });
  });

  it("if a runner is killed, each of its 8 streams ends with one clear error, and the next request reloads the model", async () => {
    await withServer({ LOCALLM_NUM_PARALLEL: "8" }, async (server) => {
      const options = { num_predict: 100_000, temperature: 0, num_ctx: 2048 };
      const streams = await Promise.all(
        Array.from({ length: 8 }, (_, index) =>
          server.post("/api/generate", { model, prompt: `${index} 1 2 3`, options, shift: true }),
        ),
      );
      const readers = streams.map((response) => lines(response));
      await Promise.all(readers.map((reader) => reader.next()));
      const { loaded } = await explain(server);
      process.kill(loaded[0]!.pid, "SIGKILL");
      for (const reader of readers) {
        let last: Record<string, unknown> = {};
        for await (const line of reader) last = line;
        expect(last).toEqual({
          error: expect.stringMatching(/^the model process exited during the request/),
        });
      }
      expect(
        await server.ask("/api/generate", { model, prompt: "x", stream: false, options: short }),
      ).toMatchObject({
        done: true,
      });
      const { decisions } = await explain(server);
      expect(decisions.map(({ what }) => what)).toEqual(["load", "ready", "died", "load", "ready"]);
      const errors = () => server.log.filter((line) => line["level"] === "error").length;
      await until("each has its line in the log", () => errors() >= 8);
      expect(errors()).toBe(8);
    });
  });

  it("SIGTERM lets running answers finish, rejects new requests and leaves no process behind", async () => {
    const server = await startServer({ models: store.folder });
    const options = { num_predict: 300, temperature: 0, num_ctx: 1024 };
    const running = lines(await server.post("/api/generate", { model, prompt: "1 2 3", options }));
    await running.next();
    const [{ pid } = { pid: 0 }] = (await explain(server)).loaded;
    server.signal("SIGTERM");
    await until("it refuses", async () => {
      const refused = await server.post("/api/generate", { model, prompt: "x" });
      if (refused.status !== 503) return false;
      expect(await refused.json()).toEqual({
        error: "the server is shutting down; send the request again when it is back",
      });
      expect(refused.headers.get("retry-after")).not.toBeNull();
      return true;
    });
    let last: Record<string, unknown> = {};
    for await (const line of running) last = line;
    expect(last).toMatchObject({ done: true, eval_count: 300 });
    expect((await server.exited).code).toBe(0);
    expect(() => process.kill(pid, 0)).toThrow("ESRCH");
  });

  it("LOCALLM_STOP_TIMEOUT says how long they may go on; their last line says why they end", async () => {
    const env = { LOCALLM_STOP_TIMEOUT: "0" };
    const server = await startServer({ models: store.folder, env });
    const options = { num_predict: -1, temperature: 0 };
    const running = lines(
      await server.post("/api/generate", { model, prompt: "1 2 3", options, shift: true }),
    );
    await running.next();
    server.signal("SIGTERM");
    let last: Record<string, unknown> = {};
    for await (const line of running) last = line;
    expect(last).toEqual({ error: expect.stringContaining("shutting down") });
    expect((await server.exited).code).toBe(0);
  });

  it("a second signal stops the server immediately", async () => {
    const server = await startServer({ models: store.folder });
    const options = { num_predict: -1, temperature: 0 };
    const running = lines(
      await server.post("/api/generate", { model, prompt: "1 2 3", options, shift: true }),
    );
    await running.next();
    server.signal("SIGTERM");
    await until("it drains", () => server.stdout().includes("SIGTERM: stopping"));
    server.signal("SIGTERM");
    expect((await server.exited).code).toBe(130);
    await expect(
      (async () => {
        while (!(await running.next()).done);
      })(),
    ).rejects.toThrow();
  });

  it("only the runners load the engine, and kill -9 of the server also ends them", async () => {
    const server = await startServer({ models: store.folder });
    await server.ask("/api/generate", { model });
    const [{ pid } = { pid: 0 }] = (await explain(server)).loaded;
    if (process.platform === "linux") {
      const files = (process: number) => readFileSync(`/proc/${process}/maps`, "utf8");
      expect([files(pid).includes("koffi"), files(server.pid).includes("koffi")]).toEqual([true, false]);
    }
    server.signal("SIGKILL");
    await server.exited;
    await until("the runner is gone", () => {
      try {
        process.kill(pid, 0);
        return false;
      } catch {
        return true;
      }
    });
  });
});
