import type { Think } from "../wire/api/message.ts";
import type { MediaType } from "../wire/image.ts";
import type { SoundFormat } from "../wire/sound.ts";

/** A message of a conversation. Messages of the API (`wire/api/message.ts`) are assignable to it. */
export interface Message {
  readonly role: string;
  readonly content: string;
  /** The texts, images and sounds in their order, if there are other parts than text. `content` has only the texts. */
  readonly parts?: readonly ContentPart[];
  /** The same without images and sounds, whose places are their numbers in the turn. */
  readonly placed?: readonly (string | number)[];
  readonly thinking?: string;
  readonly tool_calls?: readonly ToolCall[];
  readonly tool_name?: string;
  readonly tool_call_id?: string;
}

export type ContentPart =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "image"; readonly image: Image }
  | { readonly kind: "sound"; readonly sound: Sound };

export interface Image {
  readonly mediaType: MediaType;
  /** In base64, with padding. */
  readonly data: string;
  /** Where the request has it, such as `messages[0].images[1]`. */
  readonly field?: string;
}

export interface Sound {
  readonly format: SoundFormat;
  /** In base64, with padding. */
  readonly data: string;
  /** Where the request has it. */
  readonly field?: string;
}

export interface ToolCall {
  readonly id?: string;
  readonly function: {
    readonly index?: number;
    readonly name: string;
    readonly arguments: Readonly<Record<string, unknown>>;
  };
}

export interface Tool {
  readonly type: string;
  readonly function: {
    readonly name: string;
    readonly description?: string;
    /** A JSON schema. */
    readonly parameters?: Readonly<Record<string, unknown>>;
  };
}

/** A conversation and the settings for its next message. Every API converts its requests to this type. */
export interface Turn {
  readonly messages: readonly Message[];
  readonly tools: readonly Tool[];
  readonly toolChoice: ToolChoice;
  /** If false, an answer has at most one call, provided that a grammar constrains calls. */
  readonly severalCalls?: boolean;
  /** If null, the model decides. */
  readonly think: Think | null;
  readonly format: AnswerFormat | null;
}

/** `required` means at least one call. `named` means a call of that function. A grammar enforces both. */
export type ToolChoice =
  | { readonly kind: "none" | "auto" | "required" }
  | { readonly kind: "named"; readonly name: string };

/** `json` allows any JSON object. Otherwise the answer must match a JSON schema. */
export type AnswerFormat =
  | { readonly kind: "json"; readonly field?: string }
  | {
      readonly kind: "schema";
      readonly schema: unknown;
      /** The request field that contains the schema; "format" by default. */
      readonly field?: string;
    };

export function plainTurn(messages: readonly Message[], parts: Partial<Turn> = {}): Turn {
  return { messages, tools: [], toolChoice: { kind: "auto" }, think: null, format: null, ...parts };
}

/** Returns no tools if the model may not call any. */
export function offeredTools(turn: Turn): readonly Tool[] {
  return turn.toolChoice.kind === "none" ? [] : turn.tools;
}

/** Joins consecutive messages of one role with a blank line. Calls and their results stay separate. */
export function mergeNeighbours(messages: readonly Message[]): Message[] {
  const merged: Message[] = [];
  for (const message of messages) {
    const last = merged.at(-1);
    if (last?.role === message.role && message.role !== "tool" && !last.tool_calls && !message.tool_calls)
      merged[merged.length - 1] = { ...message, content: `${last.content}\n\n${message.content}` };
    else merged.push(message);
  }
  return merged;
}

/** Takes the images and sounds out of a turn. Each leaves its place, which the turn's prompt will have. */
export function withPlaces(turn: Turn): { readonly turn: Turn; readonly media: readonly (Image | Sound)[] } {
  const media: (Image | Sound)[] = [];
  const messages = turn.messages.map(({ parts, ...message }): Message => {
    if (parts === undefined) return message;
    const placed = parts.map((part) =>
      part.kind === "text" ? part.text : media.push(part.kind === "image" ? part.image : part.sound) - 1,
    );
    return { ...message, placed };
  });
  return media.length === 0 ? { turn, media } : { turn: { ...turn, messages }, media };
}

/** Whether the client has begun the answer. */
export function isBegunAnswer({ role, content, tool_calls: calls = [] }: Message): boolean {
  return role === "assistant" && content !== "" && calls.length === 0;
}
