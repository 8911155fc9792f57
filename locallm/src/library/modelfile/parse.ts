import { LocallmError } from "../../wire/errors.ts";
import { type Instruction, jsonMark, messageRoles, type TextKind, textKinds } from "./instruction.ts";

export const modelfileLimitBytes = 16 * 1024 * 1024;

/** Parses a Modelfile in UTF-8, or UTF-16 with a byte order mark. Throws `invalid_modelfile` with the line number. */
export function parseModelfile(bytes: Uint8Array): Instruction[] {
  if (bytes.length > modelfileLimitBytes)
    throw invalid(1, `the Modelfile is larger than ${modelfileLimitBytes} bytes`);
  const instructions = [...readInstructions(decode(bytes))];
  if (!instructions.some(({ kind }) => kind === "from")) {
    throw new LocallmError("invalid_modelfile", { reason: "no FROM line" });
  }
  return instructions;
}

function* readInstructions(text: string): Generator<Instruction> {
  const lines = new Lines(text);
  for (let line = lines.next(); line !== null; line = lines.next()) {
    const content = trimStart(line);
    if (content === "" || content.startsWith("#")) continue;
    const number = lines.number;
    const { word, rest } = firstWord(content);
    const kind = word.toLowerCase();
    if (isTextKind(kind)) yield { kind, value: readValue(rest, lines) };
    else if (kind === "from") yield { kind, value: readValue(rest, lines), line: number };
    else if (kind === "parameter" || kind === "remote") yield readNamed(kind, rest, lines);
    else if (kind === "message") yield readMessage(rest, lines);
    else {
      const known = ["from", ...textKinds, "parameter", "message", "remote"].join(", ");
      throw invalid(number, `command must be one of ${known}`);
    }
  }
}

function readNamed(kind: "parameter" | "remote", rest: string, lines: Lines): Instruction {
  const line = lines.number;
  const { word, rest: value } = firstWord(rest);
  if (word === "" || value === "") throw invalid(line, `${kind.toUpperCase()} needs a name and a value`);
  return { kind, name: word.toLowerCase(), value: readValue(value, lines), line };
}

function readMessage(rest: string, lines: Lines): Instruction {
  const { word, rest: value } = firstWord(rest);
  const role = messageRoles.find((one) => one === word.toLowerCase());
  if (role === undefined)
    throw invalid(lines.number, `message role must be one of ${messageRoles.join(", ")}`);
  return { kind: "message", role, value: readValue(value, lines) };
}

/** Reads a value that starts on the instruction's line. A quoted value ends at the first line that ends with its quote. */
function readValue(rest: string, lines: Lines): string {
  const begin = lines.number;
  if (rest.startsWith(jsonMark)) return readJson(rest.slice(jsonMark.length), begin);
  const quote = ['"""', '"'].find((one) => rest.startsWith(one));
  if (quote === undefined) {
    const value = trimEnd(rest);
    if (value === "") throw invalid(begin, "the value is missing");
    return value;
  }
  // The opening quote must not count as the closing one: `"""` alone opens a text.
  const first = trimEnd(rest);
  if (first.length >= 2 * quote.length && first.endsWith(quote))
    return first.slice(quote.length, -quote.length);
  const parts = [rest];
  for (let line = lines.next(); line !== null; line = lines.next()) {
    const last = trimEnd(line);
    if (last.endsWith(quote)) return [...parts, last].join("\n").slice(quote.length, -quote.length);
    parts.push(line);
  }
  throw invalid(begin, `the opening ${quote} is not closed`);
}

function readJson(text: string, line: number): string {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "string") return value;
  } catch {}
  throw invalid(line, `${jsonMark.trim()} needs a JSON string`);
}

/** Lines end with LF or CRLF; a CRLF inside quotes is kept. */
class Lines {
  number = 0;
  #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  next(): string | null {
    if (this.#at > this.#text.length) return null;
    const end = this.#text.indexOf("\n", this.#at);
    const line = this.#text.slice(this.#at, end < 0 ? undefined : end);
    this.#at = end < 0 ? this.#text.length + 1 : end + 1;
    this.number += 1;
    return line;
  }
}

function firstWord(text: string): { word: string; rest: string } {
  const end = text.search(/[ \t\r\f\v]/);
  return end < 0 ? { word: text, rest: "" } : { word: text.slice(0, end), rest: trimStart(text.slice(end)) };
}

function isTextKind(kind: string): kind is TextKind {
  return (textKinds as readonly string[]).includes(kind);
}

/** Trims only ASCII whitespace, so that text may start with a no-break space. */
function trimStart(text: string): string {
  return text.replace(/^[ \t\r\f\v]+/, "");
}

/** Does not use a regular expression, because that takes quadratic time on long runs of blanks. */
function trimEnd(text: string): string {
  let end = text.length;
  while (end > 0 && " \t\r\f\v".includes(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}

function decode(bytes: Uint8Array): string {
  const encoding =
    bytes[0] === 0xff && bytes[1] === 0xfe
      ? "utf-16le"
      : bytes[0] === 0xfe && bytes[1] === 0xff
        ? "utf-16be"
        : "utf-8";
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new LocallmError("invalid_modelfile", { reason: `the text is not valid ${encoding}` }, { cause });
  }
}

export function invalid(line: number, reason: string): LocallmError {
  return new LocallmError("invalid_modelfile", { reason: `(line ${line}): ${reason}` });
}
