import { createSmallStore } from "../test/model-store.ts";
import { refuseHostile } from "../test/schema-campaign.ts";
import { startServer } from "../test/server-process.ts";

export const title = "Hostile schemas: refused by name, in time, memory flat";

const count = 1_000;

export async function run(print: (line: string) => void): Promise<void> {
  const store = await createSmallStore();
  const server = await startServer({ models: store.folder });
  try {
    const { accepted, slowestMs, medianMs, grownMib } = await refuseHostile(server, "small:a", count);
    print("| schemas | refused | slowest, ms | median, ms | server memory grown, MiB |");
    print("|---|---|---|---|---|");
    const times = `${slowestMs.toFixed(0)} | ${medianMs.toFixed(1)}`;
    print(`| ${count} | ${count - accepted.length} | ${times} | ${grownMib.toFixed(1)} |`);
    for (const line of accepted.slice(0, 10)) print(`\n- ${line}`);
  } finally {
    await server.stop();
    await store.remove();
  }
}
