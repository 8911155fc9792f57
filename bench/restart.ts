import type { Figure } from "./bursts.ts";
import { prompt } from "./text.ts";

const conversation = prompt(14, 1_500);

/**
 * Restarts the server and continues a conversation. Measures the time to the first token, including the load.
 */
export const figure: Figure = {
  title: "Time to first token of a conversation of 1,500 tokens after the server was restarted",
  unit: "ms",
  better: "less",
  async prepare(peer) {
    await peer.complete({ prompt: conversation, tokens: 4, seed: 1 });
  },
  async measure(peer, round) {
    await peer.stop();
    await peer.start();
    const turn = { prompt: `${conversation} ${prompt(round + 3000, 15)}`, tokens: 4, seed: 1 };
    return (await peer.complete(turn)).firstMs;
  },
};
