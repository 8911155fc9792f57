const pattern = /^(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z.-]+))?(?:\+.*)?$/;

/** Less than 0 if `a` is older than `b`, by semver. What is no version is older than all. */
export function compareVersions(a: string, b: string): number {
  const [x, y] = [a, b].map((text) => pattern.exec(text));
  if (!x || !y) return x ? 1 : y ? -1 : 0;
  for (const at of [1, 2, 3]) {
    const difference = Number(x[at]) - Number(y[at]);
    if (difference !== 0) return difference;
  }
  return comparePreRelease(x[4], y[4]);
}

function comparePreRelease(a: string | undefined, b: string | undefined): number {
  if (a === b) return 0;
  if (a === undefined) return 1;
  if (b === undefined) return -1;
  const [x, y] = [a.split("."), b.split(".")];
  for (let at = 0; at < Math.min(x.length, y.length); at++) {
    const [p, q] = [x[at] as string, y[at] as string];
    const [isNumber, isOtherNumber] = [/^\d+$/.test(p), /^\d+$/.test(q)];
    if (p === q) continue;
    if (isNumber && isOtherNumber) return Number(p) - Number(q);
    if (isNumber !== isOtherNumber) return isNumber ? -1 : 1;
    return p < q ? -1 : 1;
  }
  return x.length - y.length;
}
