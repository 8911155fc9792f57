import type { Figure } from "../testing/speed/bursts.ts";
import { processTree, pssBytes } from "../testing/speed/processes.ts";
import { prompt } from "../testing/speed/text.ts";

const streams = 8;

/**
 * Total proportional memory (PSS) of the server and its children while eight slots hold 500 tokens each. The windows are
 * what the servers are started with: eight slots with 8,192 tokens each, `-np 8 -c 65536` for llama-server.
 */
export const figure: Figure = {
  title: "Memory of eight slots that hold 500 tokens each",
  unit: "MiB",
  better: "less",
  isReading: true,
  async prepare(peer) {
    await Promise.all(
      Array.from({ length: streams }, (_, salt) =>
        peer.complete({ prompt: prompt(salt, 484), tokens: 16, seed: null }),
      ),
    );
  },
  async measure(peer) {
    return pssBytes(processTree(peer.port)) / 1024 / 1024;
  },
};
