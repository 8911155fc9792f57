import type { AnswerPiece } from "../../dialogue/answer-piece.ts";
import { type AnswerReader, createReader } from "../../dialogue/answer-reader.ts";
import type { GenerateDone } from "../../wire/inference/generate.ts";
import { asAmount, asCount, asList, asObject, asText, type JsonObject } from "../json-body.ts";
import { logprobsOf } from "../logprobs.ts";
import { type Counts, nanoseconds, noCounts } from "../measured.ts";
import type { CallPart, RemoteCalls } from "../remote-calls.ts";

/** How an answer ended. Null if the engine did not report it. */
export interface Ending {
  readonly reason: string | null;
  readonly stopString: string | null;
  readonly counts: Counts;
}

/** Reads the chunks of a chat or a completion, streamed or whole. */
export class OpenAiAnswer {
  readonly #calls: RemoteCalls;
  /** Finds thinking that the engine left in the text. */
  #text: AnswerReader | null = createReader({
    ...{ thinking: { open: "<think>", close: "</think>" }, open: false, format: null, tools: [] },
  });
  #logprobs: NonNullable<ReturnType<typeof logprobsOf>> = [];
  #isTrimming = false;
  #reason: string | null = null;
  #stopString: string | null = null;
  #counts: Counts = noCounts;

  constructor(calls: RemoteCalls) {
    this.#calls = calls;
  }

  get ending(): Ending {
    return { reason: this.#reason, stopString: this.#stopString, counts: this.#counts };
  }

  /** Throws a RangeError if the answer exceeds a bound. */
  push(chunk: JsonObject): AnswerPiece[] {
    this.#count(chunk);
    const choice = asList(chunk["choices"])
      .map(asObject)
      .find((each) => each !== null && (each["index"] ?? 0) === 0);
    if (choice === undefined || choice === null) return [];
    const pieces: AnswerPiece[] = [];
    // A whole answer has a message instead of a delta; a completion has a text.
    const delta = asObject(choice["delta"]) ?? asObject(choice["message"]) ?? {};
    this.#logprobs.push(...(logprobsOf(choice["logprobs"]) ?? []));
    pieces.push(...this.#thinking(asText(delta["reasoning_content"]) || asText(delta["reasoning"])));
    for (const part of contentParts(delta["content"])) {
      if (part.kind === "thinking") pieces.push(...this.#thinking(part.text));
      else pieces.push(...this.#content(part.text));
    }
    pieces.push(...this.#content(asText(delta["refusal"]) || asText(choice["text"])));
    for (const part of callParts(delta)) {
      pieces.push(...this.#endText());
      pieces.push(...this.#calls.push(part));
    }
    const reason = choice["finish_reason"];
    if (typeof reason === "string" && reason !== "") this.#reason = reason;
    // vLLM and SGLang name the stop string; a number is the id of a stop token.
    const stop = choice["stop_reason"] ?? choice["matched_stop"];
    if (typeof stop === "string") this.#stopString = stop;
    return this.#withLogprobs(pieces);
  }

  end(): AnswerPiece[] {
    return this.#withLogprobs([...this.#endText(), ...this.#calls.end()]);
  }

  #thinking(text: string): AnswerPiece[] {
    if (text === "") return [];
    const held = this.#endText();
    this.#isTrimming = true;
    return [...held, ...this.#calls.end(), { kind: "thinking", text }];
  }

  #content(text: string): AnswerPiece[] {
    if (text === "") return [];
    if (this.#text !== null) return this.#text.push(text);
    // vLLM leaves the empty lines between thinking and answer.
    const rest = this.#isTrimming ? text.trimStart() : text;
    if (rest === "") return [];
    this.#isTrimming = false;
    return [...this.#calls.end(), { kind: "content", text: rest }];
  }

  /** Text that was held back, because it could have been the beginning of a tag. Stops looking for tags. */
  #endText(): AnswerPiece[] {
    const held = this.#text?.end() ?? [];
    this.#text = null;
    return held;
  }

  /** The tokens of a chunk belong to its text, which may come with a later chunk. */
  #withLogprobs(pieces: AnswerPiece[]): AnswerPiece[] {
    const first = pieces.findIndex(({ kind }) => kind === "content" || kind === "thinking");
    if (this.#logprobs.length === 0 || first === -1) return pieces;
    const logprobs = this.#logprobs;
    this.#logprobs = [];
    return pieces.with(first, { ...pieces[first], logprobs } as AnswerPiece);
  }

  #count(chunk: JsonObject): void {
    const usage = asObject(chunk["usage"]);
    if (usage !== null) {
      const cached = asObject(usage["prompt_tokens_details"])?.["cached_tokens"];
      const thinking = asObject(usage["completion_tokens_details"])?.["reasoning_tokens"];
      this.#counts = {
        ...this.#counts,
        promptTokens: asCount(usage["prompt_tokens"]),
        evalTokens: asCount(usage["completion_tokens"]),
        // SGLang; DeepSeek.
        cachedTokens: asCount(cached) ?? asCount(usage["prompt_cache_hit_tokens"]),
        thinkingTokens: asCount(thinking) ?? asCount(usage["reasoning_tokens"]),
      };
    }
    // llama-server: `cache_n` tokens came from the cache, `prompt_n` were computed.
    const timings = asObject(chunk["timings"]);
    if (timings === null) return;
    const ns = (ms: unknown) => {
      const amount = asAmount(ms);
      return amount === null ? null : nanoseconds(amount);
    };
    const cached = asCount(timings["cache_n"]);
    const computed = asCount(timings["prompt_n"]);
    this.#counts = {
      ...this.#counts,
      promptTokens: this.#counts.promptTokens ?? (computed === null ? null : computed + (cached ?? 0)),
      cachedTokens: this.#counts.cachedTokens ?? cached,
      evalTokens: this.#counts.evalTokens ?? asCount(timings["predicted_n"]),
      promptNs: ns(timings["prompt_ms"]),
      evalNs: ns(timings["predicted_ms"]),
    };
  }
}

/** `abort` and `error` have no entry: the engine gave up. Unknown reasons count as a stop. */
export function doneReason(reason: string): GenerateDone["reason"] {
  return reason === "length" || reason === "max_tokens" ? "length" : "stop";
}

/** Content is a text, or a list of parts, in which Mistral's engine sends its thinking. */
function contentParts(content: unknown): ContentPart[] {
  if (typeof content === "string") return [{ kind: "content", text: content }];
  return asList(content).map((each): ContentPart => {
    const part = asObject(each) ?? {};
    if (part["type"] !== "thinking") return { kind: "content", text: asText(part["text"]) };
    const texts = asList(part["thinking"]).map((thought) => asText(asObject(thought)?.["text"]));
    return { kind: "thinking", text: asText(part["thinking"]) || texts.join("") };
  });
}

interface ContentPart {
  readonly kind: "content" | "thinking";
  readonly text: string;
}

/** Calls, and the single call of the protocol's first version. */
function callParts(delta: JsonObject): CallPart[] {
  const old = asObject(delta["function_call"]);
  const calls = asList(delta["tool_calls"]).map(asObject);
  return [...calls, ...(old === null ? [] : [{ index: 0, function: old }])].flatMap((call) => {
    if (call === null) return [];
    const called = asObject(call["function"]) ?? {};
    const { name, arguments: values } = called as { name?: unknown; arguments?: unknown };
    const text = typeof values === "object" && values !== null ? JSON.stringify(values) : asText(values);
    const index = asAmount(call["index"]);
    return [
      {
        ...(index === null ? {} : { index }),
        ...{ id: asText(call["id"]) || undefined, name: asText(name) || undefined, text },
      },
    ];
  });
}
