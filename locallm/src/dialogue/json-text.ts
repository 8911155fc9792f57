import { type Cursor, more } from "./cursor.ts";

/** Returns the next character without taking it, or "" at the end of the answer. */
export function* peek(cursor: Cursor): Generator<undefined, string> {
  return (yield* more(cursor)) ? cursor.text[0]! : "";
}

export function* takeSpace(cursor: Cursor): Generator<undefined, string> {
  let space = "";
  while (yield* more(cursor)) {
    const length = cursor.text.length - cursor.text.trimStart().length;
    space += cursor.take(length);
    if (cursor.text !== "") break;
  }
  return space;
}

export interface JsonEnd {
  /** False if the answer ended first, or if the text is not JSON. */
  readonly whole: boolean;
}

/**
 * Takes one JSON value and passes its text on as it arrives. Only counts brackets outside strings. The caller
 * parses the whole value and finds other errors.
 */
export function* takeJson(cursor: Cursor): Generator<{ readonly json: string } | undefined, JsonEnd> {
  const first = yield* peek(cursor);
  if (first === "" || ",:]}".includes(first)) return { whole: false };
  let depth = 0;
  let inString = false;
  let escaped = false;
  const plain = first !== "{" && first !== "[" && first !== '"';
  while (yield* more(cursor)) {
    const { text } = cursor;
    for (let at = 0; at < text.length; at += 1) {
      const char = text[at]!;
      let ends = false;
      if (plain) {
        if (/[\s,:\]}]/.test(char)) {
          yield { json: cursor.take(at) };
          return { whole: true };
        }
      } else if (inString) {
        if (escaped) escaped = false;
        else if (char === "\\") escaped = true;
        else if (char === '"') {
          inString = false;
          ends = depth === 0;
        }
      } else if (char === '"') inString = true;
      else if (char === "{" || char === "[") depth += 1;
      else if (char === "}" || char === "]") {
        depth -= 1;
        ends = depth === 0;
      }
      if (ends) {
        yield { json: cursor.take(at + 1) };
        return { whole: true };
      }
    }
    yield { json: cursor.take(text.length) };
  }
  return { whole: plain };
}

/** Like `takeJson`, but returns the value in one piece. */
export function* takeWholeJson(cursor: Cursor): Generator<undefined, { text: string; whole: boolean }> {
  let text = "";
  const taking = takeJson(cursor);
  while (true) {
    const { value, done } = taking.next();
    if (done) return { text, whole: value.whole };
    if (value === undefined) yield undefined;
    else text += value.json;
  }
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

export function asObject(value: unknown): Readonly<Record<string, unknown>> | null {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null;
}
