import type { Figure } from "./bursts.ts";
import { prompt } from "./text.ts";

/** A prompt of about 512 tokens that no cache has, to its first token. */
export const figure: Figure = {
  title: "Prefill of 512 tokens",
  unit: "tokens/s",
  better: "more",
  async measure(peer, round) {
    const timing = await peer.complete({ prompt: prompt(round, 510), tokens: 1, seed: null });
    return (timing.promptTokens / timing.firstMs) * 1000;
  },
};
