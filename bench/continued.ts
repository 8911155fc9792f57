import type { Figure } from "../testing/speed/bursts.ts";
import type { Peer } from "../testing/speed/peer.ts";
import { prompt } from "../testing/speed/text.ts";

/** Time to the first token of a conversation that goes on after `interrupt`, including the load. */
export function continuedAfter(
  words: string,
  salt: number,
  interrupt: (peer: Peer) => Promise<void>,
): Figure {
  const conversation = prompt(salt, 1_500);
  return {
    title: `Time to first token of a conversation of 1,500 tokens after ${words}`,
    unit: "ms",
    better: "less",
    async prepare(peer) {
      await peer.complete({ prompt: conversation, tokens: 4, seed: 1 });
    },
    async measure(peer, round) {
      await interrupt(peer);
      const turn = { prompt: `${conversation} ${prompt(round + salt * 1_000, 15)}`, tokens: 4, seed: 1 };
      return (await peer.complete(turn)).firstMs;
    },
  };
}
