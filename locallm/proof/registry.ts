import { readFile } from "node:fs/promises";
import { seeded } from "../test/crowd.ts";
import { dockerRegistry } from "../test/docker-registry.ts";
import { noiseModel, pushAndPull } from "../test/faulty-transfers.ts";
import { starterModelPath } from "../test/starter-model.ts";

export const title =
  "Push and pull against docker-registry over a line that breaks, stalls, fails and crawls";

export async function run(print: (line: string) => void): Promise<void> {
  const registry = await dockerRegistry();
  if (registry === null) {
    print("skipped: Debian's package docker-registry is not installed");
    return;
  }
  try {
    const starter = await starterModelPath();
    const weights = starter === null ? noiseModel(98_000_000) : await readFile(starter);
    const what = starter === null ? "noise of the starter model's size" : "the starter model";
    print(`With ${what}; bytes through the line for each byte of the models.\n`);
    print("| registry | models pushed and pulled | faults | problems | pushed | pulled |");
    print("|---|---|---|---|---|---|");
    const problems: string[] = [];
    for (const redirect of [false, true]) {
      const result = await pushAndPull(registry.host, 25, seeded(50), { redirect, weights });
      problems.push(...result.problems);
      const where = redirect ? "behind a redirect to another host" : "directly";
      const ratios = `${result.pushed.toFixed(3)} | ${result.pulled.toFixed(3)}`;
      print(`| ${where} | ${result.rounds} | ${result.faults} | ${result.problems.length} | ${ratios} |`);
    }
    for (const line of problems.slice(0, 20)) print(`\n- ${line}`);
  } finally {
    await registry.stop();
  }
}
