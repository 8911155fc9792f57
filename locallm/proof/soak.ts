import { type Explained, seeded, vanishing } from "../test/crowd.ts";
import { createSmallStore } from "../test/model-store.ts";
import { residentMib } from "../test/process-memory.ts";
import { startServer, until } from "../test/server-process.ts";

export const title = "Soak: memory and slots over thousands of requests, many of them abandoned";

const model = "small:a";
const total = 10_000;
const step = 1_000;
const batch = 50;

/**
 * Prints the resident memory of server and runner after each step. The first 1,000 requests are a warm-up.
 */
export async function run(print: (line: string) => void): Promise<void> {
  const store = await createSmallStore();
  const server = await startServer({
    hasSmallHeap: true,
    models: store.folder,
    env: { LOCALLM_NUM_PARALLEL: "4" },
  });
  try {
    const random = seeded(11);
    print("| requests | served | left | server RSS, MiB | runner RSS, MiB | slots taken | waiting |");
    print("|---|---|---|---|---|---|---|");
    const after: { thousands: number; mebibytes: number }[] = [];
    const counts = { served: 0, left: 0 };
    for (let done = step; done <= total; done += step) {
      for (let sent = 0; sent < step; sent += batch) {
        const { served, left } = await vanishing(server, model, batch, random);
        counts.served += served;
        counts.left += left;
      }
      await until("all slots are free", async () =>
        (await server.ask<Explained>("/api/ps?explain")).explain.loaded.every(({ active }) => active === 0),
      );
      const { loaded, waiting } = (await server.ask<Explained>("/api/ps?explain")).explain;
      const serverMib = residentMib(server.pid);
      const runnerMib = residentMib(loaded[0]?.pid ?? 0);
      after.push({ thousands: done / 1_000, mebibytes: serverMib + runnerMib });
      const active = loaded.reduce((sum, each) => sum + each.active, 0);
      print(
        `| ${done} | ${counts.served} | ${counts.left} | ${serverMib.toFixed(1)} | ${runnerMib.toFixed(1)} | ${active} | ${waiting.length} |`,
      );
    }
    print("");
    print(
      `After the first 1,000 requests memory grew by ${slope(after).toFixed(2)} MiB per 1,000 (fitted line; bar: 1).`,
    );
  } finally {
    await server.stop();
    await store.remove();
  }
}

/** Fits a line and returns its slope, because garbage collection makes single readings fluctuate. */
function slope(points: readonly { thousands: number; mebibytes: number }[]): number {
  const mean = (values: readonly number[]) => values.reduce((sum, each) => sum + each, 0) / values.length;
  const x = mean(points.map(({ thousands }) => thousands));
  const y = mean(points.map(({ mebibytes }) => mebibytes));
  const shared = points.reduce((sum, each) => sum + (each.thousands - x) * (each.mebibytes - y), 0);
  return shared / points.reduce((sum, each) => sum + (each.thousands - x) ** 2, 0);
}
