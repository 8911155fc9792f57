import type { Contents } from "./search-index.ts";

/** How many documents are served, excluding those of some data sets. */
export function sizeWithout(contents: Contents, without: readonly string[]): number {
  return others(contents, without).reduce((sum, { documents }) => sum + documents, 0);
}

/** The date of the newest document outside these data sets; null if no document has a date. */
export function newestDayWithout(contents: Contents, without: readonly string[]): string | null {
  return (
    others(contents, without)
      .flatMap(({ newestDay }) => newestDay ?? [])
      .sort()
      .at(-1) ?? null
  );
}

/** The date of the oldest document outside these data sets; null if no document has a date. */
export function oldestDayWithout(contents: Contents, without: readonly string[]): string | null {
  return (
    others(contents, without)
      .flatMap(({ oldestDay }) => oldestDay ?? [])
      .sort()[0] ?? null
  );
}

function others(contents: Contents, without: readonly string[]) {
  return [...contents].flatMap(([dataset, each]) => (without.includes(dataset) ? [] : [each]));
}
