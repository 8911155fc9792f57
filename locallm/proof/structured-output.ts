import { createModelStore, createSmallStore } from "../test/model-store.ts";
import { askForSchema, seededSchemas } from "../test/schema-campaign.ts";
import { type ServerProcess, startServer } from "../test/server-process.ts";
import { starterModelPath } from "../test/starter-model.ts";

export const title = "Structured output: every answer parses and validates";

const count = 1_000;

/** Seeded JSON schemas of all supported words, answers checked by ajv. */
export async function run(print: (line: string) => void): Promise<void> {
  print("| model | schemas | valid | tokens |");
  print("|---|---|---|---|");
  const small = await createSmallStore();
  await campaign("small:a", "random weights", small.folder, print);
  await small.remove();
  const path = await starterModelPath();
  if (path === null) {
    print("| starter model | not there | | |");
    return;
  }
  const store = await createModelStore();
  await store.add("smollm2:135m", path);
  await campaign("smollm2:135m", "starter model", store.folder, print);
  await store.remove();
}

async function campaign(
  model: string,
  shown: string,
  models: string,
  print: (line: string) => void,
): Promise<void> {
  const server: ServerProcess = await startServer({ models });
  try {
    let tokens = 0;
    const problems: string[] = [];
    for (const [seed, schema] of seededSchemas(count, 3).entries()) {
      const kept = await askForSchema(server, model, schema, seed + 1);
      tokens += kept.tokens;
      if (kept.problem !== null) problems.push(kept.problem);
    }
    print(`| ${shown} | ${count} | ${count - problems.length} | ${tokens} |`);
    for (const problem of problems.slice(0, 10)) print(`\n${problem}\n`);
    if (problems.length > 0) throw new Error(`${problems.length} of ${count} answers were not valid`);
  } finally {
    await server.stop();
  }
}
