import { TemplateError } from "../../template/limits.ts";
import { asObject, parseJson } from "../json-text.ts";
import type { Prompter } from "../prompter.ts";
import type { ToolFormat } from "../tool-format.ts";
import { type Message, plainTurn } from "../turn.ts";
import { commandR } from "./command-r.ts";
import { deepseek } from "./deepseek.ts";
import { gemma } from "./gemma.ts";
import { genericFormat } from "./generic.ts";
import { harmony } from "./harmony.ts";
import { hermes } from "./hermes.ts";
import { llama3 } from "./llama3.ts";
import { mistral } from "./mistral.ts";

/** A family is recognised by marks that only its templates contain; the first match wins. */
const families: readonly { format: ToolFormat; isMeant: (template: string) => boolean }[] = [
  { format: harmony, isMeant: (text) => text.includes("<|channel|>") && text.includes("<|message|>") },
  { format: deepseek, isMeant: (text) => text.includes("<｜tool▁call▁begin｜>") },
  { format: mistral, isMeant: (text) => text.includes("[TOOL_CALLS]") },
  {
    format: commandR,
    isMeant: (text) => text.includes("<|START_ACTION|>") || /Action:\s*```json/.test(text),
  },
  { format: gemma, isMeant: (text) => text.includes("<start_function_call>") },
  { format: hermes, isMeant: (text) => text.includes("<tool_call>") },
  {
    format: llama3,
    isMeant: (text) =>
      text.includes("<|python_tag|>") ||
      (text.includes("<|start_header_id|>") && text.includes("parameters")),
  },
];

/**
 * A format in a form that threads can send: a family's name, or the marks around calls of an unknown family.
 */
export type FoundFormat =
  | { readonly name: "family"; readonly family: string }
  | { readonly name: "generic"; readonly marks: Parameters<typeof genericFormat> };

/** The format in which models with this template write calls. Null if they cannot write calls. */
export function findToolFormat(template: string, prompter: Prompter): FoundFormat | null {
  const known = families.find(({ isMeant }) => isMeant(template));
  if (known !== undefined) return { name: "family", family: known.format.name };
  return prompter.traits.tools ? probe(prompter) : null;
}

export function formatOf(found: FoundFormat | null): ToolFormat | null {
  if (found === null) return null;
  if (found.name === "generic") return genericFormat(...found.marks);
  return families.find(({ format }) => format.name === found.family)?.format ?? null;
}

/** Renders a call. The text around its JSON is the mark that the model was trained with. */
function probe(prompter: Prompter): FoundFormat | null {
  const user: Message = { role: "user", content: "probe-question" };
  const call = {
    id: "call00001",
    function: { index: 0, name: "probe_tool", arguments: { probe_key: "probe_value" } },
  };
  const end: Message = { role: "user", content: "probe-end" };
  const render = (answer: Message) => prompter.render(plainTurn([user, answer, end]));
  let called: string;
  let said: string;
  try {
    called = render({ role: "assistant", content: "", tool_calls: [call] });
    said = render({ role: "assistant", content: "probe-answer" });
  } catch (error) {
    // The template does not support calls, or rejects this conversation.
    if (error instanceof TemplateError) return null;
    throw error;
  }
  const start = called.indexOf("{", commonLength(called, said.slice(0, said.indexOf("probe-answer"))));
  if (start === -1) return null;
  const length = jsonLength(called.slice(start));
  const holdsCall = called.slice(start, start + length).includes("probe_tool");
  if (!holdsCall) return null;
  const open = called.slice(commonLength(called, said.slice(0, said.indexOf("probe-answer"))), start);
  const close = /^\s*\]?\s*(<\/[^<>\s]+>|\[\/[A-Z_]+\])/.exec(called.slice(start + length))?.[1] ?? "";
  const argumentsKey = called.slice(start, start + length).includes('"parameters"')
    ? "parameters"
    : "arguments";
  const marks: Parameters<typeof genericFormat> = [
    open.trim().replace(/\[$/, "").trim(),
    close,
    argumentsKey,
  ];
  return { name: "generic", marks };
}

function commonLength(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at += 1;
  return at;
}

/** Length of the JSON object at the start of a text; 0 if there is none. */
function jsonLength(text: string): number {
  for (let end = text.indexOf("}"); end !== -1; end = text.indexOf("}", end + 1)) {
    if (asObject(parseJson(text.slice(0, end + 1))) !== null) return end + 1;
  }
  return 0;
}
