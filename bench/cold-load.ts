import type { Figure } from "./bursts.ts";

/**
 * From nothing in memory to the first token: a request to a server that has to load the model; for
 * llama-server, which is its model, from its start. The file is in the system's cache.
 */
export const figure: Figure = {
  title: "Cold load to first token",
  unit: "ms",
  better: "less",
  async measure(peer) {
    await peer.unload();
    const begin = performance.now();
    if (peer.api === "llama-server") await peer.start();
    await peer.complete({ prompt: "The capital of France is", tokens: 1, seed: null });
    return performance.now() - begin;
  },
};
