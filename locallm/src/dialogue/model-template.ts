import { detectTemplate } from "../template/detect.ts";
import { compileGo } from "../template/go/template.ts";
import { compileJinja } from "../template/jinja.ts";
import { TemplateError, TemplateRefusal } from "../template/limits.ts";
import { endMark } from "./client-text.ts";
import { type FoundFormat, findToolFormat } from "./formats/find.ts";
import { harmony } from "./formats/harmony.ts";
import { goPrompter } from "./go-prompt.ts";
import { jinjaPrompter } from "./jinja-prompt.ts";
import type { DialogueSource, Prompter } from "./prompter.ts";
import { findThinking, type ThinkingTags } from "./thinking.ts";
import { isBegunAnswer, plainTurn, type Turn } from "./turn.ts";

/** What a model's template supports, found by rendering small conversations. */
export interface TemplateFacts {
  readonly traits: Prompter["traits"];
  readonly stop: readonly string[];
  readonly format: FoundFormat | null;
  readonly thinking: ThinkingTags | null;
}

/** A model's template, compiled. */
export interface ModelTemplate {
  readonly facts: TemplateFacts;
  /** Throws TemplateError. */
  render(turn: Turn): string;
  insert(prompt: string, suffix: string): string;
}

/** Throws TemplateError. */
export function readTemplate(source: DialogueSource, now?: () => Date): ModelTemplate {
  const prompter = prompterFor(source, now);
  const format = findToolFormat(source.template.text, prompter);
  return {
    facts: {
      traits: prompter.traits,
      stop: prompter.stop ?? [],
      format,
      thinking:
        format?.name === "family" && format.family === harmony.name
          ? null
          : findThinking(source.template.text, prompter),
    },
    render: (turn) => renderTurn(prompter, turn),
    insert: prompter.insert,
  };
}

function prompterFor(source: DialogueSource, now?: () => Date): Prompter {
  const { language, text } = source.template;
  if (language === "go") return goPrompter(compileGo(text, now));
  try {
    const prompter = jinjaPrompter(compileJinja(text, now), source);
    requireRenders(prompter);
    return prompter;
  } catch (error) {
    // We cannot parse this Jinja template, but its family may be known.
    const known = detectTemplate(text);
    if (!(error instanceof TemplateError) || known === null) throw error;
    return { ...goPrompter(compileGo(known.template, now)), stop: known.stop };
  }
}

/** A template may reject this conversation and accept others. */
function requireRenders(prompter: Prompter): void {
  try {
    prompter.render(plainTurn([{ role: "user", content: "probe" }]));
  } catch (error) {
    if (!(error instanceof TemplateRefusal)) throw error;
  }
}

/**
 * If the last message is an assistant's text, the client has begun the answer. The prompt then ends with that text,
 * without what the template writes after a finished answer.
 */
function renderTurn(prompter: Prompter, turn: Turn): string {
  const begun = turn.messages.at(-1);
  if (begun === undefined || !isBegunAnswer(begun)) return prompter.render(turn);
  const earlier = turn.messages.slice(0, -1);
  try {
    const marked = { ...begun, content: begun.content + endMark };
    const printed = prompter.render({ ...turn, messages: [...earlier, marked] });
    const end = printed.lastIndexOf(endMark);
    if (end !== -1) return printed.slice(0, end);
  } catch (error) {
    if (!(error instanceof TemplateRefusal) || earlier.length === 0) throw error;
  }
  // If a template drops or rejects such a message, open a new answer and append the text.
  return prompter.render({ ...turn, messages: earlier }) + begun.content;
}
