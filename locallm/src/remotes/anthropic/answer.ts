import type { AnswerPiece } from "../../dialogue/answer-piece.ts";
import type { GenerateDone } from "../../wire/inference/generate.ts";
import { asAmount, asCount, asList, asObject, asText, type JsonObject } from "../json-body.ts";
import { type Counts, noCounts } from "../measured.ts";
import type { RemoteCalls } from "../remote-calls.ts";

export interface AnthropicEnding {
  readonly reason: GenerateDone["reason"];
  readonly stopString: string | null;
}

/** Reads the events of a message, or a whole message. */
export class AnthropicAnswer {
  readonly #calls: RemoteCalls;
  #ending: AnthropicEnding | null = null;
  #counts: Counts = noCounts;

  constructor(calls: RemoteCalls) {
    this.#calls = calls;
  }

  /** Null until the message has a reason to stop. */
  get ending(): AnthropicEnding | null {
    return this.#ending;
  }

  get counts(): Counts {
    return this.#counts;
  }

  /** Throws a RangeError if the answer exceeds a bound. */
  push(event: JsonObject): AnswerPiece[] {
    const index = asAmount(event["index"]) ?? undefined;
    switch (event["type"]) {
      case "message_start":
        this.#count(asObject(event["message"])?.["usage"]);
        return [];
      case "content_block_start":
        return this.#block(asObject(event["content_block"]) ?? {}, index);
      case "content_block_delta":
        return this.#delta(asObject(event["delta"]) ?? {}, index);
      case "message_delta":
        this.#end(asObject(event["delta"]) ?? {});
        this.#count(event["usage"]);
        return [];
      case "message": {
        const pieces = asList(event["content"]).flatMap((block, at) =>
          this.#block(asObject(block) ?? {}, at),
        );
        this.#end(event);
        this.#count(event["usage"]);
        return pieces;
      }
      // Ignores ping, the end of blocks, and events of later versions.
      default:
        return [];
    }
  }

  end(): AnswerPiece[] {
    return this.#calls.end();
  }

  /** A block may start with text. In an unstreamed message, each block is complete. */
  #block(block: JsonObject, index: number | undefined): AnswerPiece[] {
    if (block["type"] === "text") return this.#text("content", block["text"]);
    if (block["type"] === "thinking") return this.#text("thinking", block["thinking"]);
    if (block["type"] !== "tool_use") return [];
    const input = asObject(block["input"]) ?? {};
    const text = Object.keys(input).length === 0 ? "" : JSON.stringify(input);
    return this.#calls.push({
      ...(index === undefined ? {} : { index }),
      ...{ id: asText(block["id"]) || undefined, name: asText(block["name"]) || undefined, text },
    });
  }

  #delta(delta: JsonObject, index: number | undefined): AnswerPiece[] {
    if (delta["type"] === "text_delta") return this.#text("content", delta["text"]);
    if (delta["type"] === "thinking_delta") return this.#text("thinking", delta["thinking"]);
    if (delta["type"] !== "input_json_delta") return [];
    const text = asText(delta["partial_json"]);
    return this.#calls.push({ ...(index === undefined ? {} : { index }), text });
  }

  #text(kind: "content" | "thinking", value: unknown): AnswerPiece[] {
    const text = asText(value);
    return text === "" ? [] : [...this.#calls.end(), { kind, text }];
  }

  #end(fields: JsonObject): void {
    const reason = fields["stop_reason"];
    if (typeof reason !== "string") return;
    const isFull = reason === "max_tokens" || reason === "model_context_window_exceeded";
    this.#ending = {
      reason: isFull ? "length" : "stop",
      stopString: asText(fields["stop_sequence"]) || null,
    };
  }

  /** Cached tokens are counted separately. The last event's counts include the earlier ones. */
  #count(value: unknown): void {
    const usage = asObject(value);
    if (usage === null) return;
    const read = asCount(usage["cache_read_input_tokens"]);
    const written = asCount(usage["cache_creation_input_tokens"]);
    const input = asCount(usage["input_tokens"]);
    this.#counts = {
      ...this.#counts,
      ...(input === null
        ? {}
        : { promptTokens: input + (read ?? 0) + (written ?? 0), cachedTokens: read ?? 0 }),
      evalTokens: asCount(usage["output_tokens"]) ?? this.#counts.evalTokens,
      thinkingTokens:
        asCount(asObject(usage["output_tokens_details"])?.["thinking_tokens"]) ?? this.#counts.thinkingTokens,
    };
  }
}
