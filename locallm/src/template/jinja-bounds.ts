import { Interpreter } from "@huggingface/jinja";
import { TemplateError, templateLimits } from "./limits.ts";

// The library's type declarations do not resolve under Node's module rules, so this file declares the parts
// that we use.
interface Value {
  type: string;
  value: unknown;
}
export interface Scope {
  variables: Map<string, Value>;
  set(name: string, value: unknown): unknown;
}
export interface Node {
  type: string;
}
const Base = Interpreter as unknown as new (
  scope: Scope,
) => {
  evaluate(node: Node | undefined, scope: Scope): Value;
  evaluateBlock(statements: readonly Node[], scope: Scope): Value;
  run(program: Node): Value;
};

/**
 * Limits the work of the library's interpreter, which has no limits of its own. Every node passes `evaluate`,
 * so steps and sizes are counted there. Sizes are *expanded* (a list that contains another list twice counts
 * it twice), because printing expands. Calls whose result can be much larger than their inputs are checked
 * before they run.
 */
export class BoundedInterpreter extends Base {
  #steps = 0;
  /** Node types of loops. An iteration with an empty body would not be counted anywhere else. */
  readonly #iterated = new WeakSet<Node>();
  /** Nodes whose values are written to the output. */
  readonly #printed = new WeakSet<Node>();
  readonly #calls: Call[] = [];
  readonly #sizes = new WeakMap<object, number>();
  readonly #methods = new WeakSet<object>();
  readonly #maximum: number;

  constructor(scope: Scope) {
    super(scope);
    let input = 0;
    for (const value of scope.variables.values()) input += this.#size(value, Number.POSITIVE_INFINITY);
    this.#maximum = templateLimits.valueChars + input * templateLimits.valueCharsPerInputChar;
  }

  print(program: Node): string {
    return String(this.run(program).value);
  }

  override evaluate(node: Node | undefined, scope: Scope): Value {
    const outer = this.#calls.at(-1);
    const call = node === undefined ? null : callOf(node);
    if (call !== null) this.#calls.push(call);
    if (node?.type === "For") this.#iterated.add(iterableOf(node));
    let value: Value;
    try {
      value = super.evaluate(node, scope);
    } finally {
      if (call !== null) this.#calls.pop();
    }
    const size = this.#size(value, this.#maximum);
    const looped = node !== undefined && this.#iterated.has(node);
    this.#charge(1 + costOf(value) + (looped ? lengthOf(value) * 2 : 0));
    if (size > this.#maximum) throw new TemplateError(`makes a value over ${this.#maximum} characters`);
    if (node !== undefined) {
      // Writing a collection as text takes about a microsecond for each item.
      if (typeof value.value === "object" && this.#printed.has(node)) this.#charge(size >>> 1);
      this.#watch(node, value, outer);
    }
    return value;
  }

  override evaluateBlock(statements: readonly Node[], scope: Scope): Value {
    for (const statement of statements) this.#printed.add(statement);
    return super.evaluateBlock(statements, scope);
  }

  #charge(steps: number): void {
    this.#steps += steps;
    if (this.#steps > templateLimits.steps)
      throw new TemplateError(`takes more than ${templateLimits.steps} steps`);
  }

  #watch(node: Node, value: Value, call: Call | undefined): void {
    if (value.type === "FunctionValue" && node.type === "MemberExpression") this.#methods.add(value);
    if (call === undefined) return;
    if (node === call.callee && node.type !== "MemberExpression" && this.#methods.has(value)) {
      throw new TemplateError("calls a method that was stored in a variable");
    }
    if (node === call.operand) call.operandValue = value.value;
    const position = call.values.indexOf(node);
    if (position !== -1) call.argumentValues[position] = value.value;
    if (node === call.operand || position !== -1) refuseGrowth(call, this.#maximum);
  }

  #size(value: Value, stopAt: number): number {
    const content = value.value;
    if (typeof content === "string") return content.length;
    if (typeof content !== "object" || content === null) return 1;
    const known = this.#sizes.get(content);
    if (known !== undefined && value.type !== "NamespaceValue") return known;
    let size = 2;
    // It is new: each of its items was made or copied, and is visited here.
    this.#charge(lengthOf(value) >>> 1);
    const entries: Iterable<[unknown, Value]> =
      content instanceof Map ? content : (content as Value[]).entries();
    for (const [key, item] of entries) {
      // Only namespaces can change. Inside another namespace, the size could be unknown or infinite.
      if (item.type === "NamespaceValue") throw new TemplateError("keeps a namespace inside another value");
      size += 2 + (typeof key === "string" ? key.length : 0) + this.#size(item, stopAt);
      if (size > stopAt) break;
    }
    this.#sizes.set(content, size);
    return size;
  }
}

/** Long values cost more, because later operations on them (search, copy, compare) take longer. */
function costOf(value: Value): number {
  return typeof value.value === "string" ? value.value.length >>> 10 : lengthOf(value) >>> 5;
}

function lengthOf({ value }: Value): number {
  return Array.isArray(value) ? value.length : value instanceof Map ? value.size : 0;
}

function iterableOf(node: Node): Node {
  const { iterable } = node as Node & { iterable: Node & { lhs?: Node } };
  return iterable.type === "SelectExpression" ? iterable.lhs! : iterable;
}

/** A call in progress: the nodes of its operand and arguments, and their values once evaluated. */
interface Call {
  /** The method or filter; null if its name is computed. */
  name: string | null;
  callee: Node | undefined;
  operand: Node | undefined;
  values: Node[];
  spread: boolean;
  operandValue?: unknown;
  argumentValues: unknown[];
}

interface CallNode extends Node {
  callee: Node & { object?: Node; property?: { value: string }; computed?: boolean; value?: string };
  args: (Node & { value: Node })[];
}
interface FilterNode extends Node {
  operand?: Node;
  filter: Node;
}

function callOf(node: Node): Call | null {
  switch (node.type) {
    case "CallExpression": {
      const { callee } = node as CallNode;
      const name = callee.type === "MemberExpression" && !callee.computed ? callee.property!.value : null;
      return { name, callee, operand: callee.object, ...written(node as CallNode) };
    }
    case "FilterExpression":
    case "FilterStatement": {
      const { filter, operand } = node as FilterNode;
      if (filter.type !== "CallExpression") return null;
      const call = filter as CallNode;
      return { name: call.callee.value!, callee: undefined, operand, ...written(call) };
    }
    default:
      return null;
  }
}

function written({ args }: CallNode): Pick<Call, "values" | "spread" | "argumentValues"> {
  return {
    spread: args.some((arg) => arg.type === "SpreadExpression" || arg.type === "KeywordSpreadExpression"),
    values: args.map((arg) => (arg.type === "KeywordArgumentExpression" ? arg.value : arg)),
    argumentValues: [],
  };
}

/** Shorter arguments are harmless for any operand, because the next check bounds the result. */
const smallArgument = 64;

function refuseGrowth(call: Call, maximum: number): void {
  if (call.name === "indent" || call.name === "tojson") {
    for (const value of call.argumentValues) {
      const size = typeof value === "string" ? value.length : Number(value ?? 0);
      if (size > smallArgument)
        throw new TemplateError(`calls ${call.name}() with an indent over ${smallArgument}`);
    }
    return;
  }
  if (call.name !== "replace" && call.name !== null) return;
  if (call.name === "replace" && call.spread)
    throw new TemplateError("calls replace() with a list of arguments");
  const [wanted, replacement] = call.argumentValues;
  if (typeof replacement !== "string" || replacement.length <= smallArgument || typeof wanted !== "string")
    return;
  if (call.operand === undefined) {
    if (call.name === "replace") throw new TemplateError("calls replace() on a block with a long text");
    return;
  }
  if (typeof call.operandValue !== "string") return;
  const found = call.operandValue.split(wanted).length + 1;
  if (found * replacement.length > maximum)
    throw new TemplateError(`makes a value over ${maximum} characters`);
}
