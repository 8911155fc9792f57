import { createSmallStore } from "../test/model-store.ts";
import {
  beside,
  hostilePrompts,
  hostileTemplates,
  ordinaryRequests,
  sendAll,
  sendBodies,
} from "../test/prompt-campaign.ts";
import { startServer } from "../test/server-process.ts";

export const title = "Hostile templates, prompts and bodies: how long others wait";

const each = Number(process.env["HOSTILE_PROMPTS"] ?? 2000);
const rounds = 8;
const atOnce = 2;
const bodiesAtOnce = 30;
const mostLongerMs = 1000;
const controlMs = 8000;

/**
 * Two attackers, 30 for bodies, send requests in parallel while an ordinary client alternates between short
 * answers and lists of models. Before each round the same ordinary requests run without attackers, so that both figures include
 * the load of other programs.
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
    await ordinaryRequests(server, () => true);
    print("| attacks | median, slowest of others without them, ms | with them, ms | longer, ms |");
    print("|---|---:|---:|---:|");
    const count = Math.ceil(each / rounds);
    for (const [kind, attack] of [
      ["templates", (seed) => sendAll(server, hostileTemplates(count, seed), atOnce)],
      ["prompts", (seed) => sendAll(server, hostilePrompts(count, seed), atOnce)],
      ["bodies", (seed) => sendBodies({ url: server.url, count, seed, atOnce: bodiesAtOnce })],
    ] as const satisfies [string, (seed: number) => Promise<string[]>][])
      for (let round = 1; round <= rounds; round += 1) {
        const untilMs = performance.now() + controlMs;
        const alone = await ordinaryRequests(server, () => performance.now() > untilMs);
        const attacked = await beside(server, attack(round));
        const longerMs = attacked.slowestMs - alone.slowestMs;
        const [before, during] = [alone, attacked].map(
          ({ medianMs, slowestMs }) => `${medianMs.toFixed(1)}, ${slowestMs.toFixed(0)}`,
        );
        print(`| ${count} ${kind} | ${before} | ${during} | ${longerMs.toFixed(0)} |`);
        if (longerMs > mostLongerMs)
          problems.push(`round ${round} of ${kind}: ${longerMs.toFixed(0)} ms longer`);
        problems.push(...attacked.failed.map((line) => line.slice(0, 300)));
      }
  } finally {
    await server.stop();
    await store.remove();
  }
  for (const problem of problems.slice(0, 20)) print(`\n- ${problem}`);
  if (problems.length > 0) throw new Error(`${problems.length} problems`);
}
