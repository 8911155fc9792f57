import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createSmallStore, type ModelStore } from "./model-store.ts";
import { startServerHere, type TestServer } from "./server-process.ts";
import { smallAdapter } from "./small-llama.ts";

let store: ModelStore;
let server: TestServer;
beforeAll(async () => {
  store = await createSmallStore();
  const adapters: Record<string, string> = {};
  for (const seed of [1, 2]) {
    const path = join(store.folder, `lora-${seed}.gguf`);
    await writeFile(path, smallAdapter(seed));
    adapters[`${seed}.gguf`] = await store.put(path);
  }
  const parameters = { num_thread: 1 };
  await store.derive("tuned", { from: "small:a", adapters, parameters });
  const first = adapters["1.gguf"]!;
  await store.derive("first", { from: "small:a", adapters: { "a.gguf": first }, parameters });
  server = await startServerHere({ models: store.folder, env: { LOCALLM_NUM_PARALLEL: "2" } });
});
afterAll(async () => {
  await server.stop();
  await store.remove();
});

type Lora = { id: number; scale: number }[] | undefined;

async function answer(model: string, prompt: string, lora: Lora, more = {}): Promise<string> {
  const options = { temperature: 0, num_predict: 12, ...more, ...(lora === undefined ? {} : { lora }) };
  const body = { model, prompt, stream: false, options };
  return (await server.ask<{ response: string }>("/api/generate", body)).response;
}

const story =
  "A letter waited in the harbour while rain fell on every roof of the town, and nobody came. ".repeat(3);
const choices: Lora[] = [
  undefined,
  [],
  [{ id: 0, scale: 1 }],
  [{ id: 1, scale: 0.5 }],
  [
    { id: 1, scale: 2 },
    { id: 0, scale: -1 },
  ],
];

it("applies the adapters that a request names, and only those", async () => {
  const said = new Map<string, string>();
  for (const lora of choices) said.set(JSON.stringify(lora) ?? "own", await answer("tuned", story, lora));
  expect(new Set(said.values()).size).toBe(choices.length);
  expect(said.get("[]")).toBe(await answer("small:a", story, undefined));
  expect(said.get(JSON.stringify(choices[2]))).toBe(await answer("first", story, undefined));
  const both = [0, 1].map((id) => ({ id, scale: 1 }));
  expect(said.get("own")).toBe(await answer("tuned", story, both));
  const { choices: completed } = await server.ask<{ choices: { text: string }[] }>("/v1/completions", {
    ...{ model: "tuned", prompt: story, temperature: 0, max_tokens: 12, lora: choices[3] },
  });
  expect(completed[0]!.text).toBe(said.get(JSON.stringify(choices[3])));
});

it("refuses adapters that the model lacks, before it is loaded", async () => {
  for (const [model, lora, message] of [
    ["tuned", [{ id: 2, scale: 1 }], "lora names adapter 2, but the model has 2 adapters, numbered from 0"],
    ["small:a", [{ id: 0, scale: 1 }], "the model has 0 adapters"],
    ["tuned", [{ id: 0.5, scale: 1 }], 'option "lora" must be of type array of at most 64 objects'],
    ["tuned", { id: 0, scale: 1 }, 'option "lora" must be'],
  ] as const) {
    const refused = await server.post("/api/generate", { model, prompt: "x", options: { lora } });
    expect([refused.status, ((await refused.json()) as { error: string }).error]).toEqual([
      400,
      expect.stringContaining(message),
    ]);
  }
});

it("never reuses what other adapters computed, in any order of requests", async () => {
  const prompts = [40, 90, 180, 270].map((length) => story.slice(0, length));
  const expected = new Map<string, string>();
  for (const [which, lora] of choices.entries())
    for (const prompt of prompts)
      expected.set(`${which} ${prompt}`, await answer("tuned", prompt, lora, { deterministic: true }));
  const request = fc.tuple(fc.nat(choices.length - 1), fc.constantFrom(...prompts));
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(request, request), { minLength: 2, maxLength: 5 }), async (pairs) => {
      // Two at once, in both slots.
      for (const pair of pairs)
        await Promise.all(
          pair.map(async ([which, prompt]) => {
            const said = await answer("tuned", prompt, choices[which]);
            expect(said, `${which} ${prompt.length}`).toBe(expected.get(`${which} ${prompt}`));
          }),
        );
    }),
    { numRuns: 12 },
  );
});
