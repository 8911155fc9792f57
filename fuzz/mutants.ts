import { readdirSync, readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { fileURLToPath } from "node:url";
import { parseSync, Visitor } from "oxc-parser";

export const root = fileURLToPath(new URL("../", import.meta.url));

/** One operator or condition of a source that is another one. */
export interface Mutant {
  /** From the root. */
  readonly path: string;
  readonly line: number;
  readonly start: number;
  readonly end: number;
  readonly becomes: string;
  /** The expression that it changes: its range, and its text with the change and without types. */
  readonly whole: { readonly start: number; readonly end: number; readonly text: string };
}

const others: Readonly<Record<string, string>> = {
  "<": "<=",
  "<=": "<",
  ">": ">=",
  ">=": ">",
  "===": "!==",
  "!==": "===",
  "&&": "||",
  "||": "&&",
  "??": "&&",
  "+": "-",
  "-": "+",
  "*": "/",
};

/** Returns the mutants of a file, or of all sources of a folder that are no tests. */
export function mutantsIn(path: string): Mutant[] {
  if (path.endsWith(".ts")) return mutantsOf(path);
  const names = readdirSync(root + path, { recursive: true, encoding: "utf8" });
  return names
    .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
    .sort()
    .flatMap((name) => mutantsOf(`${path}/${name}`));
}

function mutantsOf(path: string): Mutant[] {
  const text = readFileSync(root + path, "utf8");
  // Types become spaces, so that all places stay.
  const plain = stripTypeScriptTypes(text);
  const found: Mutant[] = [];
  const add = (whole: Range, start: number, end: number, becomes: string, changed: string) => {
    const line = text.slice(0, start).split("\n").length;
    found.push({
      path,
      line,
      start,
      end,
      becomes,
      whole: { start: whole.start, end: whole.end, text: changed },
    });
  };
  const textOf = ({ start, end }: Range) => plain.slice(start, end);
  /** The operator stands between its two sides. */
  const swap = (node: Range & { left: Range; operator: string; right: Range }) => {
    const { left, operator, right } = node;
    const other = others[operator];
    const at = plain.indexOf(operator, left.end);
    if (other !== undefined && at !== -1 && at < right.start)
      add(node, at, at + operator.length, other, `(${textOf(left)})${other}(${textOf(right)})`);
  };
  new Visitor({
    BinaryExpression: swap,
    LogicalExpression: swap,
    UnaryExpression: (node) => {
      if (node.operator === "!") add(node, node.start, node.argument.start, "", textOf(node.argument));
    },
    IfStatement: ({ test }) => add(test, test.start, test.end, "false", "false"),
  }).visit(parseSync("module.js", plain).program);
  return found;
}

interface Range {
  readonly start: number;
  readonly end: number;
}

/**
 * Returns a source without types that has all of these mutants of it, each behind its number: `a<b` becomes
 * `(isMutant$(17)?(a)<=(b):a<b)`.
 */
export function switched(path: string, mutants: ReadonlyMap<number, Mutant>): string {
  const plain = stripTypeScriptTypes(readFileSync(root + path, "utf8"));
  const opens = new Map<number, string>();
  const closes = new Map<number, string>();
  // The outer one of two that begin at the same place was found first.
  for (const [number, { whole }] of mutants) {
    opens.set(whole.start, `${opens.get(whole.start) ?? ""}(isMutant$(${number})?${whole.text}:`);
    closes.set(whole.end, `${closes.get(whole.end) ?? ""})`);
  }
  const parts: string[] = [];
  let from = 0;
  for (const at of [...new Set([...opens.keys(), ...closes.keys()])].sort((a, b) => a - b)) {
    parts.push(plain.slice(from, at), closes.get(at) ?? "", opens.get(at) ?? "");
    from = at;
  }
  return parts.join("") + plain.slice(from);
}

export function described({ path, line, start, end, becomes }: Mutant): string {
  const text = readFileSync(root + path, "utf8");
  return `${path}:${line}: ${text.slice(start, end)} → ${becomes} in ${text.split("\n")[line - 1]!.trim()}`;
}

/** Takes away the number of its line, which changes with what is written above it. */
export function withoutLine(described: string): string {
  return described.replace(/:\d+: /, ": ");
}
