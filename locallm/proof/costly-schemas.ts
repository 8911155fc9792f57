import { createSmallStore } from "../test/model-store.ts";
import { askCostly, costlySchemas } from "../test/schema-campaign.ts";
import { type ServerProcess, startServer } from "../test/server-process.ts";

export const title = "Costly schemas: nobody else waits more than a second longer";

const count = Number(process.env["COSTLY_SCHEMAS"] ?? 2000);
const mostLongerMs = 1000;

/** Short requests of others on the same model, alone and while two clients send schemas that cost much. */
export async function run(print: (line: string) => void): Promise<void> {
  const store = await createSmallStore();
  const server = await startServer({ models: store.folder, env: { LOCALLM_NUM_PARALLEL: "4" } });
  try {
    await waits(server, async () => {});
    const alone = await waits(server, () => new Promise((resolve) => setTimeout(resolve, 5000)));
    const problems: string[] = [];
    const schemas = costlySchemas(count).entries();
    const attack = async () => {
      for (const [index, schema] of schemas) {
        const problem = await askCostly(server, "small:a", schema);
        if (problem !== null) problems.push(`${index}: ${problem}`);
      }
    };
    const attacked = await waits(server, () => Promise.all([attack(), attack()]));
    print("| requests of others | requests | median, ms | slowest, ms |");
    print("|---|---|---|---|");
    for (const [name, all] of Object.entries({ alone, [`beside ${count} costly schemas`]: attacked }))
      print(`| ${name} | ${all.length} | ${all[all.length >> 1]!.toFixed(0)} | ${all.at(-1)!.toFixed(0)} |`);
    for (const problem of problems.slice(0, 10)) print(`\n- ${problem}`);
    if (problems.length > 0)
      throw new Error(`${problems.length} schemas were neither answered nor refused by name`);
    const longerMs = attacked.at(-1)! - alone[alone.length >> 1]!;
    if (longerMs > mostLongerMs) throw new Error(`a request waited ${longerMs.toFixed(0)} ms longer`);
  } finally {
    await server.stop();
    await store.remove();
  }
}

/** How long short requests take while `work` runs, the quickest first. */
async function waits(server: ServerProcess, work: () => Promise<unknown>): Promise<number[]> {
  let isOver = false;
  const end = work().finally(() => {
    isOver = true;
  });
  const times: number[] = [];
  do {
    const started = performance.now();
    await server.ask("/api/generate", {
      model: "small:a",
      prompt: "y",
      stream: false,
      options: { num_predict: 4, num_ctx: 2048 },
    });
    times.push(performance.now() - started);
  } while (!isOver);
  await end;
  return times.sort((a, b) => a - b);
}
