import { expect, test } from "vitest";
import { hasSchemathesis } from "../../testing/schemathesis.ts";
import { checkContract } from "./contract/contract.ts";

test("schemathesis (from pip) finds nothing against /openapi.json; every edge: npm run proof -- contract", async (context) => {
  if (!(await hasSchemathesis())) context.skip("schemathesis is not installed");
  expect((await checkContract({ coversEdges: false, examples: 3 })).slice(-4_000)).toMatch(/^\d+ generated$/);
}, 300_000);
