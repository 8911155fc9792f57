import { hermesTemplate } from "../locallm/test/hermes-template.ts";
import { createModelStore } from "../locallm/test/model-store.ts";
import { startServer } from "../locallm/test/server-process.ts";
import { starterModelPath } from "../locallm/test/starter-model.ts";

const rounds = 9;
const tokens = 96;

/**
 * Decoding speed of one stream of the starter model: without constraints, with tools offered, and with a
 * schema.
 */
export async function run(print: (line: string) => void): Promise<void> {
  const path = await starterModelPath();
  if (path === null) throw new Error("the starter model is missing");
  const store = await createModelStore();
  await store.add("smollm2:135m", path);
  await store.derive("tools:1", { from: "smollm2:135m", template: hermesTemplate });
  const server = await startServer({ models: store.folder });
  const speeds = new Map<string, number[]>(Object.keys(kinds).map((kind) => [kind, []]));
  try {
    for (let round = -1; round < rounds; round += 1) {
      for (const [kind, fields] of Object.entries(kinds)) {
        const answer = await server.ask<{ eval_count: number; eval_duration: number }>("/api/chat", {
          model: "tools:1",
          messages: [
            { role: "user", content: "Tell a long story about a ship that sails around the world." },
          ],
          stream: false,
          options: { num_predict: tokens, temperature: 0.8, seed: 100 + round, num_ctx: 4096 },
          ...fields,
        });
        // The first round loads the model and warms up the caches, so it is not counted.
        if (round >= 0) speeds.get(kind)!.push(answer.eval_count / (answer.eval_duration / 1e9));
      }
    }
  } finally {
    await server.stop();
    await store.remove();
  }
  print(`| answer | tokens/s, median of ${rounds} |`);
  print("|---|---|");
  for (const [kind, all] of speeds)
    print(`| ${kind} | ${all.sort((a, b) => a - b)[rounds >> 1]!.toFixed(1)} |`);
}

const tool = (index: number) => ({
  type: "function",
  function: {
    name: `tool_${index}`,
    description: "Looks something up",
    parameters: {
      type: "object",
      properties: {
        query: { type: "string", description: "What to look for" },
        kind: { enum: ["news", "images", `other_${index}`] },
        count: { type: "integer", minimum: 1, maximum: 50 },
      },
      required: ["query"],
    },
  },
});

const kinds = {
  free: {},
  "20 tools offered": { tools: Array.from({ length: 20 }, (_, index) => tool(index)) },
  "a schema": {
    format: {
      type: "object",
      properties: {
        story: { type: "array", items: { type: "string", minLength: 20 }, minItems: 4 },
      },
      required: ["story"],
    },
  },
};
