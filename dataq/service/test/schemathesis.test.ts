import { describe, expect, test } from "vitest";
import { hasSchemathesis } from "../../../testing/schemathesis.ts";
import { startInProcess } from "./in-process.ts";
import { fuzz, fuzzOthers } from "./schemathesis.ts";

describe("schemathesis (from pip) finds nothing against /openapi.json; every edge, 100 examples: npm run proof -- openapi", () => {
  test("where operations ask for data or for the account", async (context) => {
    if (!(await hasSchemathesis())) context.skip("schemathesis is not installed");
    await using service = await startInProcess({}, { isScripted: false });
    const { key } = (await service.call("/v1/keys", { body: { name: "fuzz", mode: "test" } })).body;
    expect(await fuzz(service, key, { coversEdges: false, examples: 6 })).toMatch(/^\d+ generated$/);
  }, 180_000);

  test("where operations change an account or the service", async (context) => {
    if (!(await hasSchemathesis())) context.skip("schemathesis is not installed");
    await using own = await startInProcess({}, { isScripted: false, vendor: true });
    expect(await fuzzOthers(own, own.key, { coversEdges: false, examples: 4 })).toMatch(/^\d+ generated$/);
  }, 180_000);
});
