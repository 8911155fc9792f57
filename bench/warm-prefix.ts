import type { Figure } from "../testing/speed/bursts.ts";
import { prompt } from "../testing/speed/text.ts";

const prefix = prompt(7, 300);

/**
 * Time to the first token for a prompt that shares its first 300 tokens with the last request and adds about
 * 15 tokens.
 */
export const figure: Figure = {
  title: "Time to first token behind a warm prefix of 300 tokens",
  unit: "ms",
  better: "less",
  async prepare(peer) {
    await peer.complete({ prompt: `${prefix} begin`, tokens: 1, seed: null });
  },
  async measure(peer, round) {
    return (await peer.complete({ prompt: `${prefix} ${prompt(round + 1000, 15)}`, tokens: 1, seed: null }))
      .firstMs;
  },
};
