import { TemplateError } from "../limits.ts";

/** Tokens of Go's text/template, by the rules of its `parse` package. */
export type TokenKind =
  | "text"
  | "open"
  | "close"
  | "space"
  | "assign"
  | "declare"
  | "pipe"
  | "left-paren"
  | "right-paren"
  | "char"
  | "string"
  | "raw-string"
  | "char-constant"
  | "number"
  | "bool"
  | "dot"
  | "field"
  | "variable"
  | "identifier"
  | "keyword"
  | "end";

export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
  readonly line: number;
}

const keywords = new Set("block break continue define else end if nil range template with".split(" "));
const space = " \t\r\n";

/** Runs in time linear to the source's length. Throws TemplateError. */
export function lex(source: string): Token[] {
  return new Lexer(source).all();
}

class Lexer {
  readonly #source: string;
  readonly #tokens: Token[] = [];
  #at = 0;
  #line = 1;

  constructor(source: string) {
    this.#source = source;
  }

  all(): Token[] {
    while (this.#at < this.#source.length) this.#text();
    this.#emit("end", "");
    return this.#tokens;
  }

  #text(): void {
    const open = this.#source.indexOf("{{", this.#at);
    const end = open === -1 ? this.#source.length : open;
    let text = this.#source.slice(this.#at, end);
    if (open !== -1 && this.#trimsLeft(open + 2)) text = trimEndSpace(text);
    if (text !== "") this.#emit("text", text);
    this.#move(end);
    if (open === -1) return;
    const marker = this.#trimsLeft(open + 2) ? 2 : 0;
    if (this.#source.startsWith("/*", open + 2 + marker)) this.#comment(open + 2 + marker);
    else {
      this.#emit("open", "{{");
      this.#move(open + 2 + marker);
      this.#action();
    }
  }

  #comment(start: number): void {
    const end = this.#source.indexOf("*/", start + 2);
    if (end === -1) throw this.#error("unclosed comment");
    const close = this.#closeAt(end + 2);
    if (close === null) throw this.#error("comment ends before closing delimiter");
    this.#move(end + 2);
    this.#leave(close);
  }

  #action(): void {
    let depth = 0;
    while (true) {
      const close = this.#closeAt(this.#at);
      if (close !== null) {
        if (depth > 0) throw this.#error("unclosed left paren");
        this.#emit("close", "}}");
        this.#leave(close);
        return;
      }
      const char = this.#source[this.#at];
      if (char === undefined) throw this.#error("unclosed action");
      if (char === "(") depth += 1;
      if (char === ")") {
        depth -= 1;
        if (depth < 0) throw this.#error("unexpected right paren");
      }
      this.#insideAction(char);
    }
  }

  #insideAction(char: string): void {
    const rest = () => this.#source.slice(this.#at, this.#at + 2);
    if (space.includes(char)) {
      let end = this.#at;
      while (end < this.#source.length && space.includes(this.#source[end]!)) end += 1;
      // The last space belongs to a closing ` -}}`.
      if (this.#source.startsWith("-}}", end)) end -= 1;
      if (end > this.#at) this.#take("space", end);
    } else if (rest() === ":=") this.#take("declare", this.#at + 2);
    else if (char === ":") throw this.#error("expected :=");
    else if (char === "=") this.#take("assign", this.#at + 1);
    else if (char === "|") this.#take("pipe", this.#at + 1);
    else if (char === "(") this.#take("left-paren", this.#at + 1);
    else if (char === ")") this.#take("right-paren", this.#at + 1);
    else if (char === '"') this.#take("string", this.#quoted('"'));
    else if (char === "'") this.#take("char-constant", this.#quoted("'"));
    else if (char === "`") {
      const end = this.#source.indexOf("`", this.#at + 1);
      if (end === -1) throw this.#error("unterminated raw quoted string");
      this.#take("raw-string", end + 1);
    } else if (char === "$") this.#word("variable", this.#at + 1);
    else if (char === "." && !isDigit(this.#source[this.#at + 1])) this.#word("field", this.#at + 1);
    else if (/[-+.0-9]/.test(char)) this.#number();
    else if (isWordChar(char)) this.#word("identifier", this.#at);
    else if (char >= " " && char < "\x7f") this.#take("char", this.#at + 1);
    else throw this.#error(`unrecognized character in action: ${JSON.stringify(char)}`);
  }

  #word(kind: "variable" | "field" | "identifier", start: number): void {
    let end = start;
    while (end < this.#source.length && isWordChar(this.#source[end]!)) end += 1;
    const next = this.#source[end];
    const ends = next === undefined || `${space}.,|:)(`.includes(next) || this.#source.startsWith("}}", end);
    if (!ends) throw this.#error(`bad character ${JSON.stringify(next)}`);
    const text = this.#source.slice(this.#at, end);
    if (kind === "field" && end === start) this.#take("dot", end);
    else if (kind !== "identifier") this.#take(kind, end);
    else if (keywords.has(text)) this.#take("keyword", end);
    else this.#take(text === "true" || text === "false" ? "bool" : "identifier", end);
  }

  #number(): void {
    const pattern =
      /[-+]?(?:0[xX][0-9a-fA-F_]*(?:\.[0-9a-fA-F_]*)?(?:[pP][-+]?[0-9_]*)?|0[oO][0-7_]*|0[bB][01_]*|[0-9_]*(?:\.[0-9_]*)?(?:[eE][-+]?[0-9_]*)?)/y;
    pattern.lastIndex = this.#at;
    const text = pattern.exec(this.#source)?.[0] ?? "";
    const end = this.#at + text.length;
    if (text === "" || isWordChar(this.#source[end] ?? ""))
      throw this.#error(`bad number syntax: ${JSON.stringify(text)}`);
    this.#take("number", end);
  }

  #quoted(quote: string): number {
    for (let at = this.#at + 1; at < this.#source.length; at += 1) {
      const char = this.#source[at];
      if (char === "\n") break;
      if (char === "\\") at += 1;
      else if (char === quote) return at + 1;
    }
    throw this.#error(quote === '"' ? "unterminated quoted string" : "unterminated character constant");
  }

  #trimsLeft(at: number): boolean {
    return this.#source[at] === "-" && space.includes(this.#source[at + 1] ?? "x");
  }

  /**
   * Returns the end of an action that closes here, and whether the text after it is trimmed. Returns null if
   * none closes here.
   */
  #closeAt(at: number): { end: number; trims: boolean } | null {
    if (this.#source.startsWith("}}", at)) return { end: at + 2, trims: false };
    if (space.includes(this.#source[at] ?? "x") && this.#source.startsWith("-}}", at + 1))
      return { end: at + 4, trims: true };
    return null;
  }

  #leave({ end, trims }: { end: number; trims: boolean }): void {
    let next = end;
    if (trims) while (next < this.#source.length && space.includes(this.#source[next]!)) next += 1;
    this.#move(next);
  }

  #take(kind: TokenKind, end: number): void {
    this.#emit(kind, this.#source.slice(this.#at, end));
    this.#move(end);
  }

  #emit(kind: TokenKind, text: string): void {
    this.#tokens.push({ kind, text, line: this.#line });
  }

  #move(to: number): void {
    for (let at = this.#at; at < to; at += 1) if (this.#source[at] === "\n") this.#line += 1;
    this.#at = to;
  }

  #error(problem: string): TemplateError {
    return new TemplateError(`line ${this.#line}: ${problem}`);
  }
}

/** Removes only the four characters that Go trims. JavaScript's own trim removes more. */
function trimEndSpace(text: string): string {
  let end = text.length;
  while (end > 0 && space.includes(text[end - 1]!)) end -= 1;
  return text.slice(0, end);
}

function isDigit(char: string | undefined): boolean {
  return char !== undefined && char >= "0" && char <= "9";
}

function isWordChar(char: string): boolean {
  return /^[\p{L}\p{Nd}_\ud800-\udfff]$/u.test(char);
}
