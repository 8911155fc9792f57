import { z } from "zod";
import { type Bilingual, meaning } from "../bilingual.ts";

/** What is wrong with a value and what would be right. */
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

/** A string parameter whose reader checks it and brings it into one form. */
export function parameter(description: Bilingual, read: (text: string) => Reading<string>) {
  return z
    .string()
    .meta(meaning(description))
    .transform((text, context) => {
      const reading = read(text);
      if ("value" in reading) return reading.value;
      const { message, ...params } = reading.problem;
      context.issues.push({ code: "custom", input: text, message, params });
      return z.NEVER;
    });
}
