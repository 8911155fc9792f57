import type { Figure } from "../testing/speed/bursts.ts";
import { prompt } from "../testing/speed/text.ts";

/** One request with 64 texts of about 12 tokens each. */
export const figure: Figure = {
  title: "64 short embeddings",
  unit: "ms",
  better: "less",
  async measure(peer, round) {
    const begin = performance.now();
    await peer.embed(Array.from({ length: 64 }, (_, index) => prompt(round * 64 + index, 12)));
    return performance.now() - begin;
  },
};
