import { hasSchemathesis } from "../../testing/schemathesis.ts";
import { checkContract } from "../test/contract/contract.ts";

export const title = "OpenAPI: schemathesis with every edge and 20 random requests for each operation";

export async function run(print: (line: string) => void): Promise<void> {
  if (!(await hasSchemathesis())) throw new Error("This proof needs schemathesis from pip.");
  const report = await checkContract({ coversEdges: true, examples: 20 });
  if (!/^\d+ generated$/.test(report)) throw new Error(report);
  print(`${Number.parseInt(report, 10)} requests, no answer that differs from the document`);
}
