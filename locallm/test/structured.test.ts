import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hermesTemplate } from "./hermes-template.ts";
import { createModelStore, createSmallStore, type ModelStore } from "./model-store.ts";
import { askCostly, askForSchema, costlySchemas, refuseHostile, seededSchemas } from "./schema-campaign.ts";
import { type ServerProcess, startServer, startServerHere, type TestServer } from "./server-process.ts";
import { starterModelPath } from "./starter-model.ts";
import { askForCall } from "./tool-campaign.ts";

const starter = await starterModelPath();

describe("structured output of a model with random weights", () => {
  let store: ModelStore;
  let server: ServerProcess;
  beforeAll(async () => {
    store = await createSmallStore();
    await store.derive("tools:1", { from: "small:a", template: hermesTemplate });
    const env = { LOCALLM_NUM_PARALLEL: "2" };
    server = await startServer({ models: store.folder, env, hasSmallHeap: true });
  });
  afterAll(async () => {
    await server.stop();
    await store.remove();
  });

  it("12 schemas: every answer parses, validates and ends on its own (more: npm run proof -- structured-output)", async () => {
    const problems: string[] = [];
    for (const [seed, schema] of seededSchemas(12, 1).entries()) {
      const { problem } = await askForSchema(server, "small:a", schema, seed + 1);
      if (problem !== null) problems.push(problem);
    }
    expect(problems).toEqual([]);
  });

  it("costly schemas are answered or rejected with a clear error while other requests are answered", async () => {
    let attacking = true;
    const others = (async () => {
      let answers = 0;
      while (attacking || answers === 0) {
        await server.ask("/api/generate", {
          model: "small:a",
          prompt: "y",
          stream: false,
          options: { num_predict: 4 },
        });
        answers += 1;
        // Without a pause these requests would take most of the processor time.
        await sleep(20);
      }
      return answers;
    })();
    const problems: string[] = [];
    for (const [index, schema] of costlySchemas(16).entries()) {
      const problem = await askCostly(server, "small:a", schema);
      if (problem !== null) problems.push(`${index}: ${problem}`);
    }
    attacking = false;
    expect(problems).toEqual([]);
    expect(await others).toBeGreaterThan(0);
  });

  it("names schema keywords that a grammar cannot enforce, and how the answer violates them", async () => {
    const response = await server.post("/api/generate", {
      model: "small:a",
      prompt: "x",
      stream: false,
      format: {
        type: "array",
        items: { type: "integer", minimum: 0, maximum: 9 },
        minItems: 12,
        maxItems: 12,
        uniqueItems: true,
      },
      options: { seed: 1, num_ctx: 2048 },
    });
    expect(response.headers.get("x-ignored-fields")).toBe("format.uniqueItems");
    // There are only ten digits, so twelve items must repeat some.
    expect(await response.json()).toMatchObject({ format_violations: ["/ must not repeat an item"] });
  });

  it("reports no violation if the answer satisfies keywords that its grammar cannot enforce", async () => {
    const response = await server.post("/api/generate", {
      model: "small:a",
      prompt: "x",
      stream: false,
      format: {
        type: "array",
        items: { type: "integer", minimum: 0, maximum: 9 },
        maxItems: 1,
        minItems: 1,
        contains: { minimum: 0 },
        maxContains: 9,
        uniqueItems: true,
        unknownWord: 1,
      },
      options: { seed: 1 },
    });
    expect(response.headers.get("x-ignored-fields")).toBe("format.unknownWord");
    expect(await response.json()).not.toHaveProperty("format_violations");
  });

  it("accepts tools with any schema", async () => {
    const parameters = [
      { type: "nope", properties: 5 },
      { type: "object", properties: { a: { type: "integer", minimum: 3, maximum: 1 } }, required: ["a"] },
      { type: "object", properties: { a: { $ref: "#/$defs/none" } } },
      {
        type: "object",
        properties: { a: { type: "string", pattern: "(?<=x)(a)\\1" }, b: { uniqueItems: true } },
      },
      { type: "string" },
      { type: "object", properties: { n: { $ref: "#" } } },
    ];
    for (const each of parameters) {
      const response = await server.post("/api/chat", {
        model: "tools:1",
        messages: [{ role: "user", content: "x" }],
        tools: [{ type: "function", function: { name: "f", parameters: each } }],
        stream: false,
        options: { num_predict: 2 },
      });
      expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('"done":true')]);
    }
  });

  it("9 kinds of hostile schemas are rejected with clear errors, and memory stays flat (more: npm run proof -- hostile-schemas)", async () => {
    const { accepted, grownMib } = await refuseHostile(server, "small:a", 9);
    expect(accepted).toEqual([]);
    // Most of the growth is garbage. The proof with a bounded heap shows that none of it remains.
    expect(grownMib).toBeLessThan(128);
  });
});

describe.skipIf(starter === null)("structured output of the starter model (needs the starter model)", () => {
  let store: ModelStore;
  let server: TestServer;
  beforeAll(async () => {
    store = await createModelStore();
    // One thread, because two threads that wait for each other are very slow on a busy machine.
    await store.add("smollm2:135m", starter!, { parameters: { num_thread: 1 } });
    await store.derive("tools:1", { from: "smollm2:135m", template: hermesTemplate });
    server = await startServerHere({ models: store.folder, env: { LOCALLM_NUM_PARALLEL: "4" } });
  });
  afterAll(async () => {
    await server.stop();
    await store.remove();
  });

  // Uses small schemas, because large ones take long. The tests above cover large ones with random weights.
  const small = seededSchemas(80, 2).filter((schema) => JSON.stringify(schema).length < 350);

  it.each(small.slice(0, 2).map((schema, index) => ({ schema, index })))(
    "schema $index: the answer parses and validates",
    // Both requests share each step.
    { concurrent: true, timeout: 240_000 },
    async ({ schema, index }) => {
      expect((await askForSchema(server, "smollm2:135m", schema, index + 1)).problem).toBeNull();
    },
  );

  it.each(["required", "named"] as const)("obeys the tool choice %s", async (kind) => {
    expect(await askForCall(server, "tools:1", kind, 1)).toEqual({ calls: 1, problem: null });
  });

  it("every tool call that a model starts on its own is complete and valid", async () => {
    let calls = 0;
    for (const seed of [1, 2]) {
      const answer = await askForCall(server, "tools:1", "auto", seed);
      expect(answer.problem).toBeNull();
      calls += answer.calls;
    }
    expect(calls).toBeGreaterThan(0);
  });
});
