import { seeded } from "../test/crowd.ts";
import { disturbLentStreams } from "../test/lent-streams.ts";

export const title = "Streams that runners write themselves, with runners killed and clients that leave";

export async function run(print: (line: string) => void): Promise<void> {
  const result = await disturbLentStreams({ kills: 25, leaves: 600 }, seeded(38));
  print("| what | times | of them while a connection was lent |");
  print("| --- | --: | --: |");
  print(`| runners killed with SIGKILL | 25 | ${result.killedWhileLent} |`);
  print(`| clients that left | 600 | ${result.leftWhileLent} |`);
  print("");
  print(
    `Connections were lent ${result.loans} times. Streams that were not right: ${result.problems.length}.`,
  );
  for (const problem of result.problems.slice(0, 20)) print(`\n- ${problem}`);
}
