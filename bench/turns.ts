import type { Figure } from "../testing/speed/bursts.ts";
import { prompt } from "../testing/speed/text.ts";

const conversations = [11, 12].map((salt) => prompt(salt, 1_500));
const said = ["", ""];

/**
 * Two conversations of 1,500 tokens alternate on one slot. Each turn adds 15 tokens. Measures the time to the
 * first token.
 */
export const figure: Figure = {
  title: "Time to first token of a conversation of 1,500 tokens whose slot another one had",
  unit: "ms",
  better: "less",
  async prepare(peer) {
    for (const conversation of conversations)
      await peer.complete({ prompt: conversation, tokens: 4, seed: 1 });
  },
  async measure(peer, round) {
    const which = round % 2;
    // All servers get the same prompts in a round.
    if (!said[which]!.endsWith(`${round}.`)) said[which] += ` ${prompt(round + 1000, 15)} ${round}.`;
    const turn = { prompt: conversations[which]! + said[which]!, tokens: 4, seed: 1 };
    return (await peer.complete(turn)).firstMs;
  },
};
