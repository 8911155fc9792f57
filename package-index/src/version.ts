/** A version of a Python package, in the order of PEP 440. */
export interface Version {
  readonly text: string;
  readonly isPreRelease: boolean;
  /** Compared number by number; what is missing is 0. */
  readonly order: { readonly release: readonly number[]; readonly rest: readonly number[] };
}

const pattern =
  /^v?(?:(\d+)!)?(\d+(?:\.\d+)*)(?:[-_.]?(a|alpha|b|beta|c|rc|pre|preview)[-_.]?(\d*))?(?:-(\d+)|[-_.]?(post|rev|r)[-_.]?(\d*))?(?:[-_.]?(dev)[-_.]?(\d*))?(?:\+[a-z0-9]+(?:[-_.][a-z0-9]+)*)?$/i;
const preRank: Readonly<Record<string, number>> = { a: 0, alpha: 0, b: 1, beta: 1 };
const never = Number.POSITIVE_INFINITY;

/** Returns null for what is no version. */
export function parseVersion(text: string): Version | null {
  const found = pattern.exec(text.trim());
  if (found === null) return null;
  const [, epoch = "0", release = "", pre, preNumber, shortPost, post, postNumber, dev, devNumber] = found;
  const hasPost = shortPost !== undefined || post !== undefined;
  // A development release comes before all others of its version, unless these are earlier ones.
  const beforeAll = dev !== undefined && pre === undefined && !hasPost;
  return {
    text: text.trim(),
    isPreRelease: pre !== undefined || dev !== undefined,
    order: {
      release: [Number(epoch), ...release.split(".").map(Number)],
      rest: [
        pre === undefined ? (beforeAll ? -1 : never) : (preRank[pre.toLowerCase()] ?? 2),
        Number(preNumber || 0),
        hasPost ? Number(shortPost ?? (postNumber || 0)) : -1,
        dev === undefined ? never : Number(devNumber || 0),
      ],
    },
  };
}

/** Less than 0 if `a` is older than `b`. A local part, such as `+cu12`, says nothing of age. */
export function compareVersions(a: Version, b: Version): number {
  return compare(a.order.release, b.order.release) || compare(a.order.rest, b.order.rest);
}

function compare(a: readonly number[], b: readonly number[]): number {
  for (let at = 0; at < Math.max(a.length, b.length); at++) {
    const [x, y] = [a[at] ?? 0, b[at] ?? 0];
    if (x !== y) return x < y ? -1 : 1;
  }
  return 0;
}

/** A package and the versions of it that will do. */
export interface Requirement {
  /** As indexes spell it: lower case, one hyphen between words. */
  readonly name: string;
  accepts(version: Version): boolean;
}

const accepted: Readonly<Record<string, (order: number) => boolean>> = {
  "==": (order) => order === 0,
  "!=": (order) => order !== 0,
  ">=": (order) => order >= 0,
  "<=": (order) => order <= 0,
  ">": (order) => order > 0,
  "<": (order) => order < 0,
};

/** Reads `name`, `name==1.2` or `name>=13,<14`. Returns null for anything else. */
export function parseRequirement(wanted: string): Requirement | null {
  const [, name, bounds] = /^([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(.*)$/.exec(wanted.trim()) ?? [];
  if (name === undefined || bounds === undefined) return null;
  const tests: ((version: Version) => boolean)[] = [];
  for (const bound of bounds === "" ? [] : bounds.split(",")) {
    const [, operator = "", text = ""] = /^\s*([=!<>]=|[<>])\s*(\S+)\s*$/.exec(bound) ?? [];
    const limit = parseVersion(text);
    const holds = accepted[operator];
    if (limit === null || holds === undefined) return null;
    tests.push((version) => holds(compareVersions(version, limit)));
  }
  // pip takes an early release only where one is named, or where there is no other.
  return {
    name: name.toLowerCase().replace(/[-_.]+/g, "-"),
    accepts: (version) => tests.every((test) => test(version)),
  };
}
