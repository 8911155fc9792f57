import { TemplateError, templateLimits } from "../limits.ts";
import { evaluateGo } from "./evaluate.ts";
import { goFunctions } from "./functions.ts";
import { parseGo } from "./parser.ts";
import { type Block, fieldNames, type GoNode } from "./syntax.ts";
import { GoFloat, GoStruct, type GoValue } from "./value.ts";

export interface GoTemplate {
  readonly source: string;
  /** The fields that the template reads, such as `Messages`. They show what the template supports. */
  readonly fields: ReadonlySet<string>;
  /** Throws TemplateError. */
  render(data: Readonly<Record<string, GoValue>>): string;
  /** Returns the template cut after the first `.Response`. */
  upToResponse(): GoTemplate;
  /** Returns the template with `.Response` appended. */
  withResponse(): GoTemplate;
}

/**
 * Compiles a template of Go's `text/template`, the language of Ollama's TEMPLATE layers. Throws
 * TemplateError.
 */
export function compileGo(source: string, now: () => Date = () => new Date()): GoTemplate {
  if (source.length > templateLimits.sourceChars)
    throw new TemplateError(`is longer than ${templateLimits.sourceChars} characters`);
  const functions = goFunctions(now);
  const isFunction = (name: string) => functions.has(name) || name === "and" || name === "or";
  const syntax = parseGo(source, isFunction);
  const compiled = (root: Block): GoTemplate => ({
    source,
    fields: new Set([root, ...syntax.templates.values()].flatMap((block) => [...fieldNames(block)])),
    render: (data) => {
      const values = new Map(Object.entries(data));
      return evaluateGo({ ...syntax, root }, functions, values, sizeOf(values));
    },
    upToResponse: () => compiled(cutAfterResponse(root)[0]),
    withResponse: () => compiled([...root, response]),
  });
  return compiled(syntax.root);
}

const response: GoNode = {
  kind: "action",
  pipe: { variables: [], declares: false, commands: [[{ kind: "field", names: ["Response"] }]] },
  line: 0,
};

/** Removes everything after the first `.Response`, including the rest of the enclosing blocks. */
function cutAfterResponse(block: Block): [Block, boolean] {
  const kept: GoNode[] = [];
  for (const node of block) {
    if (node.kind === "action" && fieldNames([node]).has("Response")) return [[...kept, node], true];
    if ("body" in node) {
      const [body, cut] = cutAfterResponse(node.body);
      if (cut) {
        const inCondition = { ...node, body };
        return [[...kept, inCondition], true];
      }
    }
    kept.push(node);
  }
  return [kept, false];
}

function sizeOf(value: GoValue): number {
  if (typeof value === "string") return value.length;
  if (value === null || typeof value !== "object" || value instanceof GoFloat) return 1;
  const items: Iterable<GoValue> =
    value instanceof GoStruct
      ? value.fields.values()
      : value instanceof Map
        ? value.values()
        : (value as readonly GoValue[]);
  let size = 1;
  for (const item of items) size += sizeOf(item);
  return size;
}
