import { TemplateError } from "../limits.ts";
import { lex, type Token, type TokenKind } from "./lexer.ts";
import type { Block, GoNode, GoSyntax, Pipe, Term } from "./syntax.ts";

const maxDepth = 200;

/** Parses a template. `isFunction` tells which functions exist. Throws TemplateError with the line. */
export function parseGo(source: string, isFunction: (name: string) => boolean): GoSyntax {
  return new Parser(lex(source), isFunction).parse();
}

type Ending = "end" | "else" | "eof";

class Parser {
  readonly #tokens: readonly Token[];
  readonly #isFunction: (name: string) => boolean;
  readonly #templates = new Map<string, Block>();
  #at = 0;
  #variables = ["$"];
  #loops = 0;
  #depth = 0;

  constructor(tokens: readonly Token[], isFunction: (name: string) => boolean) {
    this.#tokens = tokens;
    this.#isFunction = isFunction;
  }

  parse(): GoSyntax {
    const root: GoNode[] = [];
    while (true) {
      const [block, ending] = this.#block("top");
      root.push(...block);
      if (ending === "eof") return { root, templates: this.#templates };
      throw this.#error(`unexpected {{${ending}}}`);
    }
  }

  #block(place: "top" | "inside"): [Block, Ending] {
    this.#depth += 1;
    if (this.#depth > maxDepth) throw this.#error(`blocks are nested more than ${maxDepth} levels deep`);
    const nodes: GoNode[] = [];
    let ending: Ending | null = null;
    while (ending === null) {
      const token = this.#next();
      if (token.kind === "end") {
        if (place === "inside") throw this.#error("unexpected EOF");
        ending = "eof";
      } else if (token.kind === "text") nodes.push({ kind: "text", text: token.text });
      else {
        const node = this.#action(place);
        if (typeof node === "string") ending = node;
        else if (node !== null) nodes.push(node);
      }
    }
    this.#depth -= 1;
    return [nodes, ending];
  }

  #action(place: "top" | "inside"): GoNode | Ending | null {
    this.#skipSpace();
    const token = this.#peek();
    if (token.kind !== "keyword" || token.text === "nil") {
      const pipe = this.#pipe("close", 1);
      return { kind: "action", pipe, line: token.line };
    }
    this.#next();
    switch (token.text) {
      case "if":
      case "with":
      case "range":
        return this.#control(token.text, token.line);
      case "end":
        this.#expect("close", "end");
        return "end";
      case "else": {
        this.#skipSpace();
        const after = this.#peek();
        if (after.kind === "keyword" && (after.text === "if" || after.text === "with")) return "else";
        this.#expect("close", "else");
        return "else";
      }
      case "break":
      case "continue":
        if (this.#loops === 0) throw this.#error(`{{${token.text}}} outside {{range}}`);
        this.#expect("close", token.text);
        return { kind: token.text };
      case "template": {
        const name = this.#name("template clause");
        this.#skipSpace();
        const pipe = this.#peek().kind === "close" ? null : this.#pipe("close", 1);
        if (pipe === null) this.#next();
        return { kind: "template", name, pipe, line: token.line };
      }
      case "block": {
        const name = this.#name("block clause");
        const pipe = this.#pipe("close", 1);
        this.#define(name);
        return { kind: "template", name, pipe, line: token.line };
      }
      case "define": {
        if (place !== "top") throw this.#error("unexpected {{define}}");
        const name = this.#name("define clause");
        this.#expect("close", "define clause");
        this.#define(name);
        return null;
      }
      default:
        throw this.#error(`unexpected {{${token.text}}}`);
    }
  }

  #control(kind: "if" | "with" | "range", line: number): GoNode {
    const scope = this.#variables.length;
    const pipe = this.#pipe("close", kind === "range" ? 2 : 1);
    if (kind === "range") this.#loops += 1;
    const [body, ending] = this.#block("inside");
    if (kind === "range") this.#loops -= 1;
    const otherwise = ending === "else" ? this.#otherwise(kind) : null;
    this.#variables.length = scope;
    return { kind, pipe, body, otherwise, line };
  }

  #otherwise(kind: "if" | "with" | "range"): Block {
    const token = this.#peek();
    if (token.kind === "keyword") {
      if (token.text !== kind) throw this.#error(`unexpected {{else ${token.text}}} in {{${kind}}}`);
      this.#next();
      this.#depth += 1;
      if (this.#depth > maxDepth) throw this.#error(`blocks are nested more than ${maxDepth} levels deep`);
      const node = this.#control(kind, token.line);
      this.#depth -= 1;
      return [node];
    }
    const [block, ending] = this.#block("inside");
    if (ending !== "end") throw this.#error(`expected {{end}}, found {{${ending}}}`);
    return block;
  }

  #define(name: string): void {
    const [variables, loops] = [this.#variables, this.#loops];
    this.#variables = ["$"];
    this.#loops = 0;
    const [block, ending] = this.#block("inside");
    if (ending !== "end") throw this.#error(`unexpected {{${ending}}} in a definition`);
    this.#variables = variables;
    this.#loops = loops;
    const known = this.#templates.get(name);
    if (known !== undefined && !isEmpty(known) && !isEmpty(block))
      throw this.#error(`template ${JSON.stringify(name)} is defined twice`);
    if (known === undefined || !isEmpty(block)) this.#templates.set(name, block);
  }

  #name(context: string): string {
    this.#skipSpace();
    const token = this.#next();
    if (token.kind !== "string" && token.kind !== "raw-string") throw this.#unexpected(token, context);
    return this.#unquote(token);
  }

  #pipe(end: TokenKind, maxVariables: 1 | 2): Pipe {
    const { variables, declares } = this.#declarations(maxVariables);
    const commands: Term[][] = [];
    while (true) {
      this.#skipSpace();
      const token = this.#peek();
      if (token.kind === end) {
        this.#next();
        break;
      }
      commands.push(this.#command());
    }
    if (commands.length === 0) throw this.#error("missing value");
    for (const [first] of commands.slice(1)) {
      if (first!.kind === "constant" || first!.kind === "dot" || first!.kind === "nil")
        throw this.#error("non executable command in a pipeline");
    }
    return { variables, declares, commands };
  }

  #declarations(max: 1 | 2): { variables: string[]; declares: boolean } {
    const start = this.#at;
    const variables: string[] = [];
    while (true) {
      this.#skipSpace();
      const token = this.#next();
      if (token.kind !== "variable") break;
      variables.push(token.text);
      this.#skipSpace();
      const next = this.#next();
      if (next.kind === "declare" || next.kind === "assign") {
        const declares = next.kind === "declare";
        // Also adds variables assigned with `=`, because Go reports an unknown variable only at run time.
        this.#variables.push(...variables);
        return { variables, declares };
      }
      if (next.kind !== "char" || next.text !== ",") break;
      if (variables.length >= max) throw this.#error("too many declarations");
      this.#skipSpace();
      const after = this.#peek().kind;
      // Go rejects endings such as `range $i, = …`; only another variable may follow.
      if (after !== "variable") throw this.#error("range can only initialize variables");
    }
    if (variables.length > 1) throw this.#error("range can only initialize variables");
    this.#at = start;
    return { variables: [], declares: false };
  }

  #command(): Term[] {
    const terms: Term[] = [];
    while (true) {
      this.#skipSpace();
      const term = this.#operand();
      if (term !== null) terms.push(term);
      const token = this.#next();
      if (token.kind === "space") continue;
      if (token.kind === "close" || token.kind === "right-paren") this.#at -= 1;
      else if (token.kind !== "pipe") throw this.#unexpected(token, "operand");
      if (terms.length === 0) throw this.#error("empty command");
      return terms;
    }
  }

  #operand(): Term | null {
    const term = this.#term();
    if (term === null || this.#peek().kind !== "field") return term;
    const fields: string[] = [];
    while (this.#peek().kind === "field") fields.push(this.#next().text.slice(1));
    switch (term.kind) {
      case "field":
        return { kind: "field", names: [...term.names, ...fields] };
      case "variable":
        return { ...term, fields: [...term.fields, ...fields] };
      case "constant":
      case "nil":
      case "dot":
        throw this.#error("unexpected . after a term");
      default:
        return { kind: "chain", of: term, fields };
    }
  }

  #term(): Term | null {
    const token = this.#next();
    switch (token.kind) {
      case "dot":
        return { kind: "dot" };
      case "field":
        return { kind: "field", names: [token.text.slice(1)] };
      case "variable":
        this.#known(token.text);
        return { kind: "variable", name: token.text, fields: [] };
      case "bool":
        return { kind: "constant", value: token.text === "true" };
      case "string":
      case "raw-string":
        return { kind: "constant", value: this.#unquote(token) };
      case "char-constant":
        return { kind: "constant", value: this.#unquote(token).codePointAt(0) ?? 0 };
      case "number":
        return { kind: "constant", value: this.#number(token) };
      case "identifier":
        if (!this.#isFunction(token.text))
          throw this.#error(`function ${JSON.stringify(token.text)} not defined`);
        return { kind: "function", name: token.text };
      case "left-paren": {
        this.#depth += 1;
        if (this.#depth > maxDepth)
          throw this.#error(`parentheses are nested more than ${maxDepth} levels deep`);
        const pipe = this.#pipe("right-paren", 1);
        this.#depth -= 1;
        return { kind: "pipe", pipe };
      }
      case "keyword":
        if (token.text === "nil") return { kind: "nil" };
        throw this.#unexpected(token, "command");
      default:
        this.#at -= 1;
        return null;
    }
  }

  #number({ text }: Token): number | { float: number } {
    const digits = text.replaceAll("_", "");
    const sign = digits.startsWith("-") ? -1 : 1;
    const bare = digits.replace(/^[-+]/, "");
    if (/^0[xX].*[.pP]/.test(bare)) throw this.#error(`hexadecimal fractions are not supported: ${text}`);
    const isFloat = !/^0[xXoObB]/.test(bare) && /[.eE]/.test(bare);
    // A leading zero alone means octal, as in Go.
    const value = /^0[0-7]+$/.test(bare) ? Number.parseInt(bare, 8) : Number(bare);
    if (bare === "" || !Number.isFinite(value))
      throw this.#error(`bad number syntax: ${JSON.stringify(text)}`);
    if (!isFloat && !Number.isSafeInteger(value)) throw this.#error(`${text} overflows int`);
    return isFloat ? { float: sign * value } : sign * value;
  }

  #unquote({ kind, text }: Token): string {
    if (kind === "raw-string") return text.slice(1, -1).replaceAll("\r", "");
    const inner = text.slice(1, -1);
    const escapes: Record<string, string> = {
      a: "\x07",
      b: "\b",
      f: "\f",
      n: "\n",
      r: "\r",
      t: "\t",
      v: "\v",
    };
    const value = inner.replace(
      /\\(?:([abfnrtv\\'"])|([0-7]{3})|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.?))/gs,
      (_, letter?: string, octal?: string, hex?: string, short?: string, long?: string) => {
        if (letter !== undefined) return escapes[letter] ?? letter;
        const code =
          octal === undefined ? Number.parseInt(hex ?? short ?? long ?? "", 16) : Number.parseInt(octal, 8);
        if (Number.isNaN(code) || code > 0x10ffff) throw this.#error(`invalid escape in ${text}`);
        return String.fromCodePoint(code);
      },
    );
    if (kind === "char-constant" && [...value].length !== 1)
      throw this.#error(`malformed character constant: ${text}`);
    return value;
  }

  #known(name: string): void {
    if (!this.#variables.includes(name)) throw this.#error(`undefined variable ${JSON.stringify(name)}`);
  }

  #expect(kind: TokenKind, context: string): void {
    this.#skipSpace();
    const token = this.#next();
    if (token.kind !== kind) throw this.#unexpected(token, context);
  }

  #skipSpace(): void {
    while (this.#peek().kind === "space") this.#at += 1;
  }

  #peek(): Token {
    return this.#tokens[this.#at]!;
  }

  #next(): Token {
    const token = this.#tokens[this.#at]!;
    if (token.kind !== "end") this.#at += 1;
    return token;
  }

  #unexpected(token: Token, context: string): TemplateError {
    return this.#error(`unexpected ${JSON.stringify(token.text)} in ${context}`);
  }

  #error(problem: string): TemplateError {
    const { line } = this.#tokens[Math.max(0, this.#at - 1)]!;
    return new TemplateError(`line ${line}: ${problem}`);
  }
}

function isEmpty(block: Block): boolean {
  return block.every((node) => node.kind === "text" && node.text.trim() === "");
}
