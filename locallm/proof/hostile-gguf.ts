import { runCampaign } from "../test/hostile-gguf.ts";
import { startServer } from "../test/server-process.ts";

export const title = "Hostile GGUF files: the gate, the engine behind it, and the server's memory";

const count = 10_000;
const loads = 300;

export async function run(print: (line: string) => void): Promise<void> {
  const server = await startServer({ hasSmallHeap: true });
  try {
    const result = await runCampaign(server, { count, loads, seed: 20_261_121 });
    print(
      "| files | refused by the gate | passed | given to the engine | ran | refused by the engine | crashes | unclear answers | memory growth, MiB |",
    );
    print("| --: | --: | --: | --: | --: | --: | --: | --: | --: |");
    const { files, refused, passed, loaded, answered, notLoaded, crashes, unclear, memoryGrowthMiB } = result;
    const cells = [
      files,
      refused,
      passed,
      loaded,
      answered,
      notLoaded,
      crashes.length,
      unclear.length,
      memoryGrowthMiB.toFixed(0),
    ];
    print(`| ${cells.join(" | ")} |`);
    for (const line of [...crashes, ...unclear].slice(0, 20)) print(`\n- ${line}`);
  } finally {
    await server.stop();
  }
}
