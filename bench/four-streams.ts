import type { Figure } from "./bursts.ts";

/** Four parallel streams of 48 tokens, including their prompts. The servers run with four slots. */
export const figure: Figure = {
  title: "Four streams, total",
  unit: "tokens/s",
  better: "more",
  async measure(peer, round) {
    const subjects = ["a ship", "a lighthouse", "an old clock", "a mountain village"];
    const begin = performance.now();
    const timings = await Promise.all(
      subjects.map((subject) =>
        peer.complete({
          prompt: `Story ${round} of many: a long one about ${subject}.\n\nOnce upon a time`,
          tokens: 48,
          seed: 1,
        }),
      ),
    );
    const tokens = timings.reduce((sum, timing) => sum + timing.tokens, 0);
    return (tokens / (performance.now() - begin)) * 1000;
  },
};
