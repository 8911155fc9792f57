import type { AnswerPiece } from "../../dialogue/answer-reader.ts";
import type { ResponsesItem } from "../../wire/openai/responses.ts";
import { type NextLine, shapeOf } from "../outlet.ts";
import type { TurnDone, TurnEvent } from "../run-turn.ts";
import { namedEvent, newId } from "../sse.ts";
import type { ResponseObject } from "./kept-response.ts";
import { customText } from "./responses-tools.ts";

export type ResponseEvent = { readonly type: string } & Record<string, unknown>;

type Item = ResponsesItem & { readonly id: string; readonly type: string; status: string };

/**
 * Builds one response object piece by piece and returns OpenAI's streaming events for each step. Items (reasoning,
 * message, function call) open, grow and close one after the other.
 */
export class ResponseBuilder {
  readonly #now: () => number;
  readonly #customs: ReadonlySet<string>;
  readonly #response: { id: string; created_at: number; status: string; output: Item[] } & Record<
    string,
    unknown
  >;
  #sequence = 0;
  /** What the model wrote so far for the custom tool that it is calling. */
  #customArguments = "";
  /** The text item that is not finished yet. */
  #open: { item: Item; text: string; kind: "content" | "thinking" } | null = null;

  /** `customs` are the tools whose calls carry a text instead of arguments. */
  constructor(
    model: string,
    echoed: Record<string, unknown>,
    now: () => number,
    customs: ReadonlySet<string> = new Set(),
  ) {
    this.#now = now;
    this.#customs = customs;
    this.#response = {
      id: newId("resp_"),
      object: "response",
      created_at: now(),
      status: "in_progress",
      background: false,
      completed_at: null,
      error: null,
      incomplete_details: null,
      model,
      output: [],
      ...echoed,
      usage: null,
      access_programs: null,
    };
  }

  get response(): ResponseObject {
    return this.#response;
  }

  /** Call it before the last event is sent. */
  wasNotKept(): void {
    this.#response["store"] = false;
  }

  begin(): ResponseEvent[] {
    return [
      this.#event("response.created", { response: structuredClone(this.#response) }),
      this.#event("response.in_progress", { response: structuredClone(this.#response) }),
    ];
  }

  take(piece: TurnEvent): ResponseEvent[] {
    switch (piece.kind) {
      case "content":
      case "thinking":
        // Others have told the text in so many lines.
        if (piece.toldIn !== undefined) this.#sequence += piece.toldIn - 1;
        return this.#text(piece.kind, piece.text);
      case "call":
        return [...this.#close(), ...this.#call(piece)];
      case "arguments": {
        const item = this.#response.output.at(-1)!;
        if (item.type === "custom_tool_call") {
          this.#customArguments += piece.text;
          return [];
        }
        item["arguments"] = String(item["arguments"]) + piece.text;
        return [this.#of("response.function_call_arguments.delta", item, { delta: piece.text })];
      }
      case "called": {
        const item = this.#response.output.at(-1)!;
        item.status = "completed";
        if (item.type === "custom_tool_call") return this.#customCalled(item);
        return [
          this.#of("response.function_call_arguments.done", item, {
            name: item["name"],
            arguments: item["arguments"],
          }),
          this.#itemEvent("response.output_item.done", item),
        ];
      }
      case "done":
        return [...this.#close(), ...this.#finish(piece)];
    }
  }

  #text(kind: "content" | "thinking", text: string): ResponseEvent[] {
    const events: ResponseEvent[] = [];
    if (this.#open?.kind !== kind) events.push(...this.#close(), ...this.#openText(kind));
    const open = this.#open!;
    open.text += text;
    events.push({ ...this.#delta(kind, open.item, text), sequence_number: this.#sequence++ });
    return events;
  }

  /** How the next piece of this kind is told, if it is one event. */
  nextLine(kind: "content" | "thinking"): NextLine | null {
    const open = this.#open;
    if (open?.kind !== kind) return null;
    const shape = shapeOf(({ text, number }) =>
      namedEvent({ ...this.#delta(kind, open.item, text), sequence_number: number }),
    );
    return { shape, number: this.#sequence };
  }

  #delta(kind: "content" | "thinking", item: Item, text: string): ResponseEvent {
    return {
      type: kind === "content" ? "response.output_text.delta" : "response.reasoning_text.delta",
      ...{ sequence_number: 0, item_id: item.id, output_index: this.#response.output.indexOf(item) },
      ...{ content_index: 0, delta: text, ...(kind === "content" ? { logprobs: [] } : {}) },
    };
  }

  #openText(kind: "content" | "thinking"): ResponseEvent[] {
    const item: Item =
      kind === "content"
        ? { id: newId("msg_"), type: "message", status: "in_progress", role: "assistant", content: [] }
        : { id: newId("rs_"), type: "reasoning", status: "in_progress", summary: [], content: [] };
    this.#response.output.push(item);
    this.#open = { item, text: "", kind };
    const added = this.#itemEvent("response.output_item.added", item);
    return [added, this.#of("response.content_part.added", item, { content_index: 0, part: part(kind, "") })];
  }

  #close(): ResponseEvent[] {
    if (this.#open === null) return [];
    const { item, text, kind } = this.#open;
    this.#open = null;
    item["content"] = [part(kind, text)];
    item.status = "completed";
    const name = kind === "content" ? "response.output_text.done" : "response.reasoning_text.done";
    return [
      this.#of(name, item, { content_index: 0, text, ...(kind === "content" ? { logprobs: [] } : {}) }),
      this.#of("response.content_part.done", item, { content_index: 0, part: part(kind, text) }),
      this.#itemEvent("response.output_item.done", item),
    ];
  }

  #call({ id, name }: AnswerPiece & { kind: "call" }): ResponseEvent[] {
    const called = { status: "in_progress", call_id: id, name };
    const item: Item = this.#customs.has(name)
      ? { id: newId("ctc_"), type: "custom_tool_call", ...called, input: "" }
      : { id: newId("fc_"), type: "function_call", ...called, arguments: "" };
    this.#customArguments = "";
    this.#response.output.push(item);
    return [this.#itemEvent("response.output_item.added", item)];
  }

  /** The text of a custom tool is known when the JSON around it is whole. */
  #customCalled(item: Item): ResponseEvent[] {
    const input = customText(this.#customArguments);
    item["input"] = input;
    return [
      this.#of("response.custom_tool_call_input.delta", item, { delta: input }),
      this.#of("response.custom_tool_call_input.done", item, { input }),
      this.#itemEvent("response.output_item.done", item),
    ];
  }

  #finish({ done: ended, thinkingTokens, violations }: TurnDone): ResponseEvent[] {
    const cut = ended.reason === "length";
    const response = this.#response;
    response.status = cut ? "incomplete" : "completed";
    if (cut) response["incomplete_details"] = { reason: "max_output_tokens" };
    else response["completed_at"] = this.#now();
    response["usage"] = {
      input_tokens: ended.promptTokens,
      input_tokens_details: { cached_tokens: ended.cachedTokens, cache_write_tokens: 0 },
      output_tokens: ended.evalTokens,
      output_tokens_details: { reasoning_tokens: thinkingTokens },
      total_tokens: ended.promptTokens + ended.evalTokens,
    };
    if (violations.length > 0) response["format_violations"] = violations;
    return [this.#event(cut ? "response.incomplete" : "response.completed", { response })];
  }

  #itemEvent(type: string, item: Item): ResponseEvent {
    return this.#event(type, {
      output_index: this.#response.output.indexOf(item),
      item: structuredClone(item),
    });
  }

  #of(type: string, item: Item, fields: Record<string, unknown>): ResponseEvent {
    return this.#event(type, {
      item_id: item.id,
      output_index: this.#response.output.indexOf(item),
      ...fields,
    });
  }

  #event(type: string, fields: Record<string, unknown>): ResponseEvent {
    const event = { type, sequence_number: this.#sequence, ...fields };
    this.#sequence += 1;
    return event;
  }
}

function part(kind: "content" | "thinking", text: string) {
  return kind === "content"
    ? { type: "output_text", text, annotations: [], logprobs: [] }
    : { type: "reasoning_text", text };
}
