import { spawn } from "node:child_process";
import { describe, expect, it } from "vitest";
import { onlyProcessor } from "../wire/inference/load.ts";
import { RunnerProcess } from "./process.ts";

const load = {
  modelPath: "model.gguf",
  adapters: [],
  numCtx: 256,
  slots: 1,
  numBatch: null,
  numThread: 1,
  placement: onlyProcessor,
  useMmap: null,
  flashAttention: "auto",
  kvCacheType: "f16",
} as const;

/** A real process that runs `script` in place of a runner. It has time to answer, unless `questions` are few. */
const runnerOf = (script: string, questions = 10_000) =>
  new RunnerProcess(spawn(process.execPath, ["-e", script], { stdio: ["ignore", "ignore", "pipe", "ipc"] }), {
    heartbeat: { everyMs: 20, questions },
  });

describe("a runner process that ends by itself", () => {
  it("fails its calls with the engine's last log lines, without paths", async () => {
    const runner = runnerOf(`
      console.error("llama_context: n_ctx = 256");
      console.error("/home/me/src/ggml.c:12: GGML_ASSERT(rows > 0) failed");
      console.error("done");
      process.exit(134);
    `);
    await expect(runner.load(load)).rejects.toMatchObject({
      code: "runner_died",
      details: { reason: "exit code 134: ggml.c:12: GGML_ASSERT(rows > 0) failed" },
    });
    expect((await runner.exited).log).toHaveLength(3);
  });

  it("fails its calls with the likely cause if the system killed it, not with an older log line", async () => {
    const runner = runnerOf(
      "console.error('graph_compute: failed with error 1'); process.kill(process.pid, 'SIGKILL')",
    );
    const reason = "SIGKILL: the system may have run out of memory";
    await expect(runner.load(load)).rejects.toMatchObject({ code: "runner_died", details: { reason } });
  });

  it("drops the engine's routine lines after the load, so that they do not replace an error", async () => {
    const runner = runnerOf(`
      process.on("message", ({ kind }) => {
        if (kind === "load") {
          console.error("llama_context: n_ctx = 256");
          process.send([{ kind: "ready", info: { slots: 1 }, fullBytes: null }]);
        } else if (kind === "detokenize") {
          console.error("decode: error: no memory slot");
          console.error("state_read_meta: cell_count = 7, dest_seq_id = 0\\n".repeat(99));
          console.error("graph_compute: ggml_backend_sched_graph_compute_async failed with error 1");
          console.error("process_ubatch: failed to compute graph, compute status: 1");
          console.error("llama_decode: failed to decode, ret = 2");
          console.error("ggml.c:12: no such line");
          console.error("state_read_meta: failed to find available cells");
          process.exit(134);
        }
      });
    `);
    await runner.load(load);
    await expect(runner.detokenize([1])).rejects.toMatchObject({
      details: { reason: "exit code 134: decode: error: no memory slot" },
    });
    expect((await runner.exited).log.filter((line) => line !== "")).toEqual([
      "llama_context: n_ctx = 256",
      "decode: error: no memory slot",
      "ggml.c:12: no such line",
      "state_read_meta: failed to find available cells",
    ]);
  });

  it("names the signal if the engine logged nothing", async () => {
    const runner = runnerOf("process.kill(process.pid, 'SIGSEGV'); setInterval(() => {}, 1e6)");
    await expect(runner.load(load)).rejects.toMatchObject({ details: { reason: "SIGSEGV" } });
    expect(await runner.exited).toMatchObject({ signal: "SIGSEGV", asked: false, stalled: false });
  });
});

describe("a runner process that hangs", () => {
  const loaded = (onAsk: string) => `
    let turns = 0;
    process.on("message", ({ kind }) => {
      if (kind === "load") process.send([{ kind: "ready", info: { slots: 1 }, fullBytes: null }]);
      if (kind === "ask") { ${onAsk} }
    });
  `;

  it.each([
    ["answers nothing", ""],
    ["has one loop that makes no progress", "process.send([{ kind: 'progress', loops: [++turns, 7] }]);"],
  ])("is ended when it %s, and its calls fail by name", async (_, onAsk) => {
    const runner = runnerOf(loaded(onAsk), 10);
    await runner.load(load);
    const call = runner.detokenize([1]);
    await expect(call).rejects.toMatchObject({ code: "runner_stalled", details: { seconds: 0.2 } });
    expect(await runner.exited).toMatchObject({ signal: "SIGKILL", asked: false, stalled: true });
    await expect(runner.detokenize([1])).rejects.toMatchObject({ code: "runner_stalled" });
  });

  it("is left alone while every loop makes progress", async () => {
    const runner = runnerOf(
      loaded(`
        process.send([{ kind: "progress", loops: [++turns, turns] }]);
        if (turns === 30) process.send([{ kind: "text", id: 1, text: "here" }]);
      `),
    );
    await runner.load(load);
    expect(await runner.detokenize([1])).toBe("here");
    await runner.kill();
  });
});

describe("memory that a runner spares", () => {
  it("may go to other models until the runner asks for it, and is what the server grants then", async () => {
    const grown: number[] = [];
    const script = `
      process.on("message", ({ kind, id, bytes, tokens }) => {
        if (kind === "load")
          process.send([{ kind: "ready", info: { slots: 4 }, fullBytes: 2 ** 40 }, { kind: "spare", bytes: 2 ** 39 }]);
        if (kind === "detokenize") process.send([{ kind: "grow", id, bytes: tokens[0] * 2 ** 30 }]);
        if (kind === "grown") process.send([{ kind: "text", id, text: String(bytes) }]);
      });
    `;
    const child = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "ignore", "pipe", "ipc"] });
    const runner = new RunnerProcess(child, {
      onGrow(bytes) {
        grown.push(bytes);
        return bytes / 2;
      },
    });
    await runner.load(load);
    await expect.poll(() => runner.spareBytes).toBe(2 ** 39);
    expect(await runner.detokenize([128])).toBe(String(2 ** 36));
    expect(runner.spareBytes).toBe(2 ** 39 - 2 ** 36);
    // More than what is left.
    expect(await runner.detokenize([1_000])).toBe(String((2 ** 39 - 2 ** 36) / 2));
    expect(grown).toEqual([2 ** 37, 2 ** 39 - 2 ** 36]);
    const spare = (2 ** 39 - 2 ** 36) / 2;
    expect(runner.spareBytes).toBe(spare);
    if (process.platform === "linux") {
      expect(runner.unusedBytes).toBeGreaterThan(2 ** 40 - spare - 2 ** 30);
      expect(runner.unusedBytes).toBeLessThan(2 ** 40 - spare);
    }
    await runner.kill();
  });
});
