import fc from "fast-check";
import { expect, test } from "vitest";
import { acceptedType } from "./accept.ts";

const offered = ["json", "csv", "ndjson"] as const;

test.each([
  [undefined, "json"],
  ["", "json"],
  ["nonsense", "json"],
  ["*/*", "json"],
  ["application/*", "json"],
  ["text/*", "csv"],
  ["text/csv", "csv"],
  ["TEXT/CSV ; Q=0.5", "csv"],
  ["application/x-ndjson", "ndjson"],
  ["application/jsonl", "ndjson"],
  ["application/problem+json", "json"],
  ["text/csv, application/json", "json"],
  ["text/csv, application/json;q=0.9", "csv"],
  ["application/json;q=0.1, */*;q=0.2", "csv"],
  ["application/json;q=0, */*", "csv"],
  ["*/*;q=0.1, application/x-ndjson;q=0.2", "ndjson"],
  ["text/csv;q=2, application/json", "json"],
  ["text/html, application/xhtml+xml, */*;q=0.8", "json"],
] as const)("Accept %j gets %s", (header, type) => {
  expect(acceptedType(header, offered).type).toBe(type);
});

test.each(["image/png", "application/json;q=0", "text/csv;q=0, application/*;q=0, text/*;q=0", "text/html"])(
  "Accept %j is refused with the types that are offered",
  (header) => {
    expect(() => acceptedType(header, offered)).toThrow("application/json, text/csv, application/x-ndjson");
  },
);

test("only asks for a byte order mark where the caller did", () => {
  expect(acceptedType("text/csv; bom=1; q=0.4", offered)).toEqual({ type: "csv", hasMark: true });
  expect(acceptedType("text/csv; bom=0", offered)).toEqual({ type: "csv", hasMark: false });
});

test("any header gets a type or a refusal", () => {
  const part = fc.oneof(
    fc.string(),
    fc.constantFrom("text/csv", "*/*", ";q=", "0.5", ",", "application/json"),
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 60 }), (parts) => {
      try {
        expect(offered).toContain(acceptedType(parts.join(""), offered).type);
      } catch (error) {
        expect(error).toMatchObject({ code: "not_acceptable" });
      }
    }),
    { seed: 16 },
  );
  expect(acceptedType(",".repeat(1_000_000), offered).type).toBe("json");
});
