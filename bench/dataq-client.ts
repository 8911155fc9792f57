import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { DataQuery, DataQuerySync } from "dataq-client";

/** Measures a call through each client API. The APIs alternate against one server in its own process. */
export const title = "dataq client: synchronous and asynchronous calls";

export async function run(print: (line: string) => void): Promise<void> {
  const path = fileURLToPath(new URL("../dataq/cases/server.ts", import.meta.url));
  const server = spawn(process.execPath, [path], { stdio: ["pipe", "pipe", "inherit"] });
  const [line] = (await once(createInterface(server.stdout), "line")) as [string];
  const { url: baseUrl } = JSON.parse(line) as { url: string };

  const answer = { body: { data: [{ id: "a", text: "民法典".repeat(200) }], page: 1, total_pages: 1 } };
  const answers = Array.from({ length: 2 * (warmUp + calls) }, () => answer);
  await fetch(`${baseUrl}/_script`, { method: "PUT", body: JSON.stringify({ answers }) });

  const options = { apiKey: "dq_test_x", baseUrl };
  const plain = new DataQuery(options);
  using sync = new DataQuerySync(options);
  const taken = { plain: [] as number[], sync: [] as number[] };
  for (let call = 0; call < warmUp + calls; call++) {
    const begin = performance.now();
    await plain.legal_laws({ query: "x" });
    const middle = performance.now();
    sync.legal_laws({ query: "x" });
    const end = performance.now();
    if (call < warmUp) continue;
    taken.plain.push(middle - begin);
    taken.sync.push(end - middle);
  }
  server.stdin.end();

  print(`${calls} calls of each client in alternation, after ${warmUp} warm-up calls; ms`);
  print("");
  print("| face | median | p95 | p99 |");
  print("|---|---:|---:|---:|");
  for (const [name, times] of Object.entries({ DataQuery: taken.plain, DataQuerySync: taken.sync })) {
    print(`| ${name} | ${[0.5, 0.95, 0.99].map((part) => quantile(times, part).toFixed(3)).join(" | ")} |`);
  }
  const more = quantile(taken.sync, 0.5) - quantile(taken.plain, 0.5);
  print(`| difference | ${more.toFixed(3)} | | |`);
}

const warmUp = 200;
const calls = 2_000;

function quantile(times: readonly number[], part: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? Number.NaN;
}

if (import.meta.main) await run(console.log);
