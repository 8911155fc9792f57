import type { Figure } from "./bursts.ts";
import { prompt } from "./text.ts";

const prefix = prompt(8, 300);

/** The same with a seed. */
export const figure: Figure = {
  title: "Time to first token behind a warm prefix of 300 tokens, with a seed",
  unit: "ms",
  better: "less",
  async prepare(peer) {
    await peer.complete({ prompt: `${prefix} begin`, tokens: 1, seed: 1 });
  },
  async measure(peer, round) {
    return (await peer.complete({ prompt: `${prefix} ${prompt(round + 2000, 15)}`, tokens: 1, seed: 1 }))
      .firstMs;
  },
};
