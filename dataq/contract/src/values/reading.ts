import { z } from "zod";
import { type Bilingual, meaning } from "../bilingual.ts";

/** What is wrong with a value, and how to fix it. */
export interface Problem {
  readonly code: string;
  readonly message: string;
  readonly fix: string;
  readonly fixZh: string;
}

export type Reading<T> = { readonly value: T } | { readonly problem: Problem };

export function bad(code: string, message: string, fix: string, fixZh: string): { problem: Problem } {
  return { problem: { code, message, fix, fixZh } };
}

/** JSON Schema of a string. `format` names rules that JSON Schema cannot express, such as a check digit. */
export interface TextSchema {
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly enum?: readonly string[];
}

/**
 * A string parameter that `read` checks and normalises. `schema` describes it to clients: every text that
 * matches it, including `format`, is accepted. More may be accepted, such as spaces around a number.
 */
export function parameter(
  description: Bilingual,
  schema: TextSchema,
  read: (text: string) => Reading<string>,
) {
  return z
    .string()
    .meta({ ...meaning(description), ...schema })
    .transform((text, context) => {
      const reading = read(text);
      if ("value" in reading) return reading.value;
      const { message, ...params } = reading.problem;
      context.issues.push({ code: "custom", input: text, message, params });
      return z.NEVER;
    });
}
