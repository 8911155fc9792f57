import { type ChatLine, chatLine } from "../wire/api/answers.ts";
import { counted } from "../wire/counted.ts";
import { LocallmError } from "../wire/errors.ts";
import type { Client } from "./client.ts";
import { type Senses, takeMedia } from "./picture-paths.ts";
import { Spinner } from "./spinner.ts";
import { plain } from "./text.ts";
import { WordWrap } from "./word-wrap.ts";

export interface ChatSettings {
  model: string;
  system: string | null;
  options: Record<string, unknown>;
  format: unknown;
  think: boolean | string | null;
  hideThinking: boolean;
  /** Whether paths of pictures in questions are replaced by the pictures. */
  senses: Senses;
  keepAlive: string | null;
  verbose: boolean;
  /** Applies only on a terminal. */
  wordWrap: boolean;
}

/** Reads `json` or a JSON schema. Throws `invalid_format` for anything else. */
export function readFormat(text: string): unknown {
  if (text === "json") return text;
  try {
    const schema: unknown = JSON.parse(text);
    if (typeof schema === "object" && schema !== null) return schema;
  } catch {}
  throw new LocallmError("invalid_format", { detail: "" });
}

/** Reads `true`, `false`, or a thinking level, which the server checks. */
export function readSwitch(value: string | boolean): string | boolean {
  return value === "true" ? true : value === "false" ? false : value;
}

interface Turn {
  role: "system" | "user" | "assistant";
  content: string;
  images?: readonly string[];
}

/** A conversation with a model. Each question sends all earlier messages, because the server keeps none. */
export class Conversation {
  settings: ChatSettings;
  turns: Turn[] = [];
  #client: Client;
  #output: NodeJS.WriteStream;
  #spinner: Spinner;

  constructor(client: Client, settings: ChatSettings, output: NodeJS.WriteStream) {
    this.#client = client;
    this.settings = settings;
    this.#output = output;
    this.#spinner = new Spinner(output);
  }

  /** Loads the model, to report load errors before the first question. */
  async load(): Promise<void> {
    const { model, keepAlive, options } = this.settings;
    const body = { model, options, ...(keepAlive === null ? {} : { keep_alive: keepAlive }), stream: false };
    this.#spinner.start(`loading ${plain(model)}`);
    try {
      await this.#client.json("/api/chat", chatLine, { body: { ...body, messages: [] } });
    } finally {
      this.#spinner.stop();
    }
  }

  /** Asks and prints the answer as it arrives. On abort, keeps the part that arrived. */
  async ask(question: string, signal?: AbortSignal): Promise<void> {
    this.turns.push(await this.#asked(question));
    let answer = "";
    let isThinking = false;
    let last: ChatLine | null = null;
    const wrap =
      this.settings.wordWrap && this.#output.isTTY ? new WordWrap(() => this.#output.columns) : null;
    const write = (text: string) => this.#output.write(wrap === null ? plain(text) : wrap.add(plain(text)));
    this.#spinner.start("thinking");
    try {
      for await (const chunk of this.#chunks(signal)) {
        this.#spinner.stop();
        const { thinking = "", content = "" } = chunk.message ?? {};
        if (thinking !== "" && !this.settings.hideThinking) {
          write(isThinking ? thinking : `Thinking...\n${thinking}`);
          isThinking = true;
        }
        if (content !== "") {
          write(isThinking ? `\n...done thinking.\n\n${content}` : content);
          isThinking = false;
          answer += content;
        }
        if (chunk.done) last = chunk;
      }
    } catch (error) {
      if (!signal?.aborted) {
        this.turns.pop();
        throw error;
      }
    } finally {
      this.#spinner.stop();
    }
    this.#output.write(`${wrap?.end() ?? ""}\n`);
    this.turns.push({ role: "assistant", content: answer });
    const dropped = last?.truncated?.messages ?? 0;
    if (dropped > 0)
      this.#output.write(
        `(${counted(dropped, "message was", "messages were")} dropped from the beginning of the conversation to fit the context window.)\n`,
      );
    if (last?.done_reason === "length" && last.context_length !== undefined)
      this.#output.write(
        `(The answer stopped because the context window of ${counted(last.context_length, "token")} is full. For a larger one: /set parameter num_ctx ${2 * last.context_length})\n`,
      );
    if (this.settings.verbose && last !== null) this.#output.write(`\n${figures(last)}`);
  }

  async #asked(question: string): Promise<Turn> {
    const { text, images, paths } = await takeMedia(question, this.settings.senses);
    // Not in the answer, which may go into a file.
    for (const path of paths) console.error(plain(`Added ${path}`));
    return { role: "user", content: text, ...(images.length === 0 ? {} : { images }) };
  }

  #chunks(signal: AbortSignal | undefined): AsyncGenerator<ChatLine> {
    const { model, system, options, format, think, keepAlive } = this.settings;
    const messages = [
      ...(system === null ? [] : [{ role: "system" as const, content: system }]),
      ...this.turns,
    ];
    const body = {
      model,
      messages,
      options,
      ...(format === null ? {} : { format }),
      ...(think === null ? {} : { think }),
      ...(keepAlive === null ? {} : { keep_alive: keepAlive }),
    };
    const call = { body, ...(signal === undefined ? {} : { signal }) };
    return this.#client.lines("/api/chat", chatLine, ({ done }) => done, call);
  }
}

function figures(last: ChatLine): string {
  const seconds = (ns = 0) => `${(ns / 1e9).toFixed(3)}s`;
  const rate = (count = 0, ns = 0) => `${ns > 0 ? (count / (ns / 1e9)).toFixed(2) : "0"} tokens/s`;
  const guessed = (count: number, right = 0) => `${count} token(s), ${right} of them right`;
  const rows = [
    ["total duration:", seconds(last.total_duration)],
    ["load duration:", seconds(last.load_duration)],
    ["prompt eval count:", `${last.prompt_eval_count ?? 0} token(s)`],
    ["prompt eval duration:", seconds(last.prompt_eval_duration)],
    ["prompt eval rate:", rate(last.prompt_eval_count, last.prompt_eval_duration)],
    ["eval count:", `${last.eval_count ?? 0} token(s)`],
    ["eval duration:", seconds(last.eval_duration)],
    ["eval rate:", rate(last.eval_count, last.eval_duration)],
    ...(last.draft_n ? [["guessed ahead:", guessed(last.draft_n, last.draft_n_accepted)]] : []),
  ];
  return rows.map(([name = "", value = ""]) => `${name.padEnd(22)}${value}\n`).join("");
}
