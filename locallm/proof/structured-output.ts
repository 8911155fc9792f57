import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createModelStore, createSmallStore } from "../test/model-store.ts";
import { askForSchema, type Kept, seededSchemas } from "../test/schema-campaign.ts";
import { type ServerProcess, startServer } from "../test/server-process.ts";
import { starterModelPath } from "../test/starter-model.ts";

export const title = "Structured output: every answer parses and validates";

const count = 1_000;

/**
 * Requests answers for seeded JSON schemas with all supported keywords and checks the answers with ajv. A
 * stopped run can be continued.
 */
export async function run(print: (line: string) => void, folder: string): Promise<void> {
  print("| model | schemas | valid | tokens |");
  print("|---|---|---|---|");
  const path = await starterModelPath();
  if (path === null) print("| starter model | not there | | |");
  else {
    const store = await createModelStore();
    await store.add("smollm2:135m", path);
    await campaign("smollm2:135m", { shown: "starter model", models: store.folder, folder, print });
    await store.remove();
  }
  const small = await createSmallStore();
  await campaign("small:a", { shown: "random weights", models: small.folder, folder, print });
  await small.remove();
}

interface Campaign {
  readonly shown: string;
  readonly models: string;
  readonly folder: string;
  readonly print: (line: string) => void;
}

async function campaign(model: string, { shown, models, folder, print }: Campaign): Promise<void> {
  const log = join(folder, `${shown.replace(" ", "-")}.jsonl`);
  const results = readLog(log);
  const server: ServerProcess = await startServer({ hasSmallHeap: true, models });
  try {
    for (const [seed, schema] of seededSchemas(count, 3).entries()) {
      if (seed < results.length) continue;
      const kept = await askForSchema(server, model, schema, seed + 1);
      appendFileSync(log, `${JSON.stringify(kept)}\n`);
      results.push(kept);
    }
  } finally {
    await server.stop();
  }
  const problems = results.flatMap(({ problem }) => problem ?? []);
  const tokens = results.reduce((sum, kept) => sum + kept.tokens, 0);
  print(`| ${shown} | ${count} | ${count - problems.length} | ${tokens} |`);
  for (const problem of problems.slice(0, 10)) print(`\n${problem}\n`);
  if (problems.length > 0) throw new Error(`${problems.length} of ${count} answers were not valid`);
}

/** Removes the last line if a kill truncated it. */
function readLog(path: string): Kept[] {
  try {
    const text = readFileSync(path, "utf8");
    const whole = text.slice(0, text.lastIndexOf("\n") + 1);
    if (whole !== text) writeFileSync(path, whole);
    return whole
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Kept);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}
