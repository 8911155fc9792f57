import type { PromptCounts } from "../../wire/inference/generate.ts";
import type { TurnDone, TurnEvent } from "../run-turn.ts";
import { newId } from "../sse.ts";
import { signatureOf } from "./signature.ts";

export type MessageEvent = { readonly type: string } & Record<string, unknown>;

export interface MessageWish {
  readonly model: string;
  /** Whether thinking blocks omit their text. */
  readonly omitsThinking: boolean;
  /** The client's stop sequences. The response never names those of the model. */
  readonly stopSequences: readonly string[];
  readonly maxTokens: number;
}

type Open =
  | { readonly kind: "text" | "thinking"; text: string }
  | { readonly kind: "call"; readonly id: string; readonly name: string };

/**
 * Builds one message piece by piece and returns Anthropic's streaming events for each step. Blocks (thinking, text,
 * tool_use) open, grow and close one after the other.
 */
export class MessageBuilder {
  readonly #wish: MessageWish;
  readonly #message: { content: Record<string, unknown>[] } & Record<string, unknown>;
  #prompt: PromptCounts = { promptTokens: 0, cachedTokens: 0, truncatedTokens: 0 };
  #hasBegun = false;
  #open: Open | null = null;

  constructor(wish: MessageWish) {
    this.#wish = wish;
    this.#message = {
      id: newId("msg_"),
      type: "message",
      role: "assistant",
      model: wish.model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      stop_details: null,
      container: null,
      diagnostics: null,
      usage: { ...usageOf(this.#prompt, 0, 0), ...ofMessage },
    };
  }

  get message(): Readonly<Record<string, unknown>> {
    return this.#message;
  }

  /** Call it before the first piece, so that the first event reports the prompt's tokens. */
  readonly prompt = (counts: PromptCounts): void => {
    this.#prompt = counts;
  };

  take(piece: TurnEvent): MessageEvent[] {
    if (!this.#hasBegun && piece.kind === "done") this.#prompt = piece.done;
    const events = this.#begin();
    switch (piece.kind) {
      case "content":
        events.push(...this.#text("text", piece.text));
        break;
      case "thinking":
        events.push(...this.#text("thinking", piece.text));
        break;
      case "call": {
        const { id, name } = piece;
        events.push(...this.#close(), ...this.#start({ kind: "call", id, name }));
        break;
      }
      case "arguments":
        events.push(this.#delta({ type: "input_json_delta", partial_json: piece.text }));
        break;
      case "called": {
        const { id, name, arguments: input, text } = piece.call;
        this.#message.content.push({ type: "tool_use", id, name, input: input ?? { arguments: text } });
        events.push(this.#stop());
        break;
      }
      case "done":
        events.push(...this.#close(), ...this.#finish(piece));
        break;
    }
    return events;
  }

  #begin(): MessageEvent[] {
    if (this.#hasBegun) return [];
    this.#hasBegun = true;
    this.#message["usage"] = { ...usageOf(this.#prompt, 0, 0), ...ofMessage };
    return [{ type: "message_start", message: structuredClone(this.#message) }, ping];
  }

  #text(kind: "text" | "thinking", text: string): MessageEvent[] {
    const events = this.#open?.kind === kind ? [] : [...this.#close(), ...this.#start({ kind, text: "" })];
    const open = this.#open as Extract<Open, { text: string }>;
    open.text += text;
    if (kind === "text" || !this.#wish.omitsThinking)
      events.push(this.delta(kind === "text" ? "content" : "thinking", text));
    return events;
  }

  /** Whether the next piece of this kind becomes one event, `delta`. */
  grows(kind: "content" | "thinking"): boolean {
    const open = kind === "content" ? "text" : "thinking";
    return this.#open?.kind === open && !(kind === "thinking" && this.#wish.omitsThinking);
  }

  delta(kind: "content" | "thinking", text: string): MessageEvent {
    return this.#delta(
      kind === "content" ? { type: "text_delta", text } : { type: "thinking_delta", thinking: text },
    );
  }

  #start(open: Open): MessageEvent[] {
    this.#open = open;
    const block =
      open.kind === "call"
        ? { type: "tool_use", id: open.id, name: open.name, input: {} }
        : this.#block(open.kind, "", "");
    return [{ type: "content_block_start", index: this.#message.content.length, content_block: block }];
  }

  #close(): MessageEvent[] {
    if (this.#open === null || this.#open.kind === "call") return [];
    const { kind, text } = this.#open;
    const { omitsThinking } = this.#wish;
    const signature = signatureOf(text, omitsThinking);
    const signed = kind === "thinking" ? [this.#delta({ type: "signature_delta", signature })] : [];
    this.#message.content.push(
      this.#block(kind, kind === "thinking" && omitsThinking ? "" : text, signature),
    );
    return [...signed, this.#stop()];
  }

  #block(kind: "text" | "thinking", text: string, signature: string): Record<string, unknown> {
    return kind === "text"
      ? { type: "text", text, citations: null }
      : { type: "thinking", thinking: text, signature };
  }

  #delta(delta: MessageEvent): MessageEvent {
    return { type: "content_block_delta", index: this.#message.content.length, delta };
  }

  /** Called after the block was added to the message. */
  #stop(): MessageEvent {
    this.#open = null;
    return { type: "content_block_stop", index: this.#message.content.length - 1 };
  }

  #finish({ done, thinkingTokens, violations }: TurnDone): MessageEvent[] {
    const stopped =
      done.reason === "stop" &&
      done.stopString !== null &&
      this.#wish.stopSequences.includes(done.stopString);
    const delta = {
      stop_reason: this.#stopReason(done, stopped),
      stop_sequence: stopped ? done.stopString : null,
      stop_details: null,
      container: null,
    };
    const usage = usageOf(done, done.evalTokens, thinkingTokens);
    // An extension of Anthropic's API, as in the other APIs.
    const broken = violations.length === 0 ? {} : { format_violations: violations };
    Object.assign(this.#message, delta, { usage: { ...usage, ...ofMessage } }, broken);
    return [{ type: "message_delta", delta, usage, ...broken }, { type: "message_stop" }];
  }

  #stopReason({ reason, evalTokens }: TurnDone["done"], stopped: boolean): string {
    if (reason === "length")
      return evalTokens >= this.#wish.maxTokens ? "max_tokens" : "model_context_window_exceeded";
    if (stopped) return "stop_sequence";
    return this.#message.content.some(({ type }) => type === "tool_use") ? "tool_use" : "end_turn";
  }
}

const ping: MessageEvent = { type: "ping" };

/** Anthropic reports the cached tokens of a prompt separately. */
function usageOf({ promptTokens, cachedTokens }: PromptCounts, outputTokens: number, thinkingTokens: number) {
  return {
    input_tokens: promptTokens - cachedTokens,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: cachedTokens,
    output_tokens: outputTokens,
    output_tokens_details: { thinking_tokens: thinkingTokens },
    server_tool_use: null,
  };
}

/** What the usage of a whole message has besides that of the event `message_delta`. */
const ofMessage = { cache_creation: null, inference_geo: null, service_tier: "standard", speed: null };
