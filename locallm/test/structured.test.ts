import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hermesTemplate } from "./hermes-template.ts";
import { createModelStore, createSmallStore, type ModelStore } from "./model-store.ts";
import { askForSchema, hostileSchemas, seededSchemas } from "./schema-campaign.ts";
import { type ServerProcess, startServer } from "./server-process.ts";
import { starterModelPath } from "./starter-model.ts";

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
    const ask = (schema: unknown) =>
      server.post("/api/generate", { model: "small:a", prompt: "x", format: schema });
    // The first hundred grow the heap to its working size; from there on nothing may stay behind.
    for (const schema of hostileSchemas(100)) await ask(schema);
    const before = residentMib(server.pid);
    for (const schema of hostileSchemas(100)) {
      const response = await ask(schema);
      expect([response.status, await response.json()]).toEqual([
        400,
        { error: expect.stringMatching(/^invalid (format|JSON): .{10}/) },
      ]);
    }
    expect(residentMib(server.pid) - before).toBeLessThan(128);
  });
});

describe.skipIf(starter === null)("structured output of the starter model (needs the starter model)", () => {
  let store: ModelStore;
  let server: ServerProcess;
  beforeAll(async () => {
    store = await createModelStore();
    await store.add("smollm2:135m", starter!);
    await store.derive("tools:1", { from: "smollm2:135m", template: hermesTemplate });
    server = await startServer({ models: store.folder });
  });
  afterAll(async () => {
    await server.stop();
    await store.remove();
  });

  it.each(seededSchemas(30, 2).map((schema, index) => ({ schema, index })))(
    "schema $index: the answer parses and validates",
    async ({ schema, index }) => {
      expect((await askForSchema(server, "smollm2:135m", schema, index + 1)).problem).toBeNull();
    },
  );

  const city = {
    type: "object",
    properties: { city: { enum: ["Rome", "Paris", "Oslo"] } },
    required: ["city"],
    additionalProperties: false,
  };
  const tools = [
    {
      type: "function",
      function: { name: "get_weather", description: "Weather of a city", parameters: city },
    },
  ];
  interface Chat {
    message: { content: string; tool_calls?: { function: { name: string; arguments: { city?: string } } }[] };
    done_reason: string;
  }
  const chat = (seed: number, body: Record<string, unknown> = {}) => ({
    model: "tools:1",
    stream: false,
    messages: [{ role: "user", content: "What is the weather in Rome? Call get_weather." }],
    tools,
    options: { seed, temperature: 0.5, num_predict: 120 },
    ...body,
  });

  it.each([1, 2])("a tool choice of required or a name is kept (seed %i)", async (seed) => {
    for (const choice of ["required", { type: "function", function: { name: "get_weather" } }]) {
      const { messages } = chat(seed);
      const body = {
        model: "tools:1",
        messages,
        tools,
        tool_choice: choice,
        seed,
        parallel_tool_calls: false,
        max_tokens: 60,
      };
      const answer = await server.ask<{ choices: { finish_reason: string; message: Chat["message"] }[] }>(
        "/v1/chat/completions",
        body,
      );
      const [{ finish_reason: reason, message }] = answer.choices as [(typeof answer.choices)[0]];
      expect(reason).toBe("tool_calls");
      for (const call of message.tool_calls ?? []) {
        expect(call.function.name).toBe("get_weather");
        expect(city.properties.city.enum).toContain(
          (JSON.parse(String(call.function.arguments)) as { city: string }).city,
        );
      }
    }
  });

  it("every call that a model begins by itself is whole and valid", async () => {
    // A model this small does what it sees: earlier turns show it how to call.
    const shown = ["Paris", "Oslo", "Paris"].flatMap((name) => [
      { role: "user", content: `Weather in ${name}?` },
      {
        role: "assistant",
        content: "",
        tool_calls: [{ function: { name: "get_weather", arguments: { city: name } } }],
      },
    ]);
    let calls = 0;
    for (const seed of [1, 2, 3]) {
      const messages = [...shown, { role: "user", content: "Weather in Rome?" }];
      const answer = await server.ask<Chat>("/api/chat", chat(seed, { messages }));
      for (const call of answer.message.tool_calls ?? []) {
        calls += 1;
        expect(call.function.name).toBe("get_weather");
        expect(city.properties.city.enum).toContain(call.function.arguments.city);
      }
      expect(answer.message.content).not.toContain("<tool_call>");
    }
    expect(calls).toBeGreaterThan(0);
  });
});

function residentMib(pid: number): number {
  const [, kib = "0"] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kib) / 1024;
}
