/** Finds the name that shares most pairs of characters with a given one. */
export class NearNames {
  readonly #names: readonly string[];
  readonly #sizes: readonly number[];
  readonly #byPair = new Map<string, number[]>();

  constructor(names: Iterable<string>) {
    this.#names = [...names].sort();
    this.#sizes = this.#names.map((name) => pairsOf(name).size);
    for (const [place, name] of this.#names.entries())
      for (const pair of pairsOf(name)) {
        const list = this.#byPair.get(pair);
        if (list === undefined) this.#byPair.set(pair, [place]);
        else list.push(place);
      }
  }

  /** The nearest name, if it shares at least half of the pairs. */
  find(name: string): string | undefined {
    const pairs = pairsOf(name.slice(0, longestName));
    const shared = new Map<number, number>();
    for (const pair of pairs)
      for (const place of this.#byPair.get(pair) ?? []) shared.set(place, (shared.get(place) ?? 0) + 1);
    let best: { readonly name: string; readonly share: number } | undefined;
    for (const [place, count] of shared) {
      const other = this.#names[place] as string;
      const share = (2 * count) / (pairs.size + (this.#sizes[place] as number));
      if (share < leastShare || (best !== undefined && share < best.share)) continue;
      if (best === undefined || share > best.share || other < best.name) best = { name: other, share };
    }
    return best?.name;
  }
}

const leastShare = 0.5;
const longestName = 60;

/** Pairs of neighbouring characters. The first and the last character also count alone. */
function pairsOf(name: string): Set<string> {
  const pairs = new Set<string>();
  const framed = `^${name}$`;
  for (let at = 0; at + 1 < framed.length; at++) pairs.add(framed.slice(at, at + 2));
  return pairs;
}
