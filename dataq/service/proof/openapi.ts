import { fuzz, hasSchemathesis } from "../test/schemathesis.ts";
import { startService } from "../test/service-process.ts";

export const title = "OpenAPI: schemathesis with 100 random requests for each operation";

export async function run(print: (line: string) => void): Promise<void> {
  if (!(await hasSchemathesis())) throw new Error("This proof needs schemathesis from pip.");
  await using service = await startService();
  const { body } = await service.call("/v1/keys", { body: { name: "fuzz", mode: "test" } });
  const report = await fuzz(service, body.key, { coversEdges: true, examples: 100 });
  if (!/^\d+ generated$/.test(report)) throw new Error(report);
  print("| requests | answers that differ from the document |");
  print("|--:|--:|");
  print(`| ${Number.parseInt(report, 10)} | 0 |`);
}
