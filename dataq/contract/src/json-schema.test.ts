import { expect, test } from "vitest";
import { answerSchema, meanings, type Operation, operations, paramsSchema, recordSchema } from "./index.ts";

const all: readonly Operation[] = operations;

test.each(all)("$name: every parameter has a meaning in both languages", (operation) => {
  const { params } = meanings(operation);
  expect(Object.keys(params)).toEqual(Object.keys(operation.params.shape));
  for (const { en, zh } of Object.values(params)) {
    expect(en).toMatch(/[a-z]/);
    expect(zh).toMatch(/\p{Script=Han}/u);
  }
});

test("meanings of a record stand under the paths of its fields", () => {
  const laws = all.find(({ name }) => name === "legal_laws")!;
  expect(meanings(laws).record).toMatchObject({
    revisions: { en: expect.stringContaining("Oldest first") },
    "source.name": { en: "Publisher of the record", zh: "记录的发布者" },
  });
});

test("schemas carry words of JSON Schema alone", () => {
  for (const operation of all)
    for (const schema of [paramsSchema(operation), recordSchema(operation), answerSchema(operation)])
      expect(JSON.stringify(schema)).not.toContain('"x-');
});
