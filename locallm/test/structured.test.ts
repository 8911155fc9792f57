import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hermesTemplate } from "./hermes-template.ts";
import { createModelStore, createSmallStore, type ModelStore } from "./model-store.ts";
import { askForSchema, refuseHostile, seededSchemas } from "./schema-campaign.ts";
import { type ServerProcess, startServer } from "./server-process.ts";
import { starterModelPath } from "./starter-model.ts";
import { askForCall } from "./tool-campaign.ts";

const starter = await starterModelPath();

describe("structured output of a model of random weights", () => {
  let store: ModelStore;
  let server: ServerProcess;
  beforeAll(async () => {
    store = await createSmallStore();
    server = await startServer({ models: store.folder });
  });
  afterAll(async () => {
    await server.stop();
    await store.remove();
  });

  it("100 schemas: every answer parses, validates and ends by itself", async () => {
    const problems: string[] = [];
    for (const [seed, schema] of seededSchemas(100, 1).entries()) {
      const { problem } = await askForSchema(server, "small:a", schema, seed + 1);
      if (problem !== null) problems.push(problem);
    }
    expect(problems).toEqual([]);
  });

  it("100 hostile schemas are refused by name, and memory stays flat", async () => {
    const { accepted, grownMib } = await refuseHostile(server, "small:a", 100);
    expect(accepted).toEqual([]);
    // Of it most is garbage; the proof shows with a bounded heap that none of it stays.
    expect(grownMib).toBeLessThan(128);
  });
});

describe.skipIf(starter === null)("structured output of the starter model (needs the starter model)", () => {
  let store: ModelStore;
  let server: ServerProcess;
  beforeAll(async () => {
    store = await createModelStore();
    // One thread: two that wait for each other crawl where another test wants a core.
    await store.add("smollm2:135m", starter!, { parameters: { num_thread: 1 } });
    await store.derive("tools:1", { from: "smollm2:135m", template: hermesTemplate });
    server = await startServer({ models: store.folder, env: { LOCALLM_NUM_PARALLEL: "4" } });
  });
  afterAll(async () => {
    await server.stop();
    await store.remove();
  });

  // Small ones, or two of them would take half of the time; the model of random weights has large ones above.
  const small = seededSchemas(80, 2).filter((schema) => JSON.stringify(schema).length < 350);

  it.each(small.slice(0, 30).map((schema, index) => ({ schema, index })))(
    "schema $index: the answer parses and validates",
    // Four at a time share each step.
    { concurrent: true, timeout: 240_000 },
    async ({ schema, index }) => {
      expect((await askForSchema(server, "smollm2:135m", schema, index + 1)).problem).toBeNull();
    },
  );

  it.each(["required", "named"] as const)("a tool choice of %s is kept", async (kind) => {
    expect(await askForCall(server, "tools:1", kind, 1)).toEqual({ calls: 1, problem: null });
  });

  it("every call that a model begins by itself is whole and valid", async () => {
    let calls = 0;
    for (const seed of [1, 2]) {
      const answer = await askForCall(server, "tools:1", "auto", seed);
      expect(answer.problem).toBeNull();
      calls += answer.calls;
    }
    expect(calls).toBeGreaterThan(0);
  });
});
