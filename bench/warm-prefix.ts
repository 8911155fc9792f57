import type { Figure } from "./bursts.ts";
import { prompt } from "./text.ts";

const prefix = prompt(7, 300);

/** 300 tokens that the last request had too, then about 15 of its own, to the first token. */
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
