import type { Peer } from "../testing/speed/peer.ts";
import { memoryFileBytes, processTree, pssByMapping } from "../testing/speed/processes.ts";
import { prompt } from "../testing/speed/text.ts";

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
    const tree = processTree(peer.port);
    for (const [index, pid] of tree.entries()) {
      const row = (mapping: string, bytes: number) =>
        print(`| ${peer.name} | ${index + 1} | ${mapping} | ${(bytes / 1024 ** 2).toFixed(1)} |`);
      let rest = 0;
      for (const [mapping, bytes] of [...pssByMapping(pid)].sort(([, a], [, b]) => b - a)) {
        if (bytes < leastBytes) rest += bytes;
        else row(mapping, bytes);
      }
      row("others", rest);
    }
    const kept = memoryFileBytes(tree);
    if (kept > 0) print(`| ${peer.name} | | memory files | ${(kept / 1024 ** 2).toFixed(1)} |`);
  }
}
