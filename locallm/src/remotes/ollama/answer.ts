import type { AnswerPiece } from "../../dialogue/answer-piece.ts";
import type { GenerateDone } from "../../wire/inference/generate.ts";
import { asAmount, asCount, asList, asObject, asText, type JsonObject } from "../json-body.ts";
import { logprobsOf } from "../logprobs.ts";
import { type Counts, noCounts } from "../measured.ts";
import type { RemoteCalls } from "../remote-calls.ts";

/** The last line of an answer. */
export interface OllamaEnding {
  readonly reason: GenerateDone["reason"];
  readonly counts: Counts;
}

/** Reads the lines of a chat or of a generated text. */
export class OllamaAnswer {
  readonly #calls: RemoteCalls;
  #ending: OllamaEnding | null = null;

  constructor(calls: RemoteCalls) {
    this.#calls = calls;
  }

  /** Null until the last line has arrived. */
  get ending(): OllamaEnding | null {
    return this.#ending;
  }

  /** Throws a RangeError if the answer exceeds a bound. */
  push(line: JsonObject): AnswerPiece[] {
    const message = asObject(line["message"]) ?? { content: line["response"], thinking: line["thinking"] };
    const logprobs = logprobsOf(line["logprobs"]);
    const pieces: AnswerPiece[] = [];
    for (const kind of ["thinking", "content"] as const) {
      const text = asText(message[kind]);
      if (text === "") continue;
      pieces.push({ kind, text, ...(logprobs === null ? {} : { logprobs }) });
    }
    for (const each of asList(message["tool_calls"])) {
      const call = asObject(each);
      const called = asObject(call?.["function"]);
      const values = called?.["arguments"];
      const part = {
        ...{ id: asText(call?.["id"]) || undefined, name: asText(called?.["name"]) || undefined },
        text: typeof values === "string" ? values : JSON.stringify(values ?? {}),
      };
      // Each call comes whole.
      pieces.push(...this.#calls.push(part), ...this.#calls.end());
    }
    if (line["done"] === true) this.#ending = endingOf(line);
    return pieces;
  }
}

function endingOf(line: JsonObject): OllamaEnding {
  const count = (name: string) => asCount(line[name]);
  return {
    reason: line["done_reason"] === "length" ? "length" : "stop",
    counts: {
      ...noCounts,
      promptTokens: count("prompt_eval_count"),
      // Ollama omits a count of 0.
      evalTokens: count("eval_count") ?? (count("prompt_eval_count") === null ? null : 0),
      cachedTokens: count("prompt_cached_count"),
      promptNs: asAmount(line["prompt_eval_duration"]),
      evalNs: asAmount(line["eval_duration"]),
    },
  };
}
