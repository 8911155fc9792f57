import { type ChatLine, chatLine } from "../wire/api/answers.ts";
import type { Client } from "./client.ts";
import { plain } from "./text.ts";
import { WordWrap } from "./word-wrap.ts";

export interface ChatSettings {
  model: string;
  system: string | null;
  options: Record<string, unknown>;
  format: unknown;
  think: boolean | string | null;
  hideThinking: boolean;
  keepAlive: string | null;
  verbose: boolean;
  /** On a terminal. */
  wordWrap: boolean;
}

/** `json`, or a schema as text. What is neither goes to the server, which says what is wrong with it. */
export function readFormat(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** `true`, `false`, or what the server makes of it: a level of thinking. */
export function readSwitch(value: string | boolean): string | boolean {
  return value === "true" ? true : value === "false" ? false : value;
}

interface Turn {
  role: "system" | "user" | "assistant";
  content: string;
}

/** A conversation with a model: what was said so far goes with every question, as the server keeps nothing. */
export class Conversation {
  settings: ChatSettings;
  turns: Turn[] = [];
  #client: Client;
  #output: NodeJS.WriteStream;

  constructor(client: Client, settings: ChatSettings, output: NodeJS.WriteStream) {
    this.#client = client;
    this.settings = settings;
    this.#output = output;
  }

  /** Loads the model, so that what is wrong with it is said before the first question. */
  async load(): Promise<void> {
    const { model, keepAlive, options } = this.settings;
    const body = { model, options, ...(keepAlive === null ? {} : { keep_alive: keepAlive }), stream: false };
    await this.#client.json("/api/chat", chatLine, { body: { ...body, messages: [] } });
  }

  /** Asks, and writes the answer as it comes. An answer that was cut off by the signal stays as far as it came. */
  async ask(question: string, signal?: AbortSignal): Promise<void> {
    this.turns.push({ role: "user", content: question });
    let answer = "";
    let isThinking = false;
    let last: ChatLine | null = null;
    const wrap = this.settings.wordWrap && this.#output.isTTY ? new WordWrap(this.#output.columns) : null;
    const write = (text: string) => this.#output.write(wrap === null ? plain(text) : wrap.add(plain(text)));
    try {
      for await (const chunk of this.#chunks(signal)) {
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
    }
    this.#output.write(`${wrap?.end() ?? ""}\n`);
    this.turns.push({ role: "assistant", content: answer });
    const dropped = last?.truncated?.messages ?? 0;
    if (dropped > 0) this.#output.write(`(the first ${dropped} messages no longer fit into the window)\n`);
    if (this.settings.verbose && last !== null) this.#output.write(`\n${figures(last)}`);
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
  const rows = [
    ["total duration:", seconds(last.total_duration)],
    ["load duration:", seconds(last.load_duration)],
    ["prompt eval count:", `${last.prompt_eval_count ?? 0} token(s)`],
    ["prompt eval duration:", seconds(last.prompt_eval_duration)],
    ["prompt eval rate:", rate(last.prompt_eval_count, last.prompt_eval_duration)],
    ["eval count:", `${last.eval_count ?? 0} token(s)`],
    ["eval duration:", seconds(last.eval_duration)],
    ["eval rate:", rate(last.eval_count, last.eval_duration)],
  ];
  return rows.map(([name = "", value = ""]) => `${name.padEnd(22)}${value}\n`).join("");
}
