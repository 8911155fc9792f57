import type { Peer } from "./peer.ts";
import { processTree, pssByMapping } from "./processes.ts";
import { prompt } from "./text.ts";

export const title = "Memory of each process, by mapping, after a prompt of 512 tokens";

/** Mappings smaller than this are summed up. */
const leastBytes = 1024 ** 2;

export async function report(
  peers: readonly Peer[],
  _: { readonly scale: number },
  print: (line: string) => void,
): Promise<void> {
  print("| server | process | mapping | MiB |");
  print("|---|---:|---|---:|");
  for (const peer of peers) {
    await peer.complete({ prompt: prompt(0, 510), tokens: 16, seed: null });
    for (const [index, pid] of processTree(peer.port).entries()) {
      const row = (mapping: string, bytes: number) =>
        print(`| ${peer.name} | ${index + 1} | ${mapping} | ${(bytes / 1024 ** 2).toFixed(1)} |`);
      let rest = 0;
      for (const [mapping, bytes] of [...pssByMapping(pid)].sort(([, a], [, b]) => b - a)) {
        if (bytes < leastBytes) rest += bytes;
        else row(mapping, bytes);
      }
      row("others", rest);
    }
  }
}
