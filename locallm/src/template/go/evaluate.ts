import { TemplateError, templateLimits } from "../limits.ts";
import { printed } from "./format.ts";
import type { GoFunction } from "./functions.ts";
import type { Block, GoNode, GoSyntax, Pipe, Term } from "./syntax.ts";
import { GoFloat, GoStruct, type GoValue, isTrue, sortedKeys, typeName } from "./value.ts";

const maxTemplateDepth = 100;

/**
 * Runs a template on its data. Throws TemplateError. Every node, call and character counts towards the
 * limits.
 */
export function evaluateGo(
  syntax: GoSyntax,
  functions: ReadonlyMap<string, GoFunction>,
  data: GoValue,
  inputChars: number,
): string {
  const run = new Run(
    syntax,
    functions,
    templateLimits.valueChars + inputChars * templateLimits.valueCharsPerInputChar,
  );
  run.block(syntax.root, data);
  return run.output.join("");
}

type Flow = "next" | "break" | "continue";

/** Means that the pipeline passes no value. */
const missing = Symbol("missing");

class Run {
  readonly output: string[] = [];
  readonly #syntax: GoSyntax;
  readonly #functions: ReadonlyMap<string, GoFunction>;
  readonly #maximum: number;
  #written = 0;
  #steps = 0;
  #depth = 0;
  #variables: { name: string; value: GoValue }[] = [];

  constructor(syntax: GoSyntax, functions: ReadonlyMap<string, GoFunction>, maximum: number) {
    this.#syntax = syntax;
    this.#functions = functions;
    this.#maximum = maximum;
  }

  block(block: Block, data: GoValue): void {
    const outer = this.#variables;
    this.#variables = [{ name: "$", value: data }];
    this.#walk(block, data);
    this.#variables = outer;
  }

  #walk(block: Block, dot: GoValue): Flow {
    for (const node of block) {
      const flow = this.#node(node, dot);
      if (flow !== "next") return flow;
    }
    return "next";
  }

  #node(node: GoNode, dot: GoValue): Flow {
    this.#step(1);
    switch (node.kind) {
      case "text":
        this.#write(node.text);
        return "next";
      case "action": {
        const value = this.#pipe(node.pipe, dot);
        // Ollama's templates rely on this: a missing value prints nothing.
        if (node.pipe.variables.length === 0 && value !== null) this.#write(this.#printed(value));
        return "next";
      }
      case "break":
      case "continue":
        return node.kind;
      case "template":
        this.#template(node.name, node.pipe === null ? null : this.#pipe(node.pipe, dot));
        return "next";
      case "range":
        return this.#range(node, dot);
      default: {
        const mark = this.#variables.length;
        const value = this.#pipe(node.pipe, dot);
        const flow = isTrue(value)
          ? this.#walk(node.body, node.kind === "with" ? value : dot)
          : this.#walk(node.otherwise ?? [], dot);
        this.#variables.length = mark;
        return flow;
      }
    }
  }

  #template(name: string, data: GoValue): void {
    const block = this.#syntax.templates.get(name);
    if (block === undefined) throw new TemplateError(`template ${JSON.stringify(name)} not defined`);
    this.#depth += 1;
    if (this.#depth > maxTemplateDepth)
      throw new TemplateError(`calls templates over ${maxTemplateDepth} deep`);
    this.block(block, data);
    this.#depth -= 1;
  }

  #range(node: GoNode & { kind: "range" | "if" | "with" }, dot: GoValue): Flow {
    const mark = this.#variables.length;
    const value = this.#pipe(node.pipe, dot);
    const names = node.pipe.variables;
    let turns = 0;
    for (const [key, item] of this.#items(value, names.length)) {
      turns += 1;
      this.#step(1);
      const inner = this.#variables.length;
      if (names.length > 0) this.#bind(node.pipe, names.length > 1 ? [key, item] : [item]);
      const flow = this.#walk(node.body, item);
      this.#variables.length = inner;
      if (flow === "break") break;
    }
    const flow = turns === 0 ? this.#walk(node.otherwise ?? [], dot) : "next";
    this.#variables.length = mark;
    return flow;
  }

  *#items(value: GoValue, variables: number): Generator<[GoValue, GoValue]> {
    if (value === null) return;
    if (typeof value === "number") {
      if (variables > 1) throw new TemplateError(`can't use ${value} to iterate over more than one variable`);
      for (let at = 0; at < value; at += 1) yield [null, at];
    } else if (value instanceof Map) for (const key of sortedKeys(value)) yield [key, value.get(key) ?? null];
    else if (Array.isArray(value)) yield* (value as readonly GoValue[]).entries();
    else throw new TemplateError(`range can't iterate over a ${typeName(value)}`);
  }

  #pipe(pipe: Pipe, dot: GoValue): GoValue {
    let value: GoValue | typeof missing = missing;
    for (const command of pipe.commands) value = this.#command(command, dot, value);
    // `range` assigns its variables in each iteration.
    const result = value as GoValue;
    if (pipe.variables.length === 1) this.#bind(pipe, [result]);
    return result;
  }

  #bind(pipe: Pipe, values: readonly GoValue[]): void {
    for (const [index, name] of pipe.variables.entries()) {
      const value = values[index]!;
      if (pipe.declares) this.#variables.push({ name, value });
      else this.#variable(name).value = value;
    }
  }

  #variable(name: string): { value: GoValue } {
    const found = this.#variables.findLast((variable) => variable.name === name);
    if (found === undefined) throw new TemplateError(`undefined variable: ${name}`);
    return found;
  }

  #command(terms: readonly Term[], dot: GoValue, piped: GoValue | typeof missing): GoValue {
    const [first, ...args] = terms as [Term, ...Term[]];
    if (first.kind === "function") return this.#call(first.name, args, dot, piped);
    if (args.length > 0 || piped !== missing) throw new TemplateError("can't give argument to non-function");
    if (first.kind === "nil") throw new TemplateError("nil is not a command");
    return this.#term(first, dot);
  }

  #term(term: Term, dot: GoValue): GoValue {
    this.#step(1);
    switch (term.kind) {
      case "dot":
        return dot;
      case "nil":
        return null;
      case "constant":
        return typeof term.value === "object" ? new GoFloat(term.value.float) : term.value;
      case "field":
        return this.#fields(dot, term.names);
      case "variable":
        return this.#fields(this.#variable(term.name).value, term.fields);
      case "function":
        return this.#call(term.name, [], dot, missing);
      case "pipe":
        return this.#pipe(term.pipe, dot);
      case "chain":
        return this.#fields(this.#term(term.of, dot), term.fields);
    }
  }

  #fields(value: GoValue, names: readonly string[]): GoValue {
    let current = value;
    for (const name of names) {
      if (current === null && current === value) return null;
      if (current instanceof Map) current = current.get(name) ?? null;
      else if (current instanceof GoStruct && current.fields.has(name)) current = current.fields.get(name)!;
      else throw new TemplateError(`can't evaluate field ${name} in type ${typeName(current)}`);
    }
    return current;
  }

  #call(name: string, args: readonly Term[], dot: GoValue, piped: GoValue | typeof missing): GoValue {
    if (name === "and" || name === "or") return this.#logic(name, args, dot, piped);
    const called = this.#functions.get(name);
    if (called === undefined) throw new TemplateError(`function ${JSON.stringify(name)} not defined`);
    const values = args.map((arg) => this.#term(arg, dot));
    if (piped !== missing) values.push(piped);
    if (values.length < called.least || values.length > called.most)
      throw new TemplateError(`wrong number of args for ${name}: got ${values.length}`);
    for (const value of values) this.#step(this.#sizeOf(value) >>> 10);
    const result = called.call(values);
    this.#step(this.#sizeOf(result) >>> 7);
    if (this.#sizeOf(result) > this.#maximum) throw this.#tooLong();
    return result;
  }

  #logic(name: "and" | "or", args: readonly Term[], dot: GoValue, piped: GoValue | typeof missing): GoValue {
    if (args.length === 0 && piped === missing)
      throw new TemplateError(`wrong number of args for ${name}: want at least 1 got 0`);
    let value: GoValue = null;
    for (const arg of args) {
      value = this.#term(arg, dot);
      if (isTrue(value) === (name === "or")) return value;
    }
    return piped === missing ? value : piped;
  }

  #printed(value: GoValue): string {
    return typeof value === "string" ? value : printed(value);
  }

  #sizeOf(value: GoValue): number {
    return typeof value === "string" ? value.length : 0;
  }

  #write(text: string): void {
    this.#written += text.length;
    if (this.#written > this.#maximum) throw this.#tooLong();
    this.output.push(text);
  }

  #tooLong(): TemplateError {
    return new TemplateError(`makes a text over ${this.#maximum} characters`);
  }

  #step(count: number): void {
    this.#steps += count;
    if (this.#steps > templateLimits.steps)
      throw new TemplateError(`takes over ${templateLimits.steps} steps`);
  }
}
