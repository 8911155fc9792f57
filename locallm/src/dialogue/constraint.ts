import { LocallmError } from "../wire/errors.ts";
import { anyOf, literal, Rules, upToText } from "./grammar/gbnf.ts";
import { anyObject } from "./grammar/json-rules.ts";
import { SchemaError } from "./grammar/schema-error.ts";
import { schemaBody } from "./grammar/schema-grammar.ts";
import type { ThinkingTags } from "./thinking.ts";
import type { ToolFormat } from "./tool-format.ts";
import { type AnswerFormat, offeredTools, type Tool, type Turn } from "./turn.ts";

/** A grammar for the engine; with `lazy` it binds from the first of these words on, or where the answer starts so. */
export interface AnswerGrammar {
  readonly gbnf: string;
  readonly lazy?: { readonly words?: readonly string[]; readonly start?: string };
}

/** What an answer must look like; made once per request, finished when the prompt is known. */
export type Constraint = (open: boolean) => AnswerGrammar;

export interface ConstraintParts {
  readonly thinking: ThinkingTags | null;
  readonly format: ToolFormat | null;
  readonly template: string;
}

/** Null where any text will do. Throws `invalid_format` naming the word of the schema that cannot be kept. */
export function answerConstraint(turn: Turn, parts: ConstraintParts): Constraint | null {
  const tools = offeredTools(turn);
  const rules = new Rules();
  const mustCall = turn.toolChoice.kind === "required" || turn.toolChoice.kind === "named";
  const calls =
    parts.format !== null && tools.length > 0
      ? callsBody(rules, turn, tools, parts.format, parts.template)
      : null;
  if (turn.format === null && calls === null) return null;
  const root = [
    ...(turn.format === null || mustCall ? [] : [formatBody(rules, turn.format)]),
    ...(calls === null ? [] : [calls]),
  ];
  if (turn.format !== null || mustCall) {
    const thought = thinkingBody(rules, parts, turn);
    return (open) => ({ gbnf: rules.print(`${open ? thought.rest : thought.whole} ${anyOf(root)}`) });
  }
  // A call may come or not, and once begun it is whole.
  const shape = parts.format!.shape(parts.template);
  const begin = shape.open.trim();
  const gbnf = rules.print(anyOf(root));
  if (begin !== "") return () => ({ gbnf, lazy: { words: [begin] } });
  return () => ({ gbnf, lazy: { start: '{"name":' } });
}

/** For text that no template stands around. Throws `invalid_format`. */
export function formatGrammar(format: AnswerFormat | null): AnswerGrammar | null {
  if (format === null) return null;
  const rules = new Rules();
  const body = formatBody(rules, format);
  return { gbnf: rules.print(body) };
}

function formatBody(rules: Rules, format: AnswerFormat): string {
  if (format.kind === "json") return anyObject(rules);
  return checked(() => schemaBody(rules, format.schema));
}

function checked<T>(work: () => T): T {
  try {
    return work();
  } catch (cause) {
    if (!(cause instanceof SchemaError)) throw cause;
    throw new LocallmError("invalid_format", { detail: `; ${cause.message}` }, { cause });
  }
}

function callsBody(
  rules: Rules,
  turn: Turn,
  tools: readonly Tool[],
  format: ToolFormat,
  template: string,
): string {
  const { toolChoice: choice } = turn;
  const allowed =
    choice.kind === "named" ? tools.filter((tool) => tool.function.name === choice.name) : tools;
  const shape = format.shape(template);
  const calls = allowed.map((tool) => {
    const { name, parameters } = tool.function;
    const given = format.argumentsRule?.(rules) ?? checked(() => argumentsBody(rules, parameters));
    return rules.add(`call-${name}`, `${literal(shape.before(name))} ${given} ${literal(shape.after)}`);
  });
  const call = rules.add("call", anyOf(calls));
  const single = shape.between === null || choice.kind === "named" || turn.severalCalls === false;
  const more = single ? "" : ` (${literal(shape.between ?? "")} ${call}){0,${maxCalls - 1}}`;
  return rules.add("calls", `${literal(shape.open)} ${call}${more} ${literal(shape.close)}`);
}

/** In one answer. A weak model under `required` would otherwise call on without end. */
const maxCalls = 8;

/** A tool's words that cannot be kept are left out: clients send schemas that were not made for grammars. */
function argumentsBody(rules: Rules, parameters: Tool["function"]["parameters"]): string {
  if (parameters === undefined || Object.keys(parameters).length === 0) return anyObject(rules);
  const body = schemaBody(rules, { type: "object", ...parameters }, { lenient: true });
  return rules.add("arguments", body);
}

/** What may come before the answer proper: the model's thinking, begun or not yet begun. */
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

/** gpt-oss thinks in a channel of its own, and says in another channel what is not a call. */
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
