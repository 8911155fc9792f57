import { hasSchemathesis } from "../../../testing/schemathesis.ts";
import { startInProcess } from "../test/in-process.ts";
import { fuzz, fuzzOthers } from "../test/schemathesis.ts";
import { startService } from "../test/service-process.ts";

export const title = "OpenAPI: schemathesis with 100 random requests for each operation";

export async function run(print: (line: string) => void): Promise<void> {
  if (!(await hasSchemathesis())) throw new Error("This proof needs schemathesis from pip.");
  print("| operations | requests | answers that differ from the document |");
  print("|---|--:|--:|");
  await using service = await startService();
  const { body } = await service.call("/v1/keys", { body: { name: "fuzz", mode: "test" } });
  const report = await fuzz(service, body.key, { coversEdges: true, examples: 100 });
  print(`| that ask for data or the account | ${requestsOf(report)} | 0 |`);
  // Examples of everything that needs a vendor find one.
  await using own = await startInProcess({}, { isScripted: false, vendor: true });
  const others = await fuzzOthers(own, own.key, { coversEdges: false, examples: 100 });
  print(`| all others | ${requestsOf(others)} | 0 |`);
}

function requestsOf(report: string): number {
  if (!/^\d+ generated$/.test(report)) throw new Error(report);
  return Number.parseInt(report, 10);
}
