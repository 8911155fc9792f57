import type { Reading } from "../answer-piece.ts";
import type { Calls } from "../calls.ts";
import { type Cursor, more } from "../cursor.ts";
import { asObject } from "../json-text.ts";

/**
 * Reads `[name(key=value, …), …]`, Python calls with keyword arguments that are literals. Reads the whole
 * text at once, because other lists begin the same way. Returns any other text.
 */
export function* readPythonCalls(cursor: Cursor, calls: Calls): Reading<string> {
  // Waits for enough text to see whether a list of calls begins.
  const names = calls.tools.map((tool) => tool.function.name);
  while (yield* more(cursor)) {
    const begun = cursor.text.slice(1).trimStart();
    const decided = names.some((name) => begun.startsWith(`${name}(`));
    if (decided) break;
    if (cursor.ended || !names.some((name) => `${name}(`.startsWith(begun))) return "";
    yield undefined;
  }
  let raw = "";
  while (true) {
    raw += cursor.take(cursor.text.length);
    const end = closingBracket(raw);
    if (end !== -1) {
      cursor.text = raw.slice(end + 1) + cursor.text;
      const text = raw.slice(0, end + 1);
      const read = new PythonReader(text).calls();
      if (read === null) return text;
      for (const call of read) yield* calls.whole(call.name, JSON.stringify(call.given));
      return "";
    }
    if (cursor.ended) return raw;
    yield undefined;
  }
}

function closingBracket(text: string): number {
  let depth = 0;
  let quote = "";
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at]!;
    if (quote !== "") {
      if (char === "\\") at += 1;
      else if (char === quote) quote = "";
    } else if (char === '"' || char === "'") quote = char;
    else if ("([{".includes(char)) depth += 1;
    else if (")]}".includes(char)) {
      depth -= 1;
      if (depth === 0) return at;
    }
  }
  return -1;
}

class PythonReader {
  readonly #text: string;
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Returns null if the text is not a list of calls. */
  calls(): { name: string; given: Record<string, unknown> }[] | null {
    const calls: { name: string; given: Record<string, unknown> }[] = [];
    try {
      this.#expect("[");
      while (!this.#skip("]")) {
        const name = this.#match(/[A-Za-z_][\w.-]*/y);
        this.#expect("(");
        const given: Record<string, unknown> = {};
        while (!this.#skip(")")) {
          const key = this.#match(/[A-Za-z_]\w*/y);
          this.#expect("=");
          Object.defineProperty(given, key, { value: this.#value(), enumerable: true });
          if (!this.#skip(",")) {
            this.#expect(")");
            break;
          }
        }
        calls.push({ name, given });
        if (!this.#skip(",")) {
          this.#expect("]");
          break;
        }
      }
      return asObject(calls[0]) === null ? null : calls;
    } catch (error) {
      if (error instanceof SyntaxError) return null;
      throw error;
    }
  }

  #value(): unknown {
    this.#depth += 1;
    if (this.#depth > 64) throw new SyntaxError("too deep");
    try {
      return this.#literal();
    } finally {
      this.#depth -= 1;
    }
  }

  #literal(): unknown {
    this.#space();
    const char = this.#text[this.#at];
    if (char === '"' || char === "'") return this.#string(char);
    if (this.#skip("[")) return this.#list("]");
    if (this.#skip("(")) return this.#list(")");
    if (this.#skip("{")) {
      const entries: [string, unknown][] = [];
      while (!this.#skip("}")) {
        const key = String(this.#value());
        this.#expect(":");
        entries.push([key, this.#value()]);
        if (!this.#skip(",")) {
          this.#expect("}");
          break;
        }
      }
      return Object.fromEntries(entries);
    }
    const word = this.#match(/[-+]?[\w.]+(?:[eE][-+]?\d+)?/y);
    const words: Record<string, unknown> = {
      True: true,
      true: true,
      False: false,
      false: false,
      None: null,
      null: null,
    };
    if (Object.hasOwn(words, word)) return words[word];
    const number = Number(word.replaceAll("_", ""));
    if (!Number.isFinite(number)) throw new SyntaxError(`not a literal: ${word}`);
    return number;
  }

  #list(close: string): unknown[] {
    const items: unknown[] = [];
    while (!this.#skip(close)) {
      items.push(this.#value());
      if (!this.#skip(",")) {
        this.#expect(close);
        break;
      }
    }
    return items;
  }

  #string(quote: string): string {
    let text = "";
    const escapes: Record<string, string> = { n: "\n", t: "\t", r: "\r", b: "\b", f: "\f", "0": "\0" };
    for (this.#at += 1; this.#at < this.#text.length; this.#at += 1) {
      const char = this.#text[this.#at]!;
      if (char === quote) {
        this.#at += 1;
        return text;
      }
      if (char !== "\\") text += char;
      else {
        this.#at += 1;
        const next = this.#text[this.#at] ?? "";
        const code = next === "u" ? /^[0-9a-fA-F]{4}/.exec(this.#text.slice(this.#at + 1))?.[0] : undefined;
        if (code !== undefined) {
          text += String.fromCharCode(Number.parseInt(code, 16));
          this.#at += 4;
        } else text += escapes[next] ?? next;
      }
    }
    throw new SyntaxError("unterminated string");
  }

  #match(pattern: RegExp): string {
    this.#space();
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found === undefined) throw new SyntaxError("unexpected text");
    this.#at += found.length;
    return found;
  }

  #skip(char: string): boolean {
    this.#space();
    if (this.#text[this.#at] !== char) return false;
    this.#at += 1;
    return true;
  }

  #expect(char: string): void {
    if (!this.#skip(char)) throw new SyntaxError(`expected ${char}`);
  }

  #space(): void {
    while (/\s/.test(this.#text[this.#at] ?? "")) this.#at += 1;
  }
}
