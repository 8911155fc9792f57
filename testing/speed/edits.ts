import type { Figure } from "./bursts.ts";
import { prompt } from "./text.ts";

/** Speed of one stream of 64 tokens that repeats what stands in its prompt, as edited code and quoted text do. */
export const figure: Figure = {
  title: "Decode of a text that stands in the prompt, 1 stream",
  unit: "tokens/s",
  better: "more",
  async measure(peer, round) {
    const text = prompt(round + 1, 90);
    // Even a small model goes on with a text that it has seen several times.
    const repeated = `${text}.\n\n${text}.\n\n${text}.\n\n${text.split(" ").slice(0, 12).join(" ")}`;
    const { tokens, firstMs, lastMs } = await peer.complete({ prompt: repeated, tokens: 64, seed: 1 });
    return ((tokens - 1) / (lastMs - firstMs)) * 1000;
  },
};
