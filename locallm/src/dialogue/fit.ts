import { LocallmError } from "../wire/errors.ts";
import { countedChars, type PromptText, surelyTooLong } from "../wire/inference/generate.ts";
import type { EncodedPicture } from "../wire/inference/picture.ts";
import type { Dialogue, PromptVocabulary } from "./dialogue.ts";
import { isPictured, type TurnPrompt, wholeText } from "./prompt-text.ts";
import type { Message, Turn } from "./turn.ts";

/** A prompt with pictures, counted: each cell of a picture counts like a token. */
export interface PicturedTokens {
  readonly length: number;
  readonly parts: readonly (readonly number[] | EncodedPicture)[];
}

export interface Window {
  readonly contextLength: number;
  readonly vocabulary: PromptVocabulary;
  /** The most bytes of text that one token represents; null if unknown. */
  readonly longestToken: number | null;
  /** If false, a conversation that is too long is an error. */
  readonly truncate: boolean;
  /**
   * Tokenizes like the model's vocabulary, including the first token, and puts pictures into their places. May stop
   * early when there are more tokens than `limit`.
   */
  tokenize(prompt: TurnPrompt, limit: number | null): Promise<CountedPrompt>;
  readonly signal?: AbortSignal;
  /** If present, the window grows when the prompt and the answer do not fit. */
  readonly growth?: {
    /** The most tokens that the window can have. */
    readonly largest: number;
    readonly answerTokens: number;
    /**
     * Grows the window and returns the new context length. `Infinity` means that the prompt is too long to
     * count. If the prompt can be shortened, the window grows even if the whole prompt will not fit.
     */
    grow(promptTokens: number, canShorten: boolean): Promise<number>;
  };
}

export type CountedPrompt = readonly number[] | PicturedTokens;

export interface FittedTurn {
  /** The prompt's text, which the reader of the answer needs. */
  readonly text: TurnPrompt;
  /** The tokens if they had to be counted, otherwise the text. */
  readonly prompt: PromptText | CountedPrompt;
  /** The number of messages and tokens that were dropped to make the rest fit. */
  readonly dropped: { readonly messages: number; readonly tokens: number };
}

/** The prompt of a whole turn, before any messages are dropped. */
export interface WholePrompt {
  readonly text: TurnPrompt;
  /** Null if there are too many to count. Undefined if they certainly fit the window and were not counted. */
  readonly tokens?: CountedPrompt | null;
}

/** Renders a turn, and tokenizes it unless it certainly fits the window. */
export async function wholePrompt(dialogue: Dialogue, turn: Turn, window: Window): Promise<WholePrompt> {
  const text = await dialogue.prompt(turn, window.vocabulary, window.signal);
  return fits(text, window) ? { text } : { text, tokens: await tokensOf(text, text, window) };
}

/**
 * Renders a turn so that it fits the window and leaves a token for the answer: drops the oldest messages first and
 * keeps system messages and the last message. Throws `prompt_too_long` if what must be kept does not fit.
 *
 * `known` is the prompt if it was made for a smaller window.
 */
export async function fitTurn(
  dialogue: Dialogue,
  turn: Turn,
  window: Window,
  known?: WholePrompt,
): Promise<FittedTurn> {
  const render = (messages: readonly Message[]) =>
    dialogue.prompt({ ...turn, messages }, window.vocabulary, window.signal);
  const { growth } = window;
  let most = window.contextLength - 1;
  const text = known?.text ?? (await render(turn.messages));
  if (known?.tokens === undefined && fits(text, window))
    return { text, prompt: text, dropped: { messages: 0, tokens: 0 } };
  const chars = wholeText(text).length;
  const isCounted = chars <= countedChars;
  const tokenize = (prompt: TurnPrompt) => tokensOf(prompt, text, window);
  const prompt = known?.tokens === undefined ? await tokenize(text) : known.tokens;
  const droppable = droppableMessages(turn, window.truncate);
  if (growth !== undefined) {
    const promptTokens = prompt?.length ?? Number.POSITIVE_INFINITY;
    most = (await growth.grow(promptTokens, droppable.length > 0)) - 1;
  }
  if (prompt !== null && prompt.length <= most) return { text, prompt, dropped: { messages: 0, tokens: 0 } };

  let fitted: (FittedTurn & { prompt: CountedPrompt }) | null = null;
  // Finds the smallest number of dropped messages that fits: dropping more never makes the prompt longer.
  let low = 1;
  let high = droppable.length;
  while (low <= high) {
    const count = (low + high) >> 1;
    const messages = without(turn.messages, droppable, count);
    const shorter = await render(messages);
    const fewer = await tokenize(shorter);
    if (fewer !== null && fewer.length <= most) {
      const dropped = {
        messages: turn.messages.length - messages.length,
        tokens:
          isCounted && prompt !== null
            ? prompt.length - fewer.length
            : estimatedDrop(chars, wholeText(shorter).length, fewer.length),
      };
      fitted = { text: shorter, prompt: fewer, dropped };
      high = count - 1;
    } else low = count + 1;
  }
  if (fitted !== null) return fitted;
  const kept = without(turn.messages, droppable, droppable.length);
  const least = droppable.length === 0 ? prompt : await tokenize(await render(kept));
  throw new LocallmError("prompt_too_long", {
    promptTokens: isCounted && least !== null ? least.length : `over ${most}`,
    contextLength: most + 1,
  });
}

/** Whether the prompt certainly fits, with room for the answer. */
function fits(text: TurnPrompt, { contextLength, growth }: Window): text is PromptText {
  return !isPictured(text) && surelyFits(wholeText(text), contextLength - (growth?.answerTokens ?? 1));
}

/** The tokens of a prompt that is all or a part of `whole`. Null if there are too many to count. */
async function tokensOf(
  prompt: TurnPrompt,
  whole: TurnPrompt,
  { contextLength, growth, longestToken, tokenize }: Window,
): Promise<CountedPrompt | null> {
  const reach = Math.max(contextLength, growth?.largest ?? 0) - 1;
  if (surelyTooLong(wholeText(prompt).length, reach, longestToken)) return null;
  return await tokenize(prompt, wholeText(whole).length <= countedChars ? null : reach);
}

/**
 * Estimates the dropped tokens of a text that is too long to count. Assumes as many tokens per character as
 * in the rest.
 */
function estimatedDrop(chars: number, keptChars: number, keptTokens: number): number {
  return Math.round(((chars - keptChars) * keptTokens) / Math.max(keptChars, 1));
}

/**
 * Whether the text certainly fits. A token covers at least one byte. Two more tokens allow for the first
 * token and for a space that some vocabularies add.
 */
function surelyFits(text: string, tokens: number): boolean {
  return text.length * 3 + 2 <= tokens || Buffer.byteLength(text) + 2 <= tokens;
}

/** Whether messages may be dropped. */
export function canShorten(turn: Turn, truncate: boolean): boolean {
  return droppableMessages(turn, truncate).length > 0;
}

function droppableMessages({ messages }: Turn, truncate: boolean): Message[] {
  return truncate ? messages.filter((_, index) => mayGo(messages, index)) : [];
}

function mayGo(messages: readonly Message[], index: number): boolean {
  return messages[index]!.role !== "system" && index < messages.length - 1;
}

/** Removes messages. A tool's result is removed together with its call. */
function without(messages: readonly Message[], droppable: readonly Message[], count: number): Message[] {
  const gone = new Set(droppable.slice(0, count));
  const next = droppable.slice(count);
  for (const message of next) {
    if (message.role !== "tool") break;
    gone.add(message);
  }
  return messages.filter((message) => !gone.has(message));
}
