import { errorOf, isObject, parseObject, type RawResponse } from "./answer.ts";
import { APIError } from "./errors.ts";
import {
  type Envelope,
  envelopeFields,
  type OperationName,
  type Operations,
  type Usage,
} from "./operations.ts";
import type { ManyQuery } from "./request.ts";

/**
 * The answer to one query: the envelope as the server wrote it, plus `response` with status, headers and
 * request ID. For an operation that returns one record, the answer also has the record's fields
 * (`company.name`). If the envelope has a field of the same name, read the record's field from `data`.
 */
export type Result<Name extends OperationName> = Answer<Name> &
  (Operations[Name]["data"] extends readonly unknown[]
    ? unknown
    : Readonly<Omit<Operations[Name]["data"], keyof Answer<Name>>>);

export interface Answer<Name extends OperationName> extends Readonly<Envelope> {
  readonly operation: Name;
  readonly data: Operations[Name]["data"];
  /** The summary of a check or a ranking. */
  readonly summary?: Operations[Name]["summary"];
  /** Status, headers and request ID. Not part of the answer's JSON. */
  readonly response: ResponseFacts;
}

export type ResponseFacts = Omit<RawResponse, "text">;

/** A record of an operation. */
export type RecordOf<Name extends OperationName> = Operations[Name]["data"] extends readonly (infer Item)[]
  ? Item
  : Operations[Name]["data"];

export type ParamsOf<Name extends OperationName> = Operations[Name]["params"];

export function readResult<Name extends OperationName>(response: RawResponse): Result<Name> {
  const body = parseObject(response);
  const { data } = body;
  if (typeof data !== "object" || data === null) {
    const { status, headers, requestId, attempts } = response;
    const facts = { status, headers, requestId, attempts };
    throw new APIError("The response has no data.", { ...facts, code: "invalid_response", body });
  }
  hide(body, "response", factsOf(response));
  if (isObject(data)) {
    for (const [name, value] of Object.entries(data)) {
      if (!(name in body) && !envelopeFields.includes(name)) hide(body, name, value);
    }
  }
  return body as unknown as Result<Name>;
}

/** The answer to several queries. */
export interface ManyResult<Queries extends readonly ManyQuery[] = readonly ManyQuery[]> {
  /** For each query, in order: its answer, or the error that it would have thrown alone. */
  readonly results: { [Place in keyof Queries]: Result<Queries[Place]["operation"]> | APIError };
  /** The cost of all queries together. */
  readonly usage: Usage;
  readonly response: ResponseFacts;
}

/** `now` is in milliseconds since 1970. */
export function readMany<Queries extends readonly ManyQuery[]>(
  response: RawResponse,
  now: number,
): ManyResult<Queries> {
  const { data, usage } = parseObject(response);
  const facts = factsOf(response);
  if (!Array.isArray(data))
    throw new APIError("The response has no data.", { ...facts, code: "invalid_response" });
  const results = data.map((item: unknown) => {
    const { status, error } = Object(item) as { status?: unknown; error?: unknown };
    const alone = { ...response, text: JSON.stringify(item) };
    const isFailed = typeof status === "number" && isObject(error);
    return isFailed ? errorOf({ ...alone, status }, now) : readResult(alone);
  });
  return { results, usage, response: facts } as unknown as ManyResult<Queries>;
}

function factsOf({ status, headers, requestId, attempts }: RawResponse): ResponseFacts {
  return { status, headers, requestId, attempts };
}

/** Adds a property that is omitted from JSON, so that the answer prints as it was received. */
function hide(target: object, name: string, value: unknown): void {
  Object.defineProperty(target, name, { value, enumerable: false, configurable: true });
}
