import type { Client } from "./client.ts";
import { plain } from "./text.ts";

export interface ChatSettings {
  model: string;
  system: string | null;
  options: Record<string, unknown>;
  format: unknown;
  think: boolean | string | null;
  hideThinking: boolean;
  keepAlive: string | null;
  verbose: boolean;
}

interface Turn {
  role: "system" | "user" | "assistant";
  content: string;
}

interface Chunk {
  message?: { content?: string; thinking?: string };
  done: boolean;
  total_duration?: number;
  load_duration?: number;
  prompt_eval_count?: number;
  prompt_eval_duration?: number;
  eval_count?: number;
  eval_duration?: number;
  truncated?: { messages: number };
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

  /** Asks, and writes the answer as it comes. An answer that was cut off by the signal stays as far as it came. */
  async ask(question: string, signal?: AbortSignal): Promise<void> {
    this.turns.push({ role: "user", content: question });
    let answer = "";
    let isThinking = false;
    let last: Chunk | null = null;
    try {
      for await (const chunk of this.#chunks(signal)) {
        const { thinking = "", content = "" } = chunk.message ?? {};
        if (thinking !== "" && !this.settings.hideThinking) {
          this.#output.write(plain(isThinking ? thinking : `Thinking...\n${thinking}`));
          isThinking = true;
        }
        if (content !== "") {
          this.#output.write(plain(isThinking ? `\n...done thinking.\n\n${content}` : content));
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
    this.#output.write("\n");
    this.turns.push({ role: "assistant", content: answer });
    const dropped = last?.truncated?.messages ?? 0;
    if (dropped > 0) this.#output.write(`(the first ${dropped} messages no longer fit into the window)\n`);
    if (this.settings.verbose && last !== null) this.#output.write(`\n${figures(last)}`);
  }

  #chunks(signal: AbortSignal | undefined): AsyncGenerator<Chunk> {
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
    return this.#client.lines<Chunk>("/api/chat", { body, ...(signal === undefined ? {} : { signal }) });
  }
}

function figures(last: Chunk): string {
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
