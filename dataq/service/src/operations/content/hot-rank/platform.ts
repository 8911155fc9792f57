import { type Failure, invalid } from "@dataq/contract";
import type { SearchIndex } from "../../../search/search-index.ts";
import { hotRanksCorpus, platformPrefix } from "./corpus.ts";

/** Platforms with an imported archive. */
export async function archivedPlatforms(index: SearchIndex): Promise<string[]> {
  const terms = await index.terms(hotRanksCorpus, `k:${platformPrefix}`);
  return terms.map((term) => term.slice(2 + platformPrefix.length));
}

export function unknownPlatform(platform: string, known: readonly string[]): Failure {
  return invalid(
    "params.platform",
    "unknown_platform",
    `params.platform ${platform} is not a platform with rankings here`,
    `use one of ${known.join(", ")}`,
    `可选：${known.join("、")}`,
  );
}
