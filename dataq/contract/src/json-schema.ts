import { z } from "zod";
import { type Bilingual, chinese } from "./bilingual.ts";
import { envelopeSchema, errorBody } from "./envelope.ts";
import { memoize } from "./memoize.ts";
import type { Operation } from "./operation.ts";
import { wordFor } from "./words/words.ts";

export type JsonSchema = Readonly<Record<string, unknown>>;

/** Choices that an installation adds to a parameter, by name; for example platforms with an imported archive. */
export type MoreChoices = Readonly<Record<string, readonly string[]>>;

/** The parameters of an operation as JSON Schema 2020-12. Other fields are rejected. */
export function paramsSchema(operation: Operation, more: MoreChoices = {}): JsonSchema {
  const schema = openSchema(plainSchema(ownParams(operation)));
  const properties = Object.entries((schema["properties"] ?? {}) as Record<string, JsonSchema>).map(
    ([name, property]) => {
      const choices = property["enum"] as readonly string[] | undefined;
      const added = more[name];
      if (choices === undefined || added === undefined) return [name, property];
      return [name, { ...property, enum: [...new Set([...choices, ...added])] }];
    },
  );
  return { ...schema, properties: Object.fromEntries(properties), additionalProperties: false };
}

/** A record of an operation as JSON Schema 2020-12. Other fields are allowed, because later versions add some. */
export const recordSchema = memoize(
  (operation: Operation): JsonSchema => openSchema(plainSchema(ownRecord(operation))),
);

/** The whole answer of an operation. */
export const answerSchema = memoize(
  (operation: Operation): JsonSchema => openSchema(plainSchema(z.toJSONSchema(envelopeSchema(operation)))),
);

export function errorSchema(): JsonSchema {
  return openSchema(plainSchema(z.toJSONSchema(errorBody)));
}

export function plainSchema({ $schema: _, ...schema }: Record<string, unknown>): Record<string, unknown> {
  return schema;
}

/** The meaning of parameters and record fields, by path such as `judges[].name`. */
export const meanings = memoize((operation: Operation) => ({
  params: meaningsIn(ownParams(operation)),
  record: meaningsIn(ownRecord(operation), operation),
}));

const ownParams = memoize(({ params }: Operation) => z.toJSONSchema(params, { io: "input" }));
const ownRecord = memoize(({ record }: Operation) => z.toJSONSchema(record));

/**
 * Collects meanings. A field's schema may contain its meaning; all other meanings come from the words of the
 * operation and its domain.
 */
function meaningsIn(schema: unknown, operation?: Operation, path = ""): Record<string, Bilingual> {
  if (typeof schema !== "object" || schema === null) return {};
  const { description, properties, items, anyOf, [chinese]: zh } = schema as Record<string, unknown>;
  const found: Record<string, Bilingual> = {};
  if (typeof description === "string" && typeof zh === "string") found[path] = { en: description, zh };
  const prefix = path === "" ? "" : `${path}.`;
  for (const [name, field] of Object.entries(properties ?? {})) {
    const at = prefix + name;
    const known = operation && wordFor(operation, at);
    if (known) found[at] = known;
    Object.assign(found, meaningsIn(field, operation, at));
  }
  for (const variant of (anyOf ?? []) as unknown[])
    Object.assign(found, meaningsIn(variant, operation, path));
  return items === undefined ? found : { ...found, ...meaningsIn(items, operation, `${path}[]`) };
}

/** Removes `additionalProperties: false`, because later versions add fields. */
export function openSchema(schema: unknown): JsonSchema {
  return walk(schema) as JsonSchema;
}

function walk(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(walk);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(
    ([name, inner]) => name !== chinese && !(name === "additionalProperties" && inner === false),
  );
  return Object.fromEntries(entries.map(([name, inner]) => [name, walk(inner)]));
}
