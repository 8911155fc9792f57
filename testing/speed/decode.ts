import type { Figure } from "./bursts.ts";

/** Speed of one stream of 64 tokens, from its first text to its last. */
export const figure: Figure = {
  title: "Decode, 1 stream",
  unit: "tokens/s",
  better: "more",
  async measure(peer) {
    const prompt = "Write a long story about a ship that sails around the world.\n\nOnce upon a time";
    const { tokens, firstMs, lastMs } = await peer.complete({ prompt, tokens: 64, seed: 1 });
    return ((tokens - 1) / (lastMs - firstMs)) * 1000;
  },
};
