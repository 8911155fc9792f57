import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { generate } from "../scripts/generate.ts";

test("the generated files match the contract (else run `npm run generate --workspace dataq-client`)", () => {
  for (const [path, text] of generate()) {
    expect(readFileSync(new URL(path, import.meta.url), "utf8"), path).toBe(text);
  }
});
