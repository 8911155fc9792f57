/** The pairs of neighbouring characters of a text. */
export function pairsIn(units: string): Set<string> {
  const pairs = new Set<string>();
  for (let at = 0; at + 2 <= units.length; at++) {
    const pair = units.slice(at, at + 2);
    if (!empty.test(pair)) pairs.add(pair);
  }
  return pairs;
}

/** How many of the pairs of the first text the second one has, from 0 to 1. */
export function likeness(mine: string, theirs: string): number {
  const pairs = [...pairsIn(mine)];
  return pairs.length === 0 ? 0 : pairs.filter((pair) => theirs.includes(pair)).length / pairs.length;
}

/** Pairs that say nothing alone. */
const empty = /[|的之其该应或和与并且者于在由对向就按将把]|可以|当[^事]|以[上下内]|有权|不得|规定|依法/;
