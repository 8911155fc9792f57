import { hermesTemplate } from "../test/hermes-template.ts";
import { createModelStore } from "../test/model-store.ts";
import { startServer } from "../test/server-process.ts";
import { starterModelPath } from "../test/starter-model.ts";
import { askForCall } from "../test/tool-campaign.ts";

export const title = "Tool calls of the starter model with a Hermes template: each is valid";

const each = 100;

export async function run(print: (line: string) => void): Promise<void> {
  const path = await starterModelPath();
  if (path === null) {
    print("skipped: the starter model cannot be reached");
    return;
  }
  const store = await createModelStore();
  await store.add("smollm2:135m", path);
  await store.derive("tools:1", { from: "smollm2:135m", template: hermesTemplate });
  const server = await startServer({ hasSmallHeap: true, models: store.folder });
  try {
    print("| tool_choice | requests | calls made | problems |");
    print("|---|---|---|---|");
    for (const kind of ["required", "named", "auto"] as const) {
      const problems: string[] = [];
      let calls = 0;
      for (let seed = 1; seed <= each; seed += 1) {
        const answer = await askForCall(server, "tools:1", kind, seed);
        calls += answer.calls;
        if (answer.problem !== null) problems.push(`seed ${seed}: ${answer.problem}`);
      }
      print(`| ${kind} | ${each} | ${calls} | ${problems.length} |`);
      for (const line of problems.slice(0, 10)) print(`\n- ${line}\n`);
    }
  } finally {
    await server.stop();
    await store.remove();
  }
}
