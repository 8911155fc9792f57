import type { Figure } from "./bursts.ts";

/**
 * Time from a request to its first token when the model is not loaded. For llama-server, which serves only
 * one model, the time starts when the server starts. The file is in the system's page cache.
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
