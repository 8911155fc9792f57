import { seeded } from "../test/crowd.ts";
import { killAmidChanges, killAmidPulls } from "../test/killing.ts";
import { killAmidConversations } from "../test/killing-conversations.ts";

export const title = "Kill -9 in the midst of create, copy, delete, pull and the writing of conversations";

export async function run(print: (line: string) => void): Promise<void> {
  print("| what | kills | of them amid the work | problems | bytes fetched for each byte of the models |");
  print("| --- | --: | --: | --: | --: |");
  const changes = await killAmidChanges(220, seeded(11));
  const kinds = Object.entries(changes.hitsByKind).map(([kind, hits]) => `${kind} ${hits}`);
  print(
    `| create, create over, copy, delete | ${changes.rounds} | ${changes.hits} (${kinds.join(", ")}) | ${changes.problems.length} | |`,
  );
  const pulls = await killAmidPulls(100, seeded(12));
  print(
    `| pull | ${pulls.rounds} | ${pulls.hits} | ${pulls.problems.length} | ${pulls.fetchedRatio.toFixed(3)} |`,
  );
  const conversations = await killAmidConversations(60, seeded(13));
  print(
    `| conversations written to disk | 60 | ${conversations.hits} | ${conversations.problems.length} | |`,
  );
  for (const line of [...changes.problems, ...pulls.problems, ...conversations.problems].slice(0, 20))
    print(`\n- ${line}`);
}
