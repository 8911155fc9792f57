import type { Figure } from "./bursts.ts";

const things = ["a ship", "a lighthouse", "an old clock", "a mountain village"];

/** Tokens per second of `count` streams of 48 tokens at once, including their prompts, all different. */
export function parallelStreams(count: number, title: string): Figure {
  return {
    title,
    unit: "tokens/s",
    better: "more",
    async measure(peer, round) {
      const begin = performance.now();
      const timings = await Promise.all(
        Array.from({ length: count }, (_, index) => {
          const thing = things[index % things.length]!;
          const which = count > things.length ? ` number ${index}` : "";
          return peer.complete({
            prompt: `Story ${round} of many: a long one about ${thing}${which}.\n\nOnce upon a time`,
            tokens: 48,
            seed: 1,
          });
        }),
      );
      const tokens = timings.reduce((sum, timing) => sum + timing.tokens, 0);
      return (tokens / (performance.now() - begin)) * 1000;
    },
  };
}
