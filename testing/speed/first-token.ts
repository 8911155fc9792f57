import type { Figure } from "./bursts.ts";
import { prompt } from "./text.ts";

/** Time to the first token for a prompt of about 15 tokens that is not cached. */
export const figure: Figure = {
  title: "Time to first token, short prompt",
  unit: "ms",
  better: "less",
  async measure(peer, round) {
    return (await peer.complete({ prompt: prompt(round, 15), tokens: 1, seed: null })).firstMs;
  },
};
