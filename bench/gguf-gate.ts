import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readGguf } from "../locallm/src/library/gguf/header.ts";
import { Headers } from "../locallm/src/library/headers.ts";
import { type GgufSpec, ggufBytes, tinyModel, withEntry } from "../locallm/test/tiny-gguf.ts";

/**
 * Measures the checks of a GGUF file before the engine opens it, by vocabulary size. The file is in the page
 * cache.
 */
export const title = "locallm: the checks of GGUF files";

const times = 15;
const sizes: readonly [tokens: number, merges: number][] = [
  [32_000, 0],
  [49_152, 48_900],
  [128_256, 280_147],
  [262_144, 514_906],
];

export async function run(print: (line: string) => void): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "gguf-gate-"));
  print(`All checks, compared with a reader that keeps every array; ms, medians of ${times}`);
  print("");
  print("| tokens | merges | header, MB | checks | all arrays | checks again, same file |");
  print("| --: | --: | --: | --: | --: | --: |");
  try {
    for (const [tokens, merges] of sizes) {
      const path = join(folder, `${tokens}.gguf`);
      const bytes = ggufBytes(withVocabulary(tokens, merges));
      await writeFile(path, bytes);
      const gate = await median(() => new Headers().of(path));
      const all = await median(() => readGguf(path, { arrays: "all", keptBytes: Number.POSITIVE_INFINITY }));
      const known = new Headers();
      await known.of(path);
      const again = await median(() => known.of(path));
      const cells = [tokens, merges, (bytes.length / 1e6).toFixed(1), gate, all, again];
      print(
        `| ${cells.map((cell) => (typeof cell === "number" ? cell.toLocaleString("en") : cell)).join(" | ")} |`,
      );
    }
  } finally {
    await rm(folder, { recursive: true });
  }
}

function withVocabulary(tokens: number, merges: number): GgufSpec {
  // Items have about the length of real ones: 6 bytes for a token, 9 for a merge.
  const items = Array.from({ length: tokens }, (_, index) => index.toString(36).padStart(6, "Ġ"));
  const numbers = (value: number) => Array.from({ length: tokens }, () => value);
  let spec = tinyModel({ tensors: [] });
  spec = withEntry(spec, "tokenizer.ggml.tokens", { kind: "array", of: "string", items });
  spec = withEntry(spec, "tokenizer.ggml.token_type", { kind: "array", of: "i32", items: numbers(1) });
  spec = withEntry(spec, "tokenizer.ggml.scores", { kind: "array", of: "f32", items: numbers(0) });
  const pairs = Array.from({ length: merges }, (_, index) => `${index.toString(36)} ${index % 97}`);
  spec = withEntry(spec, "tokenizer.ggml.merges", { kind: "array", of: "string", items: pairs });
  return { ...spec, tensors: tinyModel().tensors };
}

async function median(work: () => Promise<unknown>): Promise<number> {
  const taken: number[] = [];
  for (let time = 0; time < times; time++) {
    const begin = performance.now();
    await work();
    taken.push(performance.now() - begin);
  }
  const middle = taken.toSorted((a, b) => a - b)[times >> 1] ?? 0;
  return Number(middle.toPrecision(2));
}
