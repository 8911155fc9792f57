import { parseArgs } from "node:util";
import { Random } from "../../fuzz/random.ts";
import { sendDrawn } from "../test/clients/drawn-requests.ts";
import { installedClients } from "../test/clients/installed.ts";
import { startPublished, tried } from "../test/clients/published-server.ts";

export const title = "Published types: requests that the official clients can write, and their answers";

/** `--requests` (10,000) over all APIs, drawn by `--seed` (1). */
export async function run(
  print: (line: string) => void,
  _: string,
  args: readonly string[] = [],
): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      requests: { type: "string", default: "10000" },
      seed: { type: "string", default: "1" },
    },
  });
  const clients = await installedClients();
  if (clients === null) throw new Error("npm's registry is out of reach");
  const server = await startPublished(clients);
  const each = Math.ceil(Number(values.requests) / tried.length);
  const faults: string[] = [];
  const reasons: string[] = [];
  try {
    print("| API | requests | answered | refused with a reason | not of the published type |");
    print("| --- | --: | --: | --: | --: |");
    for (const api of tried) {
      const drawn = await sendDrawn(server, api, each, new Random(Number(values.seed)));
      const refused = each - drawn.answered;
      print(`| ${api.name} | ${each} | ${drawn.answered} | ${refused} | ${drawn.faults.size} |`);
      faults.push(...[...drawn.faults].map((fault) => `${api.name}: ${fault}`));
      const most = [...drawn.refused].sort((a, b) => b[1] - a[1]).slice(0, 3);
      reasons.push(...most.map(([reason, times]) => `- ${api.name}, ${times} times: ${reason}`));
    }
  } finally {
    await server.close();
  }
  print("\nThe most frequent reasons:\n");
  for (const reason of reasons) print(reason);
  for (const fault of faults) print(`\n${fault}`);
  if (faults.length > 0) throw new Error(`${faults.length} faults`);
}
