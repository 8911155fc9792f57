import type { Figure } from "../testing/speed/bursts.ts";
import { prompt } from "../testing/speed/text.ts";

/** The same measurement as `prefill` with `deterministic`: the cost of a bit-identical repeat. */
export const figure: Figure = {
  title: "Prefill of 512 tokens, deterministic",
  unit: "tokens/s",
  better: "more",
  async measure(peer, round) {
    const timing = await peer.complete({
      prompt: prompt(round, 510),
      tokens: 1,
      seed: 1,
      deterministic: true,
    });
    return (timing.promptTokens / timing.firstMs) * 1000;
  },
};
