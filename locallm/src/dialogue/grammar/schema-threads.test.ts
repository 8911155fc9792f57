import { afterAll, describe, expect, it } from "vitest";
import { SchemaThreads, schemaThreadBudget } from "./schema-threads.ts";

describe("schemas in threads", () => {
  const threads = new SchemaThreads({ ...schemaThreadBudget, processorMs: 1000 });
  afterAll(() => threads.close());

  const large = (word: string, count = 3000) => ({
    enum: Array.from({ length: count }, (_, index) => `${word} ${index} `.repeat(3)),
  });

  it("are read one after another by the same thread", async () => {
    for (const word of ["a", "b", "c"]) {
      const written = await threads.write([{ schema: large(word), lenient: false }]);
      expect(written?.schemas).toEqual([{ body: expect.any(String), ignored: [] }]);
    }
  });

  it("are read once", async () => {
    const wishes = [{ schema: large("d"), lenient: false }];
    expect(await threads.write(wishes)).toBe(await threads.write(structuredClone(wishes)));
  });

  it("are rejected with a clear error", async () => {
    const schema = { ...large("e"), type: "integer" };
    await expect(threads.write([{ schema, lenient: false }])).rejects.toThrow("the schema allows nothing");
  });

  it("do not wait for a slow check of an answer", async () => {
    const costly = { type: "string", pattern: "^((a+)+)\\1b$" };
    const checked: string[] = [];
    const check = async () => {
      expect(await threads.check(costly, JSON.stringify("a".repeat(40)))).toBeNull();
      checked.push("costly");
    };
    const costlyCheck = check();
    await threads.write([{ schema: large("f", 1000), lenient: false }]);
    checked.push("ordinary");
    await costlyCheck;
    expect(checked).toEqual(["ordinary", "costly"]);
  });

  it("are used to check a finished answer", async () => {
    const schema = { type: "array", uniqueItems: true };
    expect(await threads.check(schema, "[1,2]")).toEqual([]);
    expect(await threads.check(schema, "[1,1]")).toEqual(["/ must not repeat an item"]);
    expect(await threads.check(schema, "[1,")).toEqual(["/ must be JSON"]);
  });
});
