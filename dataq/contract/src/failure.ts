import { type ErrorCode, errors } from "./errors.ts";

/** Details of an error: values for its message, and one entry per invalid parameter. */
export interface FailureDetails {
  readonly [name: string]: unknown;
  readonly details?: readonly ParameterProblem[];
}

export interface ParameterProblem {
  /** Path in the request, such as `params.tax_id`. */
  readonly param: string;
  readonly code: string;
  readonly message: string;
  readonly fix: string;
  /** The fix in Chinese. The Chinese message depends on the code (errors-zh.ts). */
  readonly fixZh?: string;
}

/** The exception of the whole service: a code of the error table with its details, independent of HTTP. */
export class Failure extends Error {
  readonly code: ErrorCode;
  readonly details: FailureDetails;

  constructor(code: ErrorCode, details: FailureDetails = {}, cause?: unknown) {
    super(fill(errors[code].message, details), cause === undefined ? undefined : { cause });
    this.name = "Failure";
    this.code = code;
    this.details = details;
  }
}

/** Makes an error about one field from its path, the code, the message and the fix. */
export function invalid(param: string, code: string, message: string, fix: string, fixZh: string): Failure {
  const details = [{ param, code, message, fix, fixZh }];
  return new Failure("invalid_params", { param, summary: summarise(details), details });
}

/** Joins all problems and their fixes into one sentence. */
export function summarise(details: readonly ParameterProblem[]): string {
  return `${details.map(({ message, fix }) => (fix ? `${message} (${fix})` : message)).join("; ")}.`;
}

/**
 * Fills a text of the error table: `{name}`, or `{name|singular|plural}` for a count with its noun. A detail that is
 * missing stays a placeholder, with the plural.
 */
export function fill(text: string, details: FailureDetails): string {
  return text.replace(placeholder, (_, name: string, one?: string, many?: string) => {
    const value = details[name] ?? `{${name}}`;
    return one === undefined ? String(value) : `${value} ${value === 1 ? one : many}`;
  });
}

/** The names of the details that a text of the error table shows. */
export function placeholdersOf(text: string): string[] {
  return [...text.matchAll(placeholder)].map(([, name]) => name!);
}

const placeholder = /\{(\w+)(?:\|([\w ]+)\|([\w ]+))?\}/g;
