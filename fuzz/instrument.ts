import { registerHooks, stripTypeScriptTypes } from "node:module";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parseSync } from "oxc-parser";
import { root } from "./target.ts";

/** The counters of the branches of all loaded sources, and the texts in them. */
export interface Instrumented {
  readonly hits: Uint32Array;
  /** The counters of each file, by its path from the root: from the first to before the last. */
  readonly files: ReadonlyMap<string, { readonly from: number; readonly to: number }>;
  readonly texts: ReadonlySet<string>;
}

const mostPoints = 1 << 17;
/** Our own sources, and a library that reads what comes from outside. */
const counted = /^(?:locallm\/src|dataq\/(?:service|contract)\/src|node_modules\/@huggingface\/jinja)\//;

/**
 * From now on, our modules are loaded with a counter at each branch. V8's own coverage takes more for each reading
 * than most inputs take.
 */
export function instrument(): Instrumented {
  const hits = new Uint32Array(mostPoints);
  Object.assign(globalThis, { fuzzHits: hits });
  const texts = new Set<string>();
  const files = new Map<string, { from: number; to: number }>();
  let points = 0;
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      if (!url.startsWith("file:") || !/^module(?:-typescript)?$/.test(loaded.format ?? "")) return loaded;
      const path = relative(root, fileURLToPath(url));
      if (!counted.test(path)) return loaded;
      const source = Buffer.from(loaded.source as Uint8Array).toString();
      const plain = loaded.format === "module" ? source : stripTypeScriptTypes(source);
      const made = withCounters(plain, points);
      if (made.points > mostPoints) throw new Error("There are more branches than counters.");
      files.set(path, { from: points, to: made.points });
      points = made.points;
      for (const text of made.texts) texts.add(text);
      return { ...loaded, format: "module", source: made.source, shortCircuit: true };
    },
  });
  return { hits, files, texts };
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

/** The source with `fuzzHits[n]++` where a function, a branch, a loop or the right of `&&`, `||`, `??` begins. */
function withCounters(source: string, first: number) {
  const texts: string[] = [];
  const opens = new Map<number, string[]>();
  const closes = new Map<number, string[]>();
  let next = first;
  const count = () => `fuzzHits[${next++}]++`;
  const open = (at: number, text: string) => opens.set(at, [...(opens.get(at) ?? []), text]);
  // Of two nodes with the same end, the inner one is visited later and ends first.
  const close = (at: number, text: string) => closes.set(at, [text, ...(closes.get(at) ?? [])]);
  const statement = (node: Node) => {
    if (node.type === "BlockStatement") open(node.start + 1, `${count()};`);
    else {
      open(node.start, `{${count()};`);
      close(node.end, "}");
    }
  };
  const expression = (node: Node) => {
    open(node.start, `(${count()},`);
    close(node.end, ")");
  };
  const visit = (node: Node) => {
    const of = (field: string) => node[field] as Node;
    switch (node.type) {
      case "IfStatement":
        if (node["alternate"] === null) close(node.end, ` else ${count()};`);
        else statement(of("alternate"));
        statement(of("consequent"));
        break;
      case "ConditionalExpression":
        expression(of("consequent"));
        expression(of("alternate"));
        break;
      case "LogicalExpression":
        expression(of("right"));
        break;
      case "AssignmentExpression":
        if (/^(?:&&|\|\||\?\?)=$/.test(node["operator"] as string)) expression(of("right"));
        break;
      case "ArrowFunctionExpression":
        if (of("body").type === "BlockStatement") statement(of("body"));
        else expression(of("body"));
        break;
      case "FunctionDeclaration":
      case "FunctionExpression":
        statement(of("body"));
        break;
      case "WhileStatement":
      case "DoWhileStatement":
      case "ForStatement":
      case "ForInStatement":
      case "ForOfStatement":
        statement(of("body"));
        break;
      case "CatchClause":
        statement(of("body"));
        break;
      case "SwitchCase": {
        const [begin] = node["consequent"] as Node[];
        if (begin !== undefined) open(begin.start, `${count()};`);
        break;
      }
      case "Literal":
        if (typeof node["value"] === "string") texts.push(node["value"]);
        break;
      case "TemplateElement":
        texts.push((node["value"] as { raw: string }).raw);
        break;
    }
    for (const value of Object.values(node))
      for (const inner of Array.isArray(value) ? value : [value])
        if (typeof inner === "object" && inner !== null && typeof (inner as Node).type === "string")
          visit(inner as Node);
  };
  const { program, errors } = parseSync("module.js", source);
  if (errors.length > 0) throw new Error(errors[0]!.message);
  visit(program as unknown as Node);
  const places = [...new Set([...opens.keys(), ...closes.keys()])].sort((a, b) => a - b);
  const parts = ["const fuzzHits=globalThis.fuzzHits;"];
  let from = 0;
  for (const at of places) {
    parts.push(source.slice(from, at), ...(closes.get(at) ?? []), ...(opens.get(at) ?? []));
    from = at;
  }
  parts.push(source.slice(from));
  return { source: parts.join(""), points: next, texts: texts.filter((text) => /^.{1,60}$/su.test(text)) };
}
