import fc from "fast-check";
import { expect, test } from "vitest";
import { StoredBody } from "./stored-body.ts";

const stored = (body: object) => new StoredBody("1.2", Buffer.from(JSON.stringify(body)));

function joined(parts: ReturnType<StoredBody["with"]>): object {
  const bytes = parts?.map((part) => (Buffer.isBuffer(part) ? part : part.bytes)) ?? [];
  return JSON.parse(Buffer.concat(bytes).toString());
}

test("inserts members before the source, whatever the record contains", () => {
  const value = fc.oneof(
    fc.string(),
    fc.constantFrom(',"source":', '{"a":1,"source":{}}', "\\", '"', "}"),
    fc.record({ a: fc.string(), source: fc.string() }),
  );
  fc.assert(
    fc.property(fc.array(value), value, value, (list, source, added) => {
      const whole = { id: "a", list, source };
      const parts = stored(whole).with({ score: null, added });
      expect(joined(parts)).toEqual({ ...whole, score: null, added });
      expect(Object.keys(joined(parts))).toEqual(["id", "list", "score", "added", "source"]);
    }),
    { seed: 13, numRuns: 300 },
  );
});

test("leaves a record that does not end with its source to a parser", () => {
  for (const body of [
    { id: "a" },
    { source: {} },
    { id: "a", source: {}, more: 1 },
    { a: { id: "a", source: 1 } },
  ])
    expect(stored(body).with({ score: 1 })).toBeUndefined();
});
