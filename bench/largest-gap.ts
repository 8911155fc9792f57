import type { Figure } from "../testing/speed/bursts.ts";

/**
 * The longest wait between two texts of a stream, in multiples of the server's own time per token. A server
 * that sends each token at once has little more than 1. One that sends several tokens together has more.
 */
export const figure: Figure = {
  title: "Largest gap in a stream of 64 tokens",
  unit: "token times",
  better: "less",
  async measure(peer) {
    const prompt = "Write a long story about a ship that sails around the world.\n\nOnce upon a time";
    const { largestGapMs, tokenMs } = await peer.complete({ prompt, tokens: 64, seed: 1 });
    return largestGapMs / tokenMs;
  },
};
