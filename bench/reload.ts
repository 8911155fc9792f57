import type { Figure } from "./bursts.ts";
import { prompt } from "./text.ts";

const conversation = prompt(13, 1_500);

/**
 * Unloads the model and continues a conversation. Measures the time to the first token, including the load.
 */
export const figure: Figure = {
  title: "Time to first token of a conversation of 1,500 tokens after its model was unloaded",
  unit: "ms",
  better: "less",
  async prepare(peer) {
    await peer.complete({ prompt: conversation, tokens: 4, seed: 1 });
  },
  async measure(peer, round) {
    await peer.unload();
    const turn = { prompt: `${conversation} ${prompt(round + 2000, 15)}`, tokens: 4, seed: 1 };
    return (await peer.complete(turn)).firstMs;
  },
};
