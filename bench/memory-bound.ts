import { type ChildProcess, spawn } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { starterModelPath } from "../locallm/test/starter-model.ts";
import { pssByMapping, pssBytes } from "../testing/speed/processes.ts";

const dist = join(import.meta.dirname, "../locallm/dist");
const bare = join(import.meta.dirname, "bare");

/**
 * What two Node processes take at least: one that only listens, and one that only decodes with the starter model. They run
 * a copy of Node that no other program runs, with the options of the server and of a runner. Build locallm first.
 */
export async function run(print: (line: string) => void): Promise<void> {
  const modelPath = await starterModelPath();
  if (modelPath === null) throw new Error("the starter model is not available");
  const folder = mkdtempSync(join(tmpdir(), "memory-bound-"));
  const node = join(folder, "node");
  copyFileSync(process.execPath, node);
  const children: ChildProcess[] = [];
  try {
    const start = async (parameters: readonly string[], env: NodeJS.ProcessEnv = {}) => {
      const child = spawn(node, parameters, {
        stdio: ["ignore", "pipe", "ignore"],
        env: { ...process.env, ...env },
      });
      children.push(child);
      await new Promise<void>((resolve, reject) => {
        child.stdout.once("data", () => resolve());
        child.once("exit", (code) => reject(new Error(`a bare process ended with ${code}`)));
      });
      return child.pid!;
    };
    const heap = ["--max-semi-space-size=2", "--heap-growing-percent=30"];
    const listening = await start([...heap, join(bare, "http.cjs")]);
    const decoding = await start(["--max-semi-space-size=1", join(bare, "engine.mjs"), dist, modelPath], {
      MALLOC_ARENA_MAX: "1",
    });
    print("| process | mapping | MiB |");
    print("|---|---|---:|");
    for (const [name, pid] of [
      ["listens", listening],
      ["decodes", decoding],
    ] as const)
      for (const [mapping, bytes] of [...pssByMapping(pid)].sort(([, a], [, b]) => b - a))
        if (bytes >= 2 ** 20) print(`| ${name} | ${mapping} | ${mib(bytes)} |`);
    print(`| both | all | ${mib(pssBytes([listening, decoding]))} |`);
  } finally {
    for (const child of children) child.kill();
    rmSync(folder, { recursive: true });
  }
}

function mib(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(1);
}
