import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { docPath, operationsDoc } from "./operations-doc.ts";

test("docs/dataq/operations.md is that of the contract", () => {
  expect(plain(readFileSync(docPath, "utf8"))).toBe(plain(operationsDoc()));
});

/** Ignores differences in alignment and escaping, which the formatter causes. */
function plain(text: string): string {
  return text
    .replace(/ +/g, " ")
    .replace(/-{3,}/g, "---")
    .replace(/\n{2,}/g, "\n\n")
    .trim();
}
