import { request } from "node:http";
import { startService } from "../dataq/service/test/service-process.ts";

/** Measures a repeated query in the server, and in a client next to it, after the service has started. */
export const title = "dataq: a query answered from the cache";

const warmUp = 100;
const calls = 1_000;

export async function run(print: (line: string) => void): Promise<void> {
  await using service = await startService({ vendor: true });
  const account = await service.call("/admin/v1/accounts", {
    body: { name: "bench", tokens: 1e9, tier: "operator" },
  });
  const key: string = account.body.keys[0];
  const body = JSON.stringify({
    operation: "enterprise_shixin_check",
    params: { company_name: "杭州测试有限公司" },
  });
  const server: number[] = [];
  const client: number[] = [];
  for (let call = 0; call < warmUp + calls; call++) {
    const begin = performance.now();
    const { status, cache, serverMs } = await post(`${service.url}/v1/data/query`, key, body);
    const end = performance.now();
    if (status !== 200) throw new Error(`The call failed with ${status}.`);
    if (call < warmUp) continue;
    if (cache !== "HIT") throw new Error("The call was not answered from the cache.");
    server.push(serverMs);
    client.push(end - begin);
  }
  print(`${calls} consecutive calls, after ${warmUp} warm-up calls; ms`);
  print("");
  print("| | p50 | p95 | p99 |");
  print("|---|---:|---:|---:|");
  for (const [name, times] of Object.entries({ "at the server": server, "at the client": client })) {
    const sorted = times.toSorted((a, b) => a - b);
    print(
      `| ${name} | ${[0.5, 0.95, 0.99].map((part) => sorted[Math.floor(part * sorted.length)]!.toFixed(2)).join(" | ")} |`,
    );
  }
}

function post(
  url: string,
  key: string,
  body: string,
): Promise<{ status: number; cache: string; serverMs: number }> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const sent = request(url, { method: "POST", headers }, (response) => {
      response.resume().on("end", () =>
        resolve({
          status: response.statusCode ?? 0,
          cache: String(response.headers["x-cache"]),
          serverMs: Number(/dur=([\d.]+)/.exec(String(response.headers["server-timing"]))?.[1]),
        }),
      );
    });
    sent.on("error", reject).end(body);
  });
}

if (import.meta.main) await run(console.log);
