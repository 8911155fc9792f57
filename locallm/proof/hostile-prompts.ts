import { createSmallStore } from "../test/model-store.ts";
import { hostilePrompts, hostileTemplates, ordinaryRequests, under } from "../test/prompt-campaign.ts";
import { startServer } from "../test/server-process.ts";

export const title = "Hostile templates and prompts: how long others wait";

const each = 2000;
const rounds = 8;
const atOnce = 2;

/** Two attackers at a time; ordinary answers and lists of models are asked for one after the other meanwhile. */
export async function run(print: (line: string) => void): Promise<void> {
  const store = await createSmallStore();
  const server = await startServer({ models: store.folder, env: { LOCALLM_NUM_PARALLEL: "4" } });
  try {
    await ordinaryRequests(server, () => true);
    let asked = 0;
    const alone = await ordinaryRequests(server, () => ++asked > 200);
    print("| attacks | median of others, ms | slowest of others, ms | attacks that failed otherwise |");
    print("|---|---|---|---|");
    print(`| none | ${alone.medianMs.toFixed(1)} | ${alone.slowestMs.toFixed(0)} | |`);
    for (const [kind, attacks] of [
      ["templates", hostileTemplates],
      ["prompts", hostilePrompts],
    ] as const)
      for (let round = 1; round <= rounds; round += 1) {
        const some = attacks(each / rounds, round);
        const { medianMs, slowestMs, failed } = await under(server, some, atOnce);
        const times = `${medianMs.toFixed(1)} | ${slowestMs.toFixed(0)}`;
        print(`| ${some.length} ${kind} | ${times} | ${failed.length} |`);
        for (const line of failed.slice(0, 5)) print(`\n- ${line.slice(0, 300)}`);
      }
  } finally {
    await server.stop();
    await store.remove();
  }
}
