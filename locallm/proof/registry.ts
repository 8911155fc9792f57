import { seeded } from "../test/crowd.ts";
import { dockerRegistry } from "../test/docker-registry.ts";
import { pushAndPull } from "../test/faulty-transfers.ts";

export const title =
  "Push and pull against docker-registry over a line that breaks, stalls, fails and crawls";

export async function run(print: (line: string) => void): Promise<void> {
  const registry = await dockerRegistry();
  if (registry === null) {
    print("skipped: Debian's package docker-registry is not installed");
    return;
  }
  try {
    const result = await pushAndPull(registry.host, 50, seeded(50), 40_000_000);
    print("| models pushed and pulled | faults | problems | bytes through the line for each byte needed |");
    print("|---|---|---|---|");
    print(`| ${result.rounds} | ${result.faults} | ${result.problems.length} | ${result.ratio.toFixed(3)} |`);
    for (const line of result.problems.slice(0, 20)) print(`\n- ${line}`);
  } finally {
    await registry.stop();
  }
}
