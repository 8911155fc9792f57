import { z } from "zod";
import { envelopeSchema, errorBody } from "./envelope.ts";
import type { Operation } from "./operation.ts";

export type JsonSchema = Readonly<Record<string, unknown>>;

/** Parameters of an operation as JSON Schema 2020-12; nothing else may be sent. */
export function paramsSchema(operation: Operation): JsonSchema {
  return { ...plain(z.toJSONSchema(operation.params, { io: "input" })), additionalProperties: false };
}

/** A record of an operation as JSON Schema 2020-12. Later versions add fields, so others are allowed. */
export function recordSchema(operation: Operation): JsonSchema {
  return open(plain(z.toJSONSchema(operation.record)));
}

/** The whole answer of an operation. */
export function answerSchema(operation: Operation): JsonSchema {
  return open(plain(z.toJSONSchema(envelopeSchema(operation))));
}

export function errorSchema(): JsonSchema {
  return open(plain(z.toJSONSchema(errorBody)));
}

function plain({ $schema: _, ...schema }: Record<string, unknown>): Record<string, unknown> {
  return schema;
}

/** zod closes objects; answers are open to fields that come later. */
function open(schema: unknown): JsonSchema {
  return walk(schema) as JsonSchema;
}

function walk(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(walk);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(
    ([name, inner]) => !(name === "additionalProperties" && inner === false),
  );
  return Object.fromEntries(entries.map(([name, inner]) => [name, walk(inner)]));
}
