import type { Figure } from "../testing/speed/bursts.ts";
import { processTree, pssBytes } from "../testing/speed/processes.ts";
import { prompt } from "../testing/speed/text.ts";

/** Total proportional memory (PSS) of the server and its children after every slot has answered. */
export const figure: Figure = {
  title: "Memory after a prompt of 512 tokens on each of four streams",
  unit: "MiB",
  better: "less",
  isReading: true,
  async prepare(peer) {
    await Promise.all(
      Array.from({ length: 4 }, (_, salt) =>
        peer.complete({ prompt: prompt(salt, 510), tokens: 16, seed: null }),
      ),
    );
  },
  async measure(peer) {
    return pssBytes(processTree(peer.port)) / 1024 / 1024;
  },
};
