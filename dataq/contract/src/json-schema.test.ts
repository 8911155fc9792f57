import { Ajv2020 } from "ajv/dist/2020.js";
import ajvFormats from "ajv-formats";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Bilingual } from "./bilingual.ts";
import {
  answerSchema,
  type JsonSchema,
  meanings,
  type Operation,
  operations,
  paramsSchema,
  readParams,
  recordSchema,
} from "./index.ts";
import { words } from "./words/words.ts";

const all: readonly Operation[] = operations;

test.each(all)("$name: every parameter has a meaning in both languages", (operation) => {
  const { params } = meanings(operation);
  expect(Object.keys(params)).toEqual(Object.keys(operation.params.shape));
  for (const { en, zh } of Object.values(params)) {
    expect(en).toMatch(/[a-z]/);
    expect(zh).toMatch(/\p{Script=Han}/u);
  }
});

test("lists the meanings of a record by the paths of its fields", () => {
  const laws = all.find(({ name }) => name === "legal_laws")!;
  expect(meanings(laws).record).toMatchObject({
    revisions: { en: expect.stringContaining("Oldest first") },
    "source.name": { en: "Publisher of the record", zh: "记录的发布者" },
  });
});

test("every field of every record has a meaning in both languages, and every word belongs to a field", () => {
  const used = new Set<Bilingual>();
  for (const operation of all) {
    const { record } = meanings(operation);
    for (const path of fieldsOf(recordSchema(operation))) {
      const meaning = record[path];
      expect(meaning, `${operation.name} ${path}`).toBeDefined();
      expect(meaning!.en).toMatch(/[a-z]|^[A-Z]+$/);
      expect(meaning!.zh).toMatch(/\p{Script=Han}|^[A-Z]+$/u);
      used.add(meaning!);
    }
  }
  const idle = [...Object.values(words), ...all.map((operation) => operation.words ?? {})].flatMap((list) =>
    Object.entries(list).flatMap(([name, meaning]) => (used.has(meaning) ? [] : [name])),
  );
  expect(idle).toEqual([]);
});

/** Paths as in `meanings`, such as `judges` and `judges[].name`. */
function fieldsOf(schema: JsonSchema, prefix = ""): string[] {
  const variants = (schema["anyOf"] ?? [schema]) as readonly JsonSchema[];
  return variants.flatMap(({ properties, items }) => [
    ...Object.entries((properties ?? {}) as Record<string, JsonSchema>).flatMap(([name, field]) => [
      prefix + name,
      ...fieldsOf(field, `${prefix}${name}.`),
    ]),
    ...(items ? fieldsOf(items as JsonSchema, `${prefix.slice(0, -1)}[].`) : []),
  ]);
}

test("schemas contain only JSON Schema keywords", () => {
  for (const operation of all)
    for (const schema of [paramsSchema(operation), recordSchema(operation), answerSchema(operation)])
      expect(JSON.stringify(schema)).not.toContain('"x-');
});

const ajv = new Ajv2020({ strict: false, logger: false });
ajvFormats.default(ajv);

test.each(all)("$name: the schema and the reader accept the same values", (operation) => {
  const schema = paramsSchema(operation) as { properties: Record<string, TextSchema> };
  const fits = ajv.compile(schema);
  for (const [name, text] of Object.entries(schema.properties)) {
    fc.assert(
      fc.property(textsLike(text), (value) => {
        const params = { ...operation.example, [name]: value };
        const read = readParams(operation, params, "2026-11-21");
        if ("params" in read) expect(fits(read.params), JSON.stringify(read.params)).toBe(true);
        else if (fits(params)) expect(beyondSchema).toContain(read.details[0]?.code);
      }),
      { seed: 12, numRuns: 150 },
    );
  }
});

/**
 * Reasons for which a text that matches its schema can still be rejected. `format` or the description
 * mentions them.
 */
const beyondSchema = ["checksum", "too_early", "future", "conflict", "incomplete", "empty"];

interface TextSchema {
  readonly pattern?: string;
  readonly format?: string;
  readonly enum?: readonly string[];
}

/** Texts that match the schema, and similar ones that do not. */
function textsLike({ pattern, format, enum: choices }: TextSchema): fc.Arbitrary<string> {
  if (choices !== undefined) return fc.constantFrom(...choices);
  const near = fc.string({ unit: "grapheme", maxLength: 210 });
  if (format === "date")
    return fc.oneof(
      near,
      fc
        .date({ noInvalidDate: true, min: new Date(0), max: new Date("2040-01-01") })
        .map((day) => day.toISOString().slice(0, 10)),
    );
  return pattern === undefined || pattern.includes("x00")
    ? fc.oneof(
        near,
        fc.constantFrom(" ", "\u3000", "\t", "a\u0001", "\ufeff", "\u00a0", "\u0085", "x".repeat(201)),
      )
    : fc.oneof(near, fc.stringMatching(new RegExp(pattern)));
}
