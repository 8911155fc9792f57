import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { docPath, operationsDoc } from "./operations-doc.ts";

test("docs/dataq/operations.md is that of the contract", () => {
  expect(readFileSync(docPath, "utf8")).toBe(operationsDoc());
});
