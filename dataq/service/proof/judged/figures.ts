/** Standard measures of a ranking. Only the first ten results count. */
export interface Figures {
  readonly success1: number;
  readonly success5: number;
  /** 1 divided by the place of the first right result; 0 if there is none. */
  readonly reciprocalRank: number;
  readonly ndcg10: number;
}

export const depth = 10;

export function figuresOf(found: readonly string[], right: ReadonlySet<string>): Figures {
  const first = found.slice(0, depth).findIndex((id) => right.has(id));
  const gain = found
    .slice(0, depth)
    .reduce((sum, id, place) => sum + (right.has(id) ? discount(place) : 0), 0);
  const ideal = Array.from({ length: Math.min(right.size, depth) }, (_, place) => discount(place));
  return {
    success1: first === 0 ? 1 : 0,
    success5: first >= 0 && first < 5 ? 1 : 0,
    reciprocalRank: first < 0 ? 0 : 1 / (first + 1),
    ndcg10: gain / ideal.reduce((sum, each) => sum + each, 0),
  };
}

export function meanOf(all: readonly Figures[]): Figures {
  const mean = (figure: keyof Figures) => all.reduce((sum, each) => sum + each[figure], 0) / all.length;
  return {
    success1: mean("success1"),
    success5: mean("success5"),
    reciprocalRank: mean("reciprocalRank"),
    ndcg10: mean("ndcg10"),
  };
}

/** `place` counts from 0. */
function discount(place: number): number {
  return 1 / Math.log2(place + 2);
}
