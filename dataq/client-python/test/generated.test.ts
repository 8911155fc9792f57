import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { generate } from "../scripts/generate.ts";

test("the generated Python files match the contract (else run `npm run generate`)", () => {
  for (const [path, text] of generate()) {
    expect(readFileSync(new URL(`../src/dataq_client/${path}`, import.meta.url), "utf8"), path).toBe(text);
  }
});
