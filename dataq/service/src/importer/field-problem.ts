import { expectedOf } from "@dataq/contract";
import type { z } from "zod";
import { type Message, say } from "./message.ts";

/** The first invalid field of a row: its name, its value, and what is expected. */
export function fieldProblem({ issues: [issue] }: z.ZodError, row: unknown): Message {
  if (issue === undefined) return say("row_not_object");
  const field = issue.path.join(".");
  const value = issue.path.reduce<unknown>(
    (here, step) => (here as Record<PropertyKey, unknown> | null | undefined)?.[step],
    row,
  );
  if (value === undefined || value === null || value === "")
    return say("row_field_missing", { field, expected: expectedOf(issue) });
  return say("row_field_wrong", { field, value: shown(value), expected: expectedOf(issue) });
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > longestShown ? `${text.slice(0, longestShown)}…` : text;
}

const longestShown = 60;
