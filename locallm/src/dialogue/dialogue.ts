import { detectTemplate } from "../template/detect.ts";
import { compileGo } from "../template/go/template.ts";
import { compileJinja } from "../template/jinja.ts";
import { TemplateError, TemplateRefusal } from "../template/limits.ts";
import { LocallmError } from "../wire/errors.ts";
import { type AnswerReader, createReader } from "./answer.ts";
import { type AnswerGrammar, answerConstraint } from "./constraint.ts";
import { findToolFormat } from "./formats/find.ts";
import { harmony } from "./formats/harmony.ts";
import { goPrompter } from "./go-prompt.ts";
import { jinjaPrompter } from "./jinja-prompt.ts";
import { findThinking, type ThinkingTags } from "./thinking.ts";
import { offeredTools, plainTurn, type Turn } from "./turn.ts";

export interface DialogueSource {
  readonly template: { readonly language: "go" | "jinja"; readonly text: string };
  /** How the vocabulary writes its first and last token; "" where it has none. */
  readonly bosText: string;
  readonly eosText: string;
  readonly now?: () => Date;
}

/** What a template can say. A request that asks for more is refused before anything is rendered. */
export interface DialogueTraits {
  readonly tools: boolean;
  readonly thinking: boolean;
  readonly insert: boolean;
}

/** A model's way of talking: messages → prompt, and text → content, thinking and tool calls. One per model, reused. */
export interface Dialogue {
  readonly traits: DialogueTraits;
  /** Whether answers hold marks to read; models may write those as control tokens, which must then be text. */
  readonly marked: boolean;
  /** Stop strings besides the model's own. */
  readonly stop: readonly string[];
  /**
   * The prompt of a turn, ready for the tokeniser: with `addBos` (the vocabulary adds its first token by
   * itself) the template's own one is left out. Throws `conversation_refused` and `template_failed`.
   */
  prompt(turn: Turn, vocabulary: { readonly addBos: boolean }): string;
  /** The prompt that asks for what stands between `prompt` and `suffix`. Throws `template_failed`. */
  insert(prompt: string, suffix: string, vocabulary: { readonly addBos: boolean }): string;
  /**
   * What the answer must keep to, given the prompt; null where any text will do. Throws `invalid_format` for
   * a schema that cannot be kept, at once: nothing has waited yet.
   */
  constraint(turn: Turn): ((prompt: string) => AnswerGrammar) | null;
  /** A reader for the answer to this prompt. */
  reader(turn: Turn, prompt: string): AnswerReader;
}

/** What a template's renderer gives: the turn in, the whole prompt out. Throws TemplateError. */
export interface Prompter {
  readonly traits: Omit<DialogueTraits, "thinking">;
  /** What ends the model's turn, where the template itself does not come with such a list. */
  readonly stop?: readonly string[];
  render(turn: Turn): string;
  insert(prompt: string, suffix: string): string;
}

/** Throws `template_invalid`. */
export function createDialogue(source: DialogueSource): Dialogue {
  const prompter = asError("template_invalid", () => prompterFor(source));
  const format = findToolFormat(source.template.text, prompter);
  const thinking = format === harmony ? null : findThinking(source.template, prompter);
  const rendered = ({ addBos }: { readonly addBos: boolean }, render: () => string) => {
    const prompt = asError("template_failed", render);
    const doubled = addBos && source.bosText !== "" && prompt.startsWith(source.bosText);
    return doubled ? prompt.slice(source.bosText.length) : prompt;
  };
  return {
    traits: { ...prompter.traits, thinking: thinking !== null || format === harmony },
    marked: thinking !== null || format !== null,
    stop: prompter.stop ?? [],
    prompt: (turn, vocabulary) => rendered(vocabulary, () => prompter.render(turn)),
    insert: (prompt, suffix, vocabulary) => rendered(vocabulary, () => prompter.insert(prompt, suffix)),
    constraint: (turn) => {
      const constraint = answerConstraint(turn, { thinking, format, template: source.template.text });
      return constraint === null ? null : (prompt) => constraint(isOpen(thinking, prompt));
    },
    reader: (turn, prompt) =>
      createReader({ thinking, open: isOpen(thinking, prompt), format, tools: offeredTools(turn) }),
  };
}

function prompterFor(source: DialogueSource): Prompter {
  const { language, text } = source.template;
  if (language === "go") return goPrompter(compileGo(text, source.now));
  try {
    const prompter = jinjaPrompter(compileJinja(text, source.now), source);
    requireRenders(prompter);
    return prompter;
  } catch (error) {
    // A template that our Jinja cannot read: its family's turns are known all the same.
    const known = detectTemplate(text);
    if (!(error instanceof TemplateError) || known === null) throw error;
    return { ...goPrompter(compileGo(known.template, source.now)), stop: known.stop };
  }
}

/** A template may refuse this conversation and take others. */
function requireRenders(prompter: Prompter): void {
  try {
    prompter.render(plainTurn([{ role: "user", content: "probe" }]));
  } catch (error) {
    if (!(error instanceof TemplateRefusal)) throw error;
  }
}

/** Whether the prompt already holds the tag that opens the model's thinking. */
function isOpen(thinking: ThinkingTags | null, prompt: string): boolean {
  return thinking !== null && prompt.trimEnd().endsWith(thinking.open.trim());
}

function asError<T>(code: "template_invalid" | "template_failed", work: () => T): T {
  try {
    return work();
  } catch (cause) {
    if (cause instanceof TemplateRefusal)
      throw new LocallmError("conversation_refused", { reason: cause.message }, { cause });
    if (cause instanceof TemplateError) throw new LocallmError(code, { problem: cause.message }, { cause });
    throw cause;
  }
}
