import { LocallmError } from "./errors.ts";

/**
 * JSON text from outside: must be UTF-8, no deeper than `maxJsonDepth`, of at most `maxJsonValues` values, and without
 * the one key that changes an object's prototype when the object is copied. The last value of a repeated key counts.
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
/** Parsing and checking them takes about half a second, during which nobody else is answered. */
export const maxJsonValues = 200_000;

const utf8 = new TextDecoder("utf-8", { fatal: true });
const mayNamePrototype = /__proto__|\\u005f/i;

/** V8's text, less the excerpt of the input that it quotes: a body never comes back in an error. */
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
  let inString = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (inString) {
      if (byte === backslash) at++;
      else if (byte === quote) inString = false;
    } else if (byte === quote) inString = true;
    else if (byte === openBrace || byte === openBracket) {
      if (++depth > maxJsonDepth)
        throw new LocallmError("invalid_json", { reason: `nested deeper than ${maxJsonDepth} levels` });
    } else if (byte === closeBrace || byte === closeBracket) depth--;
    else if (byte === comma && ++values > maxJsonValues)
      throw new LocallmError("invalid_json", { reason: `more than ${maxJsonValues} values` });
  }
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
