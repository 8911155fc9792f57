import { deflateRawSync } from "node:zlib";
import type { Tree } from "./tree.ts";

/** The largest parts of an archive, each with what it takes when packed alone: `node 44 MB, …`. */
export function sizesOf(tree: Tree): string {
  const sizes = new Map<string, number>();
  for (const [path, entry] of tree) {
    if ("link" in entry) continue;
    const part = partOf(path);
    sizes.set(part, (sizes.get(part) ?? 0) + deflateRawSync(entry.bytes).length);
  }
  return [...sizes]
    .filter(([, bytes]) => bytes > 2e5)
    .sort(([, a], [, b]) => b - a)
    .map(([part, bytes]) => `${part} ${(bytes / 1e6).toFixed(1)} MB`)
    .join(", ");
}

/** A package, or a folder of a product. */
function partOf(path: string): string {
  const packaged = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path);
  return (
    packaged?.[1] ??
    path
      .split("/")
      .slice(1, path.startsWith("lib/node/") ? 2 : 3)
      .join("/")
  );
}
