import { createSmallStore } from "../test/model-store.ts";
import { askCostly, costlySchemas } from "../test/schema-campaign.ts";
import { type ServerProcess, startServer } from "../test/server-process.ts";

export const title = "Costly schemas: nobody else waits more than a second longer";

const count = Number(process.env["COSTLY_SCHEMAS"] ?? 2000);
const mostLongerMs = 1000;

const rounds = 8;
const controlMs = 8000;

/**
 * Measures short requests to one model while two other clients send expensive schemas. Before each round the
 * same requests run without these clients, so that both figures include the load of other programs.
 */
export async function run(print: (line: string) => void): Promise<void> {
  const store = await createSmallStore();
  const server = await startServer({
    hasSmallHeap: true,
    models: store.folder,
    env: { LOCALLM_NUM_PARALLEL: "4" },
  });
  const problems: string[] = [];
  try {
    await waits(server, async () => {});
    print("| schemas | median, slowest of others without them, ms | with them, ms | longer, ms |");
    print("|---|---:|---:|---:|");
    const schemas = costlySchemas(count);
    const size = Math.ceil(count / rounds);
    for (let from = 0; from < count; from += size) {
      const alone = await waits(server, () => new Promise((resolve) => setTimeout(resolve, controlMs)));
      const some = schemas.slice(from, from + size).entries();
      const attack = async () => {
        for (const [index, schema] of some) {
          const problem = await askCostly(server, "small:a", schema);
          if (problem !== null) problems.push(`${from + index}: ${problem}`);
        }
      };
      const attacked = await waits(server, () => Promise.all([attack(), attack()]));
      const longerMs = attacked.at(-1)! - alone.at(-1)!;
      const [before, during] = [alone, attacked].map(
        (all) => `${all[all.length >> 1]!.toFixed(1)}, ${all.at(-1)!.toFixed(0)}`,
      );
      print(
        `| ${from} to ${Math.min(from + size, count) - 1} | ${before} | ${during} | ${longerMs.toFixed(0)} |`,
      );
      if (longerMs > mostLongerMs)
        problems.push(`from ${from}: a request waited ${longerMs.toFixed(0)} ms longer`);
    }
  } finally {
    await server.stop();
    await store.remove();
  }
  for (const problem of problems.slice(0, 20)) print(`\n- ${problem}`);
  if (problems.length > 0) throw new Error(`${problems.length} problems`);
}

/** The times of short requests while `work` runs, in ascending order. */
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
