import { LocallmError } from "../wire/errors.ts";
import { anyOf, literal, Rules, upToText } from "./grammar/gbnf.ts";
import { anyObject } from "./grammar/json-rules.ts";
import { SchemaError } from "./grammar/schema-error.ts";
import type { SchemaThreads } from "./grammar/schema-threads.ts";
import type { SchemaWish, WrittenSchemas } from "./grammar/written-schemas.ts";
import type { ThinkingTags } from "./thinking.ts";
import type { ToolFormat } from "./tool-format.ts";
import { type AnswerFormat, offeredTools, type Tool, type Turn } from "./turn.ts";

/**
 * A grammar for the engine. With `lazy`, the grammar starts at the first of these words, or at the start of
 * an answer that begins with the start word.
 */
export interface AnswerGrammar {
  readonly gbnf: string;
  readonly lazy?: { readonly words?: readonly string[]; readonly start?: string };
}

/** The constraint on an answer. It is created once per request and completed when the prompt is known. */
export interface Constraint {
  /** `open` is true if the prompt has already opened the model's thinking. */
  grammar(open: boolean): AnswerGrammar;
  /** Request fields that the grammar does not enforce. */
  readonly ignored: readonly string[];
  /** Schemas that can only be checked against the finished answer. */
  readonly unchecked: Unchecked;
}

export interface Unchecked {
  readonly format: unknown;
  /** Schemas of tools, by name. */
  readonly tools: ReadonlyMap<string, unknown>;
}

export interface ConstraintParts {
  readonly thinking: ThinkingTags | null;
  readonly format: ToolFormat | null;
  readonly template: string;
}

/** Returns null if any text is allowed. Throws `invalid_format`, which names the problem in the schema. */
export async function answerConstraint(
  turn: Turn,
  parts: ConstraintParts,
  schemas: SchemaThreads,
): Promise<Constraint | null> {
  const mustCall = turn.toolChoice.kind === "required" || turn.toolChoice.kind === "named";
  const format = mustCall ? null : turn.format;
  const tools = parts.format === null ? [] : allowedTools(turn);
  if (turn.format === null && tools.length === 0) return null;
  const read = await readSchemas(format, parts.format?.argumentsRule === undefined ? tools : [], schemas);
  const { rules, found } = read;
  const calls = tools.length > 0 ? callsBody(rules, turn, tools, parts, read.parameters) : null;
  const root = anyOf([...(format === null ? [] : [read.format]), ...(calls === null ? [] : [calls])]);
  if (turn.format !== null || mustCall) {
    const thought = thinkingBody(rules, parts, turn);
    return {
      ...found,
      grammar: (open) => ({ gbnf: rules.print(`${open ? thought.rest : thought.whole} ${root}`) }),
    };
  }
  // The model is free to make a call or not, but a call that it begins must be complete.
  const begin = parts.format!.shape(parts.template).open.trim();
  const lazy = begin === "" ? { start: '{"name":' } : { words: [begin] };
  const gbnf = rules.print(root);
  return { ...found, grammar: () => ({ gbnf, lazy }) };
}

/** Returns the constraint for a prompt without a template. Throws `invalid_format`. */
export async function formatConstraint(
  format: AnswerFormat | null,
  schemas: SchemaThreads,
): Promise<Constraint | null> {
  if (format === null) return null;
  const { rules, format: body, found } = await readSchemas(format, [], schemas);
  return { ...found, grammar: () => ({ gbnf: rules.print(body) }) };
}

interface ReadSchemas {
  readonly rules: Rules;
  readonly format: string;
  /** Grammar bodies for the arguments of tools, by the tools' names. */
  readonly parameters: ReadonlyMap<string, string>;
  readonly found: Pick<Constraint, "ignored" | "unchecked">;
}

async function readSchemas(
  format: AnswerFormat | null,
  tools: readonly Tool[],
  schemas: SchemaThreads,
): Promise<ReadSchemas> {
  const schema = format?.kind === "schema" ? format.schema : undefined;
  const withParameters = tools.filter(
    ({ function: { parameters } }) => Object.keys(parameters ?? {}).length > 0,
  );
  const wishes: SchemaWish[] = [
    ...(schema === undefined ? [] : [{ schema, lenient: false }]),
    ...withParameters.map((tool) => ({
      schema: { type: "object", ...tool.function.parameters },
      lenient: true,
    })),
  ];
  const written = wishes.length === 0 ? noSchemas : await write(wishes, schema !== undefined, schemas);
  const rules = new Rules();
  rules.take(written.rules);
  const [own, ...others] = schema === undefined ? [undefined, ...written.schemas] : written.schemas;
  const ignored = (own?.ignored ?? []).map((path) => joined(format?.field ?? "format", path));
  const parameters = new Map<string, string>();
  const uncheckedTools = new Map<string, unknown>();
  for (const [index, tool] of withParameters.entries()) {
    const { name, parameters: given } = tool.function;
    const grammar = others[index];
    parameters.set(name, grammar?.body ?? anyObject(rules));
    const unkept = grammar?.ignored ?? [""];
    if (unkept.length === 0) continue;
    uncheckedTools.set(name, given);
    ignored.push(...unkept.map((path) => joined(`tools[${tools.indexOf(tool)}].function.parameters`, path)));
  }
  const format_ = own?.body ?? anyObject(rules);
  const unchecked = {
    format: own === undefined || own.ignored.length === 0 ? null : schema,
    tools: uncheckedTools,
  };
  return { rules, format: format_, parameters, found: { ignored, unchecked } };
}

const noSchemas: WrittenSchemas = { rules: [], schemas: [] };

async function write(
  wishes: readonly SchemaWish[],
  hasFormat: boolean,
  schemas: SchemaThreads,
): Promise<WrittenSchemas> {
  try {
    const written = await schemas.write(wishes);
    if (written !== null) return written;
  } catch (cause) {
    if (!(cause instanceof SchemaError)) throw cause;
    throw new LocallmError("invalid_format", { detail: `; ${cause.message}` }, { cause });
  }
  // Never reject a tool for its schema. Without its own grammar the tool accepts any object.
  if (!hasFormat) return noSchemas;
  throw new LocallmError("invalid_format", { detail: "; the schema takes too long to read; simplify it" });
}

function joined(field: string, path: string): string {
  return path === "" ? field : `${field}.${path}`;
}

function allowedTools(turn: Turn): readonly Tool[] {
  const { toolChoice: choice } = turn;
  const offered = offeredTools(turn);
  return choice.kind === "named" ? offered.filter((tool) => tool.function.name === choice.name) : offered;
}

function callsBody(
  rules: Rules,
  turn: Turn,
  tools: readonly Tool[],
  { format, template }: ConstraintParts,
  parameters: ReadonlyMap<string, string>,
): string {
  const shape = format!.shape(template);
  const calls = tools.map(({ function: { name } }) => {
    const given = format!.argumentsRule?.(rules) ?? parameters.get(name) ?? anyObject(rules);
    return rules.add(`call-${name}`, `${literal(shape.before(name))} ${given} ${literal(shape.after)}`);
  });
  const call = rules.add("call", anyOf(calls));
  const single = shape.between === null || turn.toolChoice.kind === "named" || turn.severalCalls === false;
  const more = single ? "" : ` (${literal(shape.between ?? "")} ${call}){0,${maxCalls - 1}}`;
  return rules.add("calls", `${literal(shape.open)} ${call}${more} ${literal(shape.close)}`);
}

/**
 * The maximum number of calls in an answer. With `required`, a weak model would otherwise never stop making
 * calls.
 */
const maxCalls = 8;

/** The text that may precede the answer: the model's thinking, which the prompt may have opened. */
function thinkingBody(
  rules: Rules,
  { thinking, format, template }: ConstraintParts,
  turn: Turn,
): { whole: string; rest: string } {
  if (format?.readAll !== undefined) return harmonyThinking(rules, format, template, turn);
  if (thinking === null) return { whole: "", rest: "" };
  const rest = `${upToText(rules, "thinking", thinking.close)} ${rules.add("gap", "[ \\n]{0,4}")}`;
  return { whole: turn.think === false ? "" : `(${literal(thinking.open)} ${rest})?`, rest };
}

/** gpt-oss writes its thinking in one channel, and other text that is not a call in another channel. */
function harmonyThinking(
  rules: Rules,
  _format: ToolFormat,
  _template: string,
  turn: Turn,
): { whole: string; rest: string } {
  const thinking = `("<|channel|>analysis<|message|>" ${upToText(rules, "analysis", "<|end|>")} "<|start|>assistant")?`;
  const mustCall = turn.toolChoice.kind === "required" || turn.toolChoice.kind === "named";
  const whole = mustCall ? thinking : `${thinking} "<|channel|>final<|message|>"`;
  return { whole, rest: whole };
}
