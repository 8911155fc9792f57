import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { errorsDoc, errorsPaths } from "./errors-doc.ts";
import { operationsDoc, operationsPaths } from "./operations-doc.ts";

test.each(["en", "zh"] as const)(
  "the pages of operations and errors (%s) are those of the contract",
  (language) => {
    expect(plain(readFileSync(operationsPaths[language], "utf8"))).toBe(plain(operationsDoc(language)));
    expect(plain(readFileSync(errorsPaths[language], "utf8"))).toBe(plain(errorsDoc(language)));
  },
);

/** Ignores differences in alignment and escaping, which the formatter causes, and the mark of a twin. */
function plain(text: string): string {
  return text
    .replace(/\n<!-- twin: \w+ -->\s*$/, "")
    .replace(/ +/g, " ")
    .replace(/-{3,}/g, "---")
    .replace(/\n{2,}/g, "\n\n")
    .trim();
}
