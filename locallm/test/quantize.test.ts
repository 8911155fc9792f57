import { createHash } from "node:crypto";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fastTypes } from "../src/gpu/fast-types.ts";
import { thisMachine } from "../src/gpu/hardware.ts";
import { createModel } from "../src/library/create.ts";
import { readGguf } from "../src/library/gguf/header.ts";
import { Store } from "../src/library/store.ts";
import type { CreateRequest, ProgressLine } from "../src/wire/api/library.ts";
import { requireModelName } from "../src/wire/model-name.ts";
import { createContext, embeddingModelPath } from "./model-store.ts";
import { command, lines, startServer, startServerHere, type TestServer, until } from "./server-process.ts";
import { smallLlama } from "./small-llama.ts";
import { splitGguf } from "./split-gguf.ts";
import { loadableModel } from "./tiny-gguf.ts";

let models = "";
let server: TestServer;
const weights = smallLlama(20_261);

beforeAll(async () => {
  models = await mkdtemp(join(tmpdir(), "locallm-quantize-"));
  server = await startServerHere({ models });
  await create({ model: "plain", files: { "w.gguf": await upload(weights) } });
});
afterAll(async () => {
  await server.stop();
  await rm(models, { recursive: true, force: true });
});

async function upload(bytes: Buffer): Promise<string> {
  const digest = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
  await server.post(`/api/blobs/${digest}`, undefined, { body: new Uint8Array(bytes) });
  return digest;
}

type Line = ProgressLine & { error?: string };

async function create(body: object, from = server): Promise<Line[]> {
  const told = await (await from.post("/api/create", body)).text();
  return told
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Line);
}

interface Shown {
  details: { quantization_level: string; parameter_size: string };
  tensors: { name: string; type: string; shape: number[] }[];
}
const show = (model: string) => server.ask<Shown>("/api/show", { model });
const unfinished = async (folder = models) =>
  (await readdir(join(folder, "partial"))).filter((name) => name.endsWith(".quantize"));

/** The blocks of Q8_0, by its definition: a scale in half precision, then 32 rounded numbers. */
function eightBits(floats: Float32Array): Buffer {
  const blocks = Buffer.alloc((floats.length / 32) * 34);
  for (let block = 0; block < floats.length / 32; block++) {
    const values = floats.subarray(block * 32, block * 32 + 32);
    const scale = Math.fround(Math.max(...values.map(Math.abs)) / 127);
    const half = new DataView(new ArrayBuffer(2));
    half.setFloat16(0, scale, true);
    blocks.writeUInt16LE(half.getUint16(0, true), block * 34);
    const inverse = scale === 0 ? 0 : Math.fround(1 / scale);
    for (const [index, value] of values.entries())
      blocks.writeInt8(Math.round(Math.fround(value * inverse)), block * 34 + 2 + index);
  }
  return blocks;
}

describe("quantize", () => {
  test("writes every matrix in the type, leaves vectors, and answers like the original", async () => {
    const told = await create({ model: "eight", from: "plain", quantize: "q8_0" });
    expect(told.at(-1)).toEqual({ status: "success" });
    const steps = told.filter(({ status }) => status === "quantizing F32 model to Q8_0");
    expect(steps.length).toBeGreaterThan(0);
    expect(told.some(({ status }) => status?.startsWith("creating new layer"))).toBe(true);
    expect(steps.at(-1)?.completed).toBe(steps.at(-1)?.total);
    const { details, tensors } = await show("eight");
    expect(details.quantization_level).toBe("Q8_0");
    for (const { shape, type } of tensors) expect(type).toBe(shape.length > 1 ? "Q8_0" : "F32");
    const ask = (model: string) =>
      server.ask<{ response: string }>("/api/generate", {
        model,
        prompt: "7 wolves",
        stream: false,
        options: { num_predict: 1, temperature: 0 },
      });
    expect(await ask("eight")).toMatchObject({ response: (await ask("plain")).response });
    expect(await unfinished()).toEqual([]);
  });

  test("rounds as the type is defined", async () => {
    const { layers } = JSON.parse(
      await readFile(join(models, "manifests/registry.ollama.ai/library/eight/latest"), "utf8"),
    ) as { layers: { digest: string; mediaType: string }[] };
    const digest = layers.find(({ mediaType }) => mediaType.endsWith(".model"))?.digest ?? "";
    const path = join(models, "blobs", digest.replace(":", "-"));
    const bytes = await readFile(path);
    expect(`sha256:${createHash("sha256").update(bytes).digest("hex")}`).toBe(digest);
    const name = "blk.1.ffn_down.weight";
    const result = (await readGguf(path)).tensors.find((tensor) => tensor.name === name);
    const source = join(models, "blobs", `sha256-${createHash("sha256").update(weights).digest("hex")}`);
    const original = (await readGguf(source)).tensors.find((tensor) => tensor.name === name);
    if (result === undefined || original === undefined) throw new Error("the tensor is missing");
    const from = weights.subarray(original.offsetBytes, original.offsetBytes + original.sizeBytes);
    const floats = new Float32Array(new Uint8Array(from).buffer);
    const written = bytes.subarray(result.offsetBytes, result.offsetBytes + result.sizeBytes);
    expect(written.equals(eightBits(floats))).toBe(true);
  });

  test.each([
    ["Q4_0", "Q4_0", "Q4_0"],
    ["Iq4_nL", "IQ4_NL", "IQ4_NL"],
    ["bf16", "BF16", "BF16"],
    ["q4_K_m", "Q4_K_M", "Q5_0"],
    ["q5_k", "Q5_K_M", "Q5_1"],
    ["q6_k", "Q6_K", "Q8_0"],
  ])("takes %s", async (asked, level, ofValues) => {
    const told = await create({ model: "typed", from: "plain", quantize: asked });
    expect(told.at(-1)).toEqual({ status: "success" });
    const { details, tensors } = await show("typed");
    expect(details.quantization_level).toBe(level);
    expect(tensors.find(({ name }) => name === "blk.0.attn_q.weight")?.type).toBe(ofValues);
    const fallback = told
      .map(({ status }) => status ?? "")
      .filter((status) => /^rows of \d+ do not fit .*attn_q/.test(status));
    // The file's type is then that of its matrices, or they fell back to another.
    if (level === ofValues) expect(fallback).toEqual([]);
    else
      expect(fallback.join()).toMatch(
        new RegExp(`^rows of 64 do not fit Q\\d_K, so these tensors become ${ofValues}: `),
      );
  });

  test("refuses a type that does not exist, and lists those that do", async () => {
    const [line] = await create({ model: "no", from: "plain", quantize: "q4_k_xl" });
    expect(line?.error).toMatch(/^quantize must be one of .*q4_k_m.*iq4_nl.*mxfp4/);
  });

  test("rounds quantised weights a second time only where that is asked", async () => {
    const body = { model: "twice", from: "eight", quantize: "q4_0" };
    const [refused] = await create(body);
    expect(refused?.error).toMatch(/these are Q8_0.*--requantize/);
    const told = await create({ ...body, requantize: true });
    expect(told.map(({ status }) => status).join("\n")).toMatch(/rounded a second time[\s\S]*success$/);
    expect((await show("twice")).details.quantization_level).toBe("Q4_0");
    const [alone] = await create({ model: "twice", from: "eight", requantize: true });
    expect(alone?.error).toMatch(/^requantize needs quantize/);
  });

  test("makes one file of split weights", async () => {
    const parts = splitGguf(loadableModel(), 3);
    const files: Record<string, string> = {};
    for (const [index, part] of parts.entries()) files[`p${index}.gguf`] = await upload(part);
    const told = await create({ model: "joined", files, quantize: "q8_0" });
    expect(told.at(-1)).toEqual({ status: "success" });
    const { tensors } = await show("joined");
    expect(tensors.length).toBe(loadableModel().tensors.length);
    expect(tensors.some(({ type }) => type === "Q8_0")).toBe(true);
  });

  test("keeps weights that have the type already", async () => {
    const told = await create({ model: "same", from: "eight", quantize: "Q8_0" });
    expect(told.some(({ status }) => status?.startsWith("quantizing"))).toBe(false);
    expect(told.at(-1)).toEqual({ status: "success" });
  });

  test.skipIf(fastTypes(thisMachine) === null)(
    "doctor names a model whose type is slow on this processor, and no other",
    async () => {
      expect((await create({ model: "slow", from: "plain", quantize: "q5_1" })).at(-1)?.status).toBe(
        "success",
      );
      const { out } = await command(["doctor", "--quick"], {
        LOCALLM_MODELS: models,
        LOCALLM_HOST: "127.0.0.1:21498",
      });
      const told = out.split("\n").filter((line) => line.includes("no fast kernel"));
      expect(told.join("\n")).toMatch(/slow:latest is mostly Q5_1.*it has for .*q4_0, q8_0.*q4_k_m/);
      expect(told.some((line) => /plain|eight|typed/.test(line))).toBe(false);
    },
  );

  test("refuses a remote model", async () => {
    const context = createContext(new Store(models));
    const request = { from: "http://127.0.0.1:9/v1#m", quantize: "q8_0" } as CreateRequest;
    await expect(createModel(requireModelName("far"), request, context)).rejects.toThrow(
      /quantize cannot be set for a remote model/,
    );
  });

  test("is refused where memory is too small, before anything is written", async () => {
    const context = createContext(new Store(models));
    const few = { ...context, quantizing: { ...context.quantizing, availableBytes: () => 3_000_000 } };
    const request = { from: "plain", quantize: "q4_1" } as CreateRequest;
    await expect(createModel(requireModelName("small"), request, few)).rejects.toMatchObject({
      code: "model_too_large",
    });
    expect(await unfinished()).toEqual([]);
  });
});

describe.skipIf(embeddingModelPath === null)("a larger model (needs TEST_MODELS)", () => {
  let folder = "";
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "locallm-quantize-killed-"));
    const context = createContext(new Store(folder));
    const digest = await context.store.blobs
      .writeBytes(await readFile(embeddingModelPath ?? ""))
      .then((written) => written.digest);
    await createModel(
      requireModelName("mini"),
      { files: { a: digest } } as unknown as CreateRequest,
      context,
    );
  });
  afterAll(async () => await rm(folder, { recursive: true, force: true }));

  /** Everything in the store that no model names. */
  async function left(): Promise<string[]> {
    const store = new Store(folder);
    const used = await store.usedDigests();
    const blobs = (await store.blobs.list()).filter((digest) => !used.has(digest));
    return [...blobs, ...(await readdir(join(folder, "partial")))];
  }

  test("refuses a type that needs an importance matrix", async () => {
    const context = createContext(new Store(folder));
    const request = { from: "mini", quantize: "iq2_xxs" } as CreateRequest;
    await expect(createModel(requireModelName("no"), request, context)).rejects.toThrow(
      /iq2_xxs needs an importance matrix/,
    );
    expect(await left()).toEqual([]);
  });

  test("leaves nothing when the server, the engine or the client ends at any moment", async () => {
    for (const ends of ["server", "server", "client", "engine"] as const) {
      const running = await startServer({ models: folder });
      const leave = new AbortController();
      const body = JSON.stringify({ model: "cut", from: "mini", quantize: "q5_k_s" });
      const answer = await fetch(`${running.url}/api/create`, { method: "POST", body, signal: leave.signal });
      const steps = 1 + Math.floor(Math.random() * 60);
      let error: string | undefined;
      try {
        let seen = 0;
        for await (const line of lines(answer)) {
          error = line["error"] as string | undefined;
          if (++seen !== Math.min(3, steps)) continue;
          await new Promise((resolve) => setTimeout(resolve, steps * 5));
          if (ends === "server") running.signal("SIGKILL");
          else if (ends === "client") leave.abort();
          else {
            const children = await readFile(`/proc/${running.pid}/task/${running.pid}/children`, "utf8");
            for (const pid of children.trim().split(" ").map(Number))
              if (pid > 0) process.kill(pid, "SIGKILL");
          }
        }
      } catch {
        // The connection broke off.
      }
      if (ends === "engine" && error !== undefined) expect(error).toMatch(/its process ended \(SIGKILL\)/);
      if (ends === "server") {
        await running.exited;
        await (await startServer({ models: folder })).stop();
      } else {
        await until("the work stopped", async () => (await left()).length === 0);
        await running.stop();
      }
      expect(await left()).toEqual([]);
    }
  });
});
