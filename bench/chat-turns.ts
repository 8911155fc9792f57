import type { Figure } from "../testing/speed/bursts.ts";
import type { Peer } from "../testing/speed/peer.ts";
import { prompt } from "../testing/speed/text.ts";

interface Message {
  readonly role: "user" | "assistant";
  readonly content: string;
}

const mostTokens = 48;
const conversations = new Map<Peer, Message[]>();

/**
 * One conversation. Each turn adds a short question to the whole conversation. Measures the
 * time to the first token.
 */
export const figure: Figure = {
  title: "Time to first token of a chat's next turn",
  unit: "ms",
  better: "less",
  async prepare(peer) {
    conversations.set(peer, [{ role: "user", content: `${prompt(21, 300)}. ${question(0)}` }]);
    for (let round = 0; round < 3; round++) await turn(peer, round);
  },
  measure: (peer, round) => turn(peer, round + 3),
};

async function turn(peer: Peer, round: number): Promise<number> {
  const messages = conversations.get(peer)!;
  const { firstMs, text } = await peer.chat(messages, mostTokens);
  messages.push({ role: "assistant", content: text }, { role: "user", content: question(round + 1) });
  return firstMs;
}

/** Other words each time: a question that repeats the one before would share its first tokens with what was computed. */
const question = (round: number) => `${prompt(1000 + round, 10)}?`;
