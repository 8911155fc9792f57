import { createSmallStore } from "../test/model-store.ts";
import { hostilePrompts, hostileTemplates, ordinaryRequests, under } from "../test/prompt-campaign.ts";
import { startServer } from "../test/server-process.ts";

export const title = "Hostile templates and prompts: how long others wait";

const each = Number(process.env["HOSTILE_PROMPTS"] ?? 2000);
const rounds = 8;
const atOnce = 2;
const mostLongerMs = 1000;
const controlMs = 8000;

/**
 * Two attackers send requests in parallel while an ordinary client alternates between short answers and lists
 * of models. Before each round the same ordinary requests run without attackers, so that both figures include
 * the load of other programs.
 */
export async function run(print: (line: string) => void): Promise<void> {
  const store = await createSmallStore();
  const server = await startServer({ models: store.folder, env: { LOCALLM_NUM_PARALLEL: "4" } });
  const problems: string[] = [];
  try {
    await ordinaryRequests(server, () => true);
    print("| attacks | median, slowest of others without them, ms | with them, ms | longer, ms |");
    print("|---|---:|---:|---:|");
    for (const [kind, attacks] of [
      ["templates", hostileTemplates],
      ["prompts", hostilePrompts],
    ] as const)
      for (let round = 1; round <= rounds; round += 1) {
        const untilMs = performance.now() + controlMs;
        const alone = await ordinaryRequests(server, () => performance.now() > untilMs);
        const some = attacks(Math.ceil(each / rounds), round);
        const attacked = await under(server, some, atOnce);
        const longerMs = attacked.slowestMs - alone.slowestMs;
        const [before, during] = [alone, attacked].map(
          ({ medianMs, slowestMs }) => `${medianMs.toFixed(1)}, ${slowestMs.toFixed(0)}`,
        );
        print(`| ${some.length} ${kind} | ${before} | ${during} | ${longerMs.toFixed(0)} |`);
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
