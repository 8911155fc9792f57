import { TemplateError, TemplateOverBudget, TemplateRefusal } from "../template/limits.ts";
import { LocallmError } from "../wire/errors.ts";
import type { PromptText } from "../wire/inference/generate.ts";
import { type AnswerReader, createReader } from "./answer-reader.ts";
import { type AnswerGrammar, answerConstraint, type Constraint } from "./constraint.ts";
import { formatOf } from "./formats/find.ts";
import { harmony } from "./formats/harmony.ts";
import type { SchemaThreads } from "./grammar/schema-threads.ts";
import { type TurnPrompt, wholeText, withoutStart } from "./prompt-text.ts";
import type { DialogueSource } from "./prompter.ts";
import type { Templates } from "./template-work.ts";
import type { ThinkingTags } from "./thinking.ts";
import { isBegunAnswer, offeredTools, type Turn } from "./turn.ts";

/** What a template supports. A request that needs more is rejected before anything is rendered. */
export interface DialogueTraits {
  readonly tools: boolean;
  readonly thinking: boolean;
  readonly insert: boolean;
}

/** What rendering needs to know about the vocabulary. */
export interface PromptVocabulary {
  /** Whether the tokenizer adds the start token. If so, the template's own start token is removed. */
  readonly addBos: boolean;
  /** Texts that the tokenizer reads as control tokens. In a message they are plain text. */
  readonly markers: readonly string[];
}

/**
 * The conversation format of one model: it converts messages to a prompt, and answer text to content,
 * thinking and tool calls. Each model has one, which is reused.
 */
export interface Dialogue {
  readonly traits: DialogueTraits;
  /**
   * Whether answers contain marks for the reader. Models may write marks as control tokens, which must then
   * be output as text.
   */
  readonly marked: boolean;
  /** Stop strings in addition to the model's own. */
  readonly stop: readonly string[];
  /** The prompt of a turn whose images have left their places. Throws `conversation_refused`, `template_failed` and `template_over_budget`. */
  prompt(turn: Turn, vocabulary: PromptVocabulary, signal?: AbortSignal): Promise<TurnPrompt>;
  /**
   * Returns the prompt that asks for the text between `prompt` and `suffix`. Throws the errors of `prompt`.
   */
  insert(
    prompt: string,
    suffix: string,
    vocabulary: PromptVocabulary,
    signal?: AbortSignal,
  ): Promise<PromptText>;
  /**
   * Returns the constraint on the answer, or null if any text is allowed. Throws `invalid_format` for an
   * invalid or contradictory schema at once, before the request waits for anything.
   */
  constraint(turn: Turn, schemas: SchemaThreads): Promise<TurnConstraint | null>;
  /** A reader for the answer to this prompt. */
  reader(turn: Turn, prompt: TurnPrompt): AnswerReader;
}

/** A constraint whose grammar depends on the prompt. */
export type TurnConstraint = Omit<Constraint, "grammar"> & { grammar(prompt: TurnPrompt): AnswerGrammar };

/** Throws `template_invalid` and `template_over_budget`. */
export async function createDialogue(source: DialogueSource, templates: Templates): Promise<Dialogue> {
  const facts = await named("template_invalid", templates.run("read", { source }));
  const { thinking, stop } = facts;
  const format = formatOf(facts.format);
  const rendered = async <Prompt extends TurnPrompt>(
    { addBos }: PromptVocabulary,
    rendering: Promise<Prompt>,
  ): Promise<Prompt> => {
    const prompt = await named("template_failed", rendering);
    return addBos && source.bosText !== "" ? withoutStart(prompt, source.bosText) : prompt;
  };
  const infill = facts.traits.insert ? source : infillSource(source);
  return {
    traits: { ...facts.traits, insert: infill !== null, thinking: thinking !== null || format === harmony },
    marked: thinking !== null || format !== null,
    stop,
    prompt: (turn, vocabulary, signal) => {
      const { markers } = vocabulary;
      // Templates do not need the rest of a turn, and a schema may be large.
      const { messages, tools, toolChoice, think } = turn;
      const asked = { messages, tools, toolChoice, think, format: null };
      return rendered(vocabulary, templates.run("render", { source, turn: asked, markers }, signal));
    },
    insert: (prompt, suffix, vocabulary, signal) => {
      if (infill === null) throw new Error("the model has no place for a suffix");
      const { markers } = vocabulary;
      return rendered(
        vocabulary,
        templates.run("insert", { source: infill, prompt, suffix, markers }, signal),
      );
    },
    constraint: async (turn, schemas) => {
      const parts = { thinking, format, template: source.template.text };
      const constraint = await answerConstraint(turn, parts, schemas);
      if (constraint === null) return null;
      return { ...constraint, grammar: (prompt) => constraint.grammar(isOpen(thinking, turn, prompt)) };
    },
    reader: (turn, prompt) =>
      createReader({ thinking, open: isOpen(thinking, turn, prompt), format, tools: offeredTools(turn) }),
  };
}

/** A template of the vocabulary's own tokens: what is before the gap, what is after it, and then what is missing. */
function infillSource(source: DialogueSource): DialogueSource | null {
  if (source.infill == null) return null;
  const { prefix, suffix, middle } = source.infill;
  const [before, after, missing] = [prefix, suffix, middle].map((text) => `{{ ${JSON.stringify(text)} }}`);
  const text = `${before}{{ .Prompt }}${after}{{ .Suffix }}${missing}`;
  return { ...source, template: { language: "go", text } };
}

/** Throws `template_invalid` if a Go template cannot be parsed, or `template_over_budget`. */
export async function checkTemplate(text: string, templates: Templates): Promise<void> {
  await named("template_invalid", templates.run("check", { text }));
}

/** Whether the answer continues the model's thinking, which the prompt or the client has opened. */
function isOpen(thinking: ThinkingTags | null, { messages }: Turn, prompt: TurnPrompt): boolean {
  if (thinking === null) return false;
  const begun = messages.at(-1);
  if (begun !== undefined && isBegunAnswer(begun))
    return begun.content.lastIndexOf(thinking.open) > begun.content.lastIndexOf(thinking.close);
  return wholeText(prompt).trimEnd().endsWith(thinking.open.trim());
}

async function named<T>(code: "template_invalid" | "template_failed", work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    if (cause instanceof TemplateRefusal)
      throw new LocallmError("conversation_refused", { reason: cause.message }, { cause });
    if (cause instanceof TemplateOverBudget)
      throw new LocallmError("template_over_budget", { limit: cause.message }, { cause });
    if (cause instanceof TemplateError) throw new LocallmError(code, { problem: cause.message }, { cause });
    throw cause;
  }
}
