import { createSmallStore } from "../test/model-store.ts";
import { refuseHostile } from "../test/schema-campaign.ts";
import { startServer } from "../test/server-process.ts";

export const title = "Hostile schemas: refused by name, in time, memory flat";

const rounds = 4;
const each = 500;

/** The server gets a small heap, so that memory growth cannot be uncollected garbage. */
export async function run(print: (line: string) => void): Promise<void> {
  const store = await createSmallStore();
  const env = { NODE_OPTIONS: "--max-old-space-size=80" };
  const server = await startServer({ hasSmallHeap: true, models: store.folder, env });
  try {
    print("| schemas | refused | slowest, ms | median, ms | server memory grown in the round, MiB |");
    print("|---|---|---|---|---|");
    for (let round = 1; round <= rounds; round += 1) {
      const { accepted, slowestMs, medianMs, grownMib } = await refuseHostile(server, "small:a", each);
      const times = `${slowestMs.toFixed(0)} | ${medianMs.toFixed(1)}`;
      print(`| ${each} | ${each - accepted.length} | ${times} | ${grownMib.toFixed(1)} |`);
      for (const line of accepted.slice(0, 10)) print(`\n- ${line}`);
    }
  } finally {
    await server.stop();
    await store.remove();
  }
}
