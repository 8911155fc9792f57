import { type ErrorCode, errors } from "./errors.ts";

/** What an error says beside its code: values for the message, and one entry for each bad parameter. */
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
  /** The same for readers of Chinese; the message follows from the code (errors-zh.ts). */
  readonly fixZh?: string;
}

/** The one exception that crosses folders: a code of the error table with its details. HTTP is not known here. */
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

/** The refusal of one field: its path, what kind of fault, the fault in a sentence, and what to send. */
export function invalid(param: string, code: string, message: string, fix: string, fixZh: string): Failure {
  const details = [{ param, code, message, fix, fixZh }];
  return new Failure("invalid_params", { param, summary: summarise(details), details });
}

/** All that is wrong, each with what to send, as one sentence. */
export function summarise(details: readonly ParameterProblem[]): string {
  return `${details.map(({ message, fix }) => (fix ? `${message} (${fix})` : message)).join("; ")}.`;
}

/** Puts details into the `{name}` places of a text of the error table. */
export function fill(text: string, details: FailureDetails): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) =>
    details[name] === undefined ? whole : String(details[name]),
  );
}
