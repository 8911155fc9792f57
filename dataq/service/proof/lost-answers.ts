import { DataQuery, DataQuerySync } from "dataq-client";
import { type Fault, startLossyProxy } from "../../client/test/lossy-proxy.ts";
import { startService } from "../test/service-process.ts";

export const title = "Calls whose answers are lost are charged once";

/** Calls of both clients through a proxy that loses, cuts and refuses. The account shows what was charged. */
export async function run(print: (line: string) => void): Promise<void> {
  await using service = await startService({ vendor: true });
  const faults: readonly Fault[] = ["lose", "cut", "drop", "refuse", "none"];
  const proxy = await startLossyProxy({ target: service.url, faults, attempts: 3, seed: 1 });
  const apiKey = await openAccount(service);
  const options = {
    apiKey,
    baseUrl: proxy.url,
    retryDelay: 0,
    retryBackoff: 1,
    retryNetworkErrors: true,
    maxRetries: 8,
  };
  const plain = new DataQuery(options, { sleep: async () => {} });
  using sync = new DataQuerySync(options, { sleep: () => {} });
  await plain.research_paper_search({ query: "的" }, { maxRetries: 20 });
  const { balance: before } = await plain.balance();

  for (let call = 0; call < callsOfEach; call += 8) {
    await Promise.all(
      Array.from({ length: 8 }, (_, n) => plain.research_paper_search({ query: `网络 ${call + n}` })),
    );
    for (let n = 0; n < 8; n++) sync.research_paper_search({ query: `系统 ${call + n}` });
  }

  const { balance: after } = await plain.balance();
  const seen = (await proxy.seen()).filter(({ key }) => key !== "");
  proxy.close();
  const charged = (before - after) / price;
  print("| | |");
  print("|---|---:|");
  print(`| calls, half of them synchronous | ${2 * callsOfEach} |`);
  for (const fault of faults.slice(0, -1)) {
    print(`| attempts that met \`${fault}\` | ${seen.filter((one) => one.fault === fault).length} |`);
  }
  print(`| answers given by the service | ${seen.filter(({ status }) => status === 200).length} |`);
  print(`| calls charged | ${charged} |`);
  if (charged !== 2 * callsOfEach) throw new Error(`${charged} calls were charged, not ${2 * callsOfEach}.`);
}

const callsOfEach = 2_000;
const price = 500;

async function openAccount(service: Awaited<ReturnType<typeof startService>>): Promise<string> {
  const account = { name: "lost answers", tokens: 10 * callsOfEach * price, tier: "operator" };
  const { body } = await service.call("/admin/v1/accounts", { body: account });
  return (body as { keys: string[] }).keys[0] ?? "";
}
