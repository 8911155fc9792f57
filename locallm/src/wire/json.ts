import { LocallmError } from "./errors.ts";

/**
 * Parses untrusted JSON. It must be UTF-8, nested at most `maxJsonDepth` levels, hold at most `maxJsonValues` values,
 * and not contain the key `__proto__`, which would change the prototype of copies. Of repeated keys the last one wins.
 */
export function parseJson(bytes: Uint8Array): unknown {
  checkSize(bytes);
  let value: unknown;
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch (cause) {
    throw new LocallmError("invalid_json", { reason: "the text is not valid UTF-8" }, { cause });
  }
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new LocallmError("invalid_json", { reason: reasonOf(cause) }, { cause });
  }
  if (mayNamePrototype.test(text)) refusePrototype(value);
  return value;
}

export const maxJsonDepth = 128;
/** Parsing and checking this many blocks the server for about half a second. An object or an array counts as three. */
export const maxJsonValues = 200_000;

const utf8 = new TextDecoder("utf-8", { fatal: true });
const mayNamePrototype = /__proto__|\\u005f/i;

/** V8's message without its excerpt of the input, so that errors never echo a body. */
function reasonOf(cause: unknown): string {
  const message = cause instanceof Error ? cause.message : String(cause);
  const place = /at position \d+( \(line \d+ column \d+\))?/.exec(message);
  if (message.includes("end of JSON input") || message.includes("Unterminated"))
    return "the text ends too early";
  return place ? `unexpected text ${place[0]}` : "unexpected text";
}

function checkSize(bytes: Uint8Array): void {
  let depth = 0;
  let values = 1;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === quote) at = endOfString(bytes, at);
    else if (byte === openBrace || byte === openBracket) {
      if (++depth > maxJsonDepth)
        throw new LocallmError("invalid_json", { reason: `nested deeper than ${maxJsonDepth} levels` });
      values += 2;
    } else if (byte === closeBrace || byte === closeBracket) depth--;
    else if (byte === comma) values++;
    if (values > maxJsonValues)
      throw new LocallmError("invalid_json", {
        reason: `more than ${maxJsonValues} values; an object or an array counts as three`,
      });
  }
}

/** The position of the quote that closes the string opened at `at`. Native search is ten times as fast as a loop. */
function endOfString(bytes: Uint8Array, at: number): number {
  for (let end = bytes.indexOf(quote, at + 1); end >= 0; end = bytes.indexOf(quote, end + 1)) {
    let escapes = 0;
    while (bytes[end - 1 - escapes] === backslash) escapes++;
    if (escapes % 2 === 0) return end;
  }
  return bytes.length;
}

function refusePrototype(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  if (Object.hasOwn(value, "__proto__"))
    throw new LocallmError("invalid_json", { reason: 'the key "__proto__" is not allowed' });
  for (const child of Object.values(value)) refusePrototype(child);
}

const quote = 0x22;
const comma = 0x2c;
const backslash = 0x5c;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;
