import type { Figure } from "./bursts.ts";
import { prompt } from "./text.ts";

/** The same with a seed: what computing it so that a repeat answers the same costs us. */
export const figure: Figure = {
  title: "Prefill of 512 tokens with a seed",
  unit: "tokens/s",
  better: "more",
  async measure(peer, round) {
    const timing = await peer.complete({ prompt: prompt(round, 510), tokens: 1, seed: 1 });
    return (timing.promptTokens / timing.firstMs) * 1000;
  },
};
