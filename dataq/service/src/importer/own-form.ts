import { findOperation, type Operation } from "@dataq/contract";
import { z } from "zod";
import { fieldProblem } from "./field-problem.ts";
import { type Message, say } from "./message.ts";
import type { Mapped } from "./target.ts";

/**
 * Reads a row whose columns have the field names of the operation's records. Nullable fields may be missing. Text from
 * CSV is converted to numbers, lists and objects as the record needs.
 */
export function ownForm(operationName: string, idOf: (record: Record<string, unknown>) => unknown) {
  const shape = shapeOf(operationName);
  const schema = z.object(shape);
  return (fields: Readonly<Record<string, unknown>>): Mapped => {
    const draft: Record<string, unknown> = {};
    for (const [name, field] of Object.entries(shape)) draft[name] = fitted(fields[name], field as z.ZodType);
    draft["id"] ??= String(idOf(draft) ?? "");
    const parsed = schema.safeParse(draft);
    if (!parsed.success) return { problem: fieldProblem(parsed.error, draft) };
    if (parsed.data["id"] === "") return { problem: say("row_without_id") };
    return { record: parsed.data as { id: string } };
  };
}

/** The converted value of one field, or its problem. */
export interface FieldOutcome {
  readonly field: string;
  readonly value: unknown;
  readonly problem: Message | null;
}

/** Converts and checks every field on its own, for an operator who writes a mapping. */
export function fieldsInOwnForm(
  operationName: string,
  fields: Readonly<Record<string, unknown>>,
): FieldOutcome[] {
  return Object.entries(shapeOf(operationName)).map(([field, schema]) => {
    const value = field === "id" ? (fields["id"] ?? null) : fitted(fields[field], schema as z.ZodType);
    const parsed =
      field === "id" ? null : z.object({ [field]: schema as z.ZodType }).safeParse({ [field]: value });
    const problem = parsed?.error === undefined ? null : fieldProblem(parsed.error, { [field]: value });
    return { field, value: value ?? null, problem };
  });
}

/** The fields of a record, except those that the service adds. */
function shapeOf(operationName: string): z.ZodRawShape {
  const { record } = findOperation(operationName) as Operation;
  const { source: _source, highlights: _highlights, score: _score, ...shape } = record.shape;
  return shape;
}

/** Whether a row has at least these fields. */
export function hasFields(fields: Readonly<Record<string, unknown>>, ...names: string[]): boolean {
  return names.every((name) => fields[name] !== undefined);
}

function fitted(given: unknown, schema: z.ZodType): unknown {
  const value = filledInside(given, schema);
  if (value === undefined || value === "" || value === null) {
    if (schema.safeParse(null).success) return null;
    if (schema.safeParse([]).success) return [];
    return value === null ? undefined : value;
  }
  if (typeof value !== "string" || schema.safeParse(value).success) return value;
  for (const guess of [
    value.trim(),
    Number(value),
    value === "true" ? true : value === "false" ? false : undefined,
    json(value),
  ]) {
    if (guess !== undefined && schema.safeParse(guess).success) return guess;
  }
  return value;
}

/** Nullable fields inside objects and lists may also be missing. */
function filledInside(value: unknown, schema: z.ZodType): unknown {
  const inner = schema instanceof z.ZodNullable ? (schema.unwrap() as z.ZodType) : schema;
  if (inner instanceof z.ZodArray && Array.isArray(value)) {
    return value.map((item) => filledInside(item, inner.element as z.ZodType));
  }
  if (!(inner instanceof z.ZodObject) || typeof value !== "object" || value === null) return value;
  const given = value as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(inner.shape).map(([name, field]) => [name, fitted(given[name], field as z.ZodType)]),
  );
}

function json(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
