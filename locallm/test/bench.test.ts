import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createSmallStore, type ModelStore } from "./model-store.ts";
import { command, startServerHere, type TestServer } from "./server-process.ts";
import { smallEncoder } from "./small-llama.ts";
import { ggufBytes } from "./tiny-gguf.ts";

let store: ModelStore;
let server: TestServer;
beforeAll(async () => {
  store = await createSmallStore();
  const path = join(store.folder, "encoder.gguf");
  await writeFile(path, ggufBytes(smallEncoder(3)));
  await store.add("encoder:1", path);
  server = await startServerHere({ models: store.folder });
});
afterAll(async () => {
  await server.stop();
  await store.remove();
});

// Threads that wait for each other on a busy machine would take minutes.
const bench = (...args: string[]) =>
  command(["bench", "--threads", "1", ...args], { LOCALLM_MODELS: store.folder });

interface Completion {
  choices: { logprobs: { token_logprobs: number[] } }[];
}

interface Row {
  name: string;
  memory_bytes: number;
  prefill: number;
  decode: number;
  four_streams: number;
  perplexity: { value: number; error: number; tokens: number } | null;
}

it("measures models side by side, and the perplexity that the model's own probabilities give", async () => {
  const sentence = "Rain fell on the harbour, and a letter waited; nobody had read it. ";
  const path = join(store.folder, "text.txt");
  await writeFile(path, sentence.repeat(12));
  const asked = ["small:a", "small:b", "--json", "--text", path, "--windows", "1"];
  const { code, out, err } = await bench(...asked);
  expect([code, err]).toEqual([0, expect.stringContaining("small:b: predicting a text")]);
  const rows = JSON.parse(out) as Row[];
  expect(rows.map(({ name }) => name)).toEqual(["small:a", "small:b"]);
  for (const row of rows)
    for (const figure of [row.memory_bytes, row.prefill, row.decode, row.four_streams])
      expect(figure).toBeGreaterThan(0);

  const { tokens } = await server.ask<{ tokens: number[] }>("/api/tokenize", {
    ...{ model: "small:a", content: sentence.repeat(12) },
  });
  // The second half of the first 512 tokens, each forced after all before it.
  const costs: number[] = [];
  for (let index = 257; index < 512; index++) {
    const { choices } = await server.ask<Completion>("/v1/completions", {
      ...{ model: "small:a", prompt: tokens.slice(0, index), max_tokens: 1, logprobs: 0 },
      logit_bias: { [tokens[index]!]: 100 },
    });
    costs.push(-choices[0]!.logprobs.token_logprobs[0]!);
  }
  const expected = Math.exp(costs.reduce((sum, cost) => sum + cost, 0) / costs.length);
  const [{ perplexity }] = rows as [Row];
  expect(perplexity!.tokens).toBe(255);
  expect(Math.abs(perplexity!.value / expected - 1)).toBeLessThan(0.01);
});

it("prints a table, and refuses before it measures what it cannot measure", async () => {
  const { out } = await bench("small:b", "--windows", "0");
  expect(out).toMatch(/^NAME +TYPE +SIZE +MEMORY +PREFILL +DECODE +FOUR STREAMS +PROCESSOR\nsmall:b +F32 /);
  const refusals = [
    [["small:a", "encoder:1"], '"encoder:1" does not support generate'],
    [["small:a", "absent"], "model 'absent' not found"],
    [["small:a", "--text", "/nowhere"], "cannot use /nowhere: file not found"],
    [["small:a", "--windows", "-1"], "whole number"],
  ] as const;
  for (const [args, message] of refusals) {
    const { code, err } = await bench(...args);
    expect([code, err]).toEqual([1, expect.stringContaining(message)]);
    expect(err).not.toContain("reading prompts");
  }
  const path = join(store.folder, "short.txt");
  await writeFile(path, "too short");
  const { err } = await bench("small:a", "--text", path);
  expect(err).toContain("the text has 9 tokens; perplexity needs at least 512");
  expect(err).not.toContain("reading prompts");
});
