import type { ResponsesItem } from "../../wire/openai/responses.ts";

/** A finished response with everything that a later request needs to continue it. */
export interface KeptResponse {
  readonly response: ResponseObject;
  /** The model's input in order: the input and output of earlier responses, then this request's input. */
  readonly input: readonly ResponsesItem[];
  /**
   * The id of the API key that created it. Only this key and the administrator may read it. Null if the
   * administrator created it, or if no key was required.
   */
  readonly owner: string | null;
}

export interface ResponseObject extends Readonly<Record<string, unknown>> {
  readonly id: string;
  /** A Unix time in seconds. */
  readonly created_at: number;
  readonly output: readonly ResponsesItem[];
}
