import type { Reading } from "../answer-piece.ts";
import type { Calls } from "../calls.ts";
import { takeUpTo } from "../calls.ts";
import type { Cursor } from "../cursor.ts";
import { anyOf, type Rules, upToText } from "../grammar/gbnf.ts";
import { boolean, number } from "../grammar/json-rules.ts";
import type { ToolFormat } from "../tool-format.ts";

/**
 * FunctionGemma: `<start_function_call>call:name{key:<escape>text<escape>,other:1}<end_function_call>`.
 * Source: Google's page "FunctionGemma formatting and best practices".
 */
export const gemma: ToolFormat = {
  name: "gemma",
  markers: ["<start_function_call>"],
  silent: ["<start_function_response>"],
  argumentsRule: gemmaArguments,
  shape: () => ({
    open: "<start_function_call>",
    before: (name) => `call:${name}`,
    after: "<end_function_call>",
    between: "<start_function_call>",
    close: "",
  }),
  *read(cursor, calls, marker) {
    return yield* readGemmaCall(cursor, calls, marker, "<end_function_call>");
  },
};

/**
 * The values in FunctionGemma's calls are not JSON: texts are enclosed in `<escape>` marks. The grammar
 * enforces only that form, not the tool's schema.
 */
function gemmaArguments(rules: Rules): string {
  const text = `"<escape>" ${upToText(rules, "gemma-text", "<escape>")}`;
  const scalar = anyOf([text, number(rules), boolean(rules), '"null"']);
  const list = `"[" (${scalar} ("," ${scalar})*)? "]"`;
  const key = "[A-Za-z_] [A-Za-z0-9_]{0,63}";
  return rules.add(
    "gemma-arguments",
    `"{" (${key} ":" (${scalar} | ${list}) ("," ${key} ":" (${scalar} | ${list}))*)? "}"`,
  );
}

function* readGemmaCall(cursor: Cursor, calls: Calls, marker: string, close: string): Reading<string> {
  const whole = yield* takeUpTo(cursor, close);
  const text = whole?.text ?? cursor.take(cursor.text.length);
  const call = /^\s*call:\s*([\w.-]+)\s*(\{.*)$/s.exec(text);
  const given = call === null ? undefined : new GemmaReader(call[2]!).object();
  if (call === null || given === undefined) return marker + text + (whole === null ? "" : close);
  yield* calls.whole(call[1]!, JSON.stringify(given));
  return "";
}

const quote = "<escape>";

class GemmaReader {
  readonly #text: string;
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Returns undefined if the text is incomplete. */
  object(): Record<string, unknown> | undefined {
    try {
      const value = this.#value();
      return typeof value === "object" && value !== null && !Array.isArray(value)
        ? (value as Record<string, unknown>)
        : undefined;
    } catch (error) {
      if (error instanceof SyntaxError) return undefined;
      throw error;
    }
  }

  #value(): unknown {
    this.#depth += 1;
    if (this.#depth > 64) throw new SyntaxError("too deep");
    const value = this.#skip("{") ? this.#entries() : this.#skip("[") ? this.#items() : this.#scalar();
    this.#depth -= 1;
    return value;
  }

  #entries(): Record<string, unknown> {
    const entries: [string, unknown][] = [];
    while (!this.#skip("}")) {
      const key = this.#skip(quote) ? this.#quoted() : this.#until(/:/g).trim();
      this.#expect(":");
      entries.push([key, this.#value()]);
      if (!this.#skip(",")) {
        this.#expect("}");
        break;
      }
    }
    return Object.fromEntries(entries);
  }

  #items(): unknown[] {
    const items: unknown[] = [];
    while (!this.#skip("]")) {
      items.push(this.#value());
      if (!this.#skip(",")) {
        this.#expect("]");
        break;
      }
    }
    return items;
  }

  #scalar(): unknown {
    if (this.#skip(quote)) return this.#quoted();
    const text = this.#until(/[,}\]]/g).trim();
    try {
      return JSON.parse(text) as unknown;
    } catch {
      return text;
    }
  }

  #quoted(): string {
    const end = this.#text.indexOf(quote, this.#at);
    if (end === -1) throw new SyntaxError("unterminated text");
    const text = this.#text.slice(this.#at, end);
    this.#at = end + quote.length;
    return text;
  }

  #until(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text);
    if (found === null) throw new SyntaxError("unexpected end");
    const text = this.#text.slice(this.#at, found.index);
    this.#at = found.index;
    return text;
  }

  #skip(mark: string): boolean {
    while (/\s/.test(this.#text[this.#at] ?? "")) this.#at += 1;
    if (!this.#text.startsWith(mark, this.#at)) return false;
    this.#at += mark.length;
    return true;
  }

  #expect(mark: string): void {
    if (!this.#skip(mark)) throw new SyntaxError(`expected ${mark}`);
  }
}
