/** A place in a list that was fused from two lists. */
export interface Fused<Item> {
  readonly item: Item;
  /** 100 for an item that is first in both lists. */
  readonly score: number;
}

/** How many items of each list are fused. Those that follow keep the order of the first list. */
export const fusedDepth = 100;

/**
 * Joins two ranked lists by reciprocal rank: an item scores by its places, not by scores that cannot be compared. Only
 * the first `fusedDepth` places count, so that a longer `first` list never changes the items before.
 */
export function fuse<Item>(
  first: readonly Item[],
  second: readonly Item[],
  keyOf: (item: Item) => string,
): Fused<Item>[] {
  const scores = new Map<string, { item: Item; score: number; place: number }>();
  const add = (item: Item, place: number, shift: number) => {
    const key = keyOf(item);
    const known = scores.get(key);
    if (known !== undefined) known.score += worth(place);
    else scores.set(key, { item, score: worth(place), place: 2 * place + shift });
  };
  for (const [place, item] of first.slice(0, fusedDepth).entries()) add(item, place, 0);
  for (const [place, item] of second.slice(0, fusedDepth).entries()) add(item, place, 1);
  const fused = [...scores.values()].sort((a, b) => b.score - a.score || a.place - b.place);
  const rest = first
    .slice(fusedDepth)
    .map((item, place) => ({ item, score: worth(fusedDepth + place) }))
    .filter(({ item }) => !scores.has(keyOf(item)));
  return [...fused, ...rest].map(({ item, score }) => ({ item, score }));
}

/** The usual constant of reciprocal rank fusion. It makes the first places count only a little more. */
const k = 60;

function worth(place: number): number {
  return (50 * (k + 1)) / (k + place + 1);
}
