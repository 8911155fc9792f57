import type { Figure } from "./bursts.ts";
import { prompt } from "./text.ts";

/** Time to the first token for a prompt of about 512 tokens that is not cached. */
export const figure: Figure = {
  title: "Prefill of 512 tokens",
  unit: "tokens/s",
  better: "more",
  async measure(peer, round) {
    const timing = await peer.complete({ prompt: prompt(round, 510), tokens: 1, seed: null });
    return (timing.promptTokens / timing.firstMs) * 1000;
  },
};
