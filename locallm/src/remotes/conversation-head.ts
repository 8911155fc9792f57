import { hash } from "node:crypto";
import type { RemoteCompletion, RemoteTurn } from "./engine.ts";

/**
 * Identifies a conversation by how it begins, so that its next request can go to the replica that has already computed
 * the beginning.
 */
export interface ConversationHead {
  /** Stays the same while the conversation grows. */
  readonly conversation: string;
  /** Hashes of the conversation's beginnings, shortest first. */
  readonly beginnings: readonly string[];
  /** The beginnings that a later request may have in common with this one. */
  readonly remembered: readonly string[];
}

/**
 * A beginning ends with a message. Those with only tools and system messages do not count: all users of an application
 * share them, and would end up on one replica.
 */
export function headOfTurn(model: string, { turn }: RemoteTurn): ConversationHead {
  let chain = digest(`${model}\n${JSON.stringify(turn.tools)}`);
  const beginnings: string[] = [];
  for (const message of turn.messages) {
    chain = digest(chain + JSON.stringify(message));
    if (beginnings.length > 0 || message.role !== "system") beginnings.push(chain);
  }
  if (beginnings.length === 0) beginnings.push(chain);
  // The next request of the conversation repeats all of these messages.
  return { conversation: beginnings[0]!, beginnings, remembered: beginnings.slice(-1) };
}

/** A text has no messages, so its beginnings double in length. */
export function headOfText(model: string, { prompt }: RemoteCompletion): ConversationHead {
  let chain = digest(model);
  const beginnings: string[] = [];
  for (let from = 0, to = shortestBeginning; to <= prompt.length; from = to, to *= 2) {
    chain = digest(chain + prompt.slice(from, to));
    beginnings.push(chain);
  }
  const conversation = beginnings[0] ?? digest(chain + prompt);
  return { conversation, beginnings, remembered: beginnings };
}

const shortestBeginning = 1024;

/** A number between 0 and 1, always the same for a conversation and a replica, evenly distributed. */
export function drawLot(conversation: string, replica: string): number {
  const bits = Number.parseInt(hash("sha1", `${conversation} ${replica}`).slice(0, 12), 16);
  return (bits + 0.5) / 2 ** 48;
}

/** Only decides where a request goes, so a fast hash is enough. */
function digest(text: string): string {
  return hash("sha1", text, "base64");
}

/** Remembers which replica has which beginnings. Forgets the least recently used ones. */
export class KnownBeginnings {
  readonly #limit: number;
  readonly #replicas = new Map<string, string>();

  constructor(limit = 20_000) {
    this.#limit = limit;
  }

  /** The replica that has the longest known beginning, and how many of the beginnings it has. */
  find({ beginnings }: ConversationHead): { readonly replica: string; readonly length: number } | null {
    for (let length = beginnings.length; length > 0; length--) {
      const replica = this.#replicas.get(beginnings[length - 1]!);
      if (replica !== undefined) return { replica, length };
    }
    return null;
  }

  remember({ remembered }: ConversationHead, replica: string): void {
    for (const beginning of remembered) {
      this.#replicas.delete(beginning);
      this.#replicas.set(beginning, replica);
    }
    for (const oldest of this.#replicas.keys()) {
      if (this.#replicas.size <= this.#limit) return;
      this.#replicas.delete(oldest);
    }
  }
}
