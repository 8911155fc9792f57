import type { Figure } from "./bursts.ts";
import { prompt } from "./text.ts";

/** A prompt of about 15 tokens that no cache has, to its first token. */
export const figure: Figure = {
  title: "Time to first token, short prompt",
  unit: "ms",
  better: "less",
  async measure(peer, round) {
    return (await peer.complete({ prompt: prompt(round, 15), tokens: 1, seed: null })).firstMs;
  },
};
