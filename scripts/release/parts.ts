import type { Platform } from "./platforms.ts";
import type { Product } from "./products.ts";
import type { Wanted } from "./registry.ts";

const { reachable } = (await import(new URL("../prune.mjs", import.meta.url).href)) as {
  reachable(packages: Lock, products: readonly string[]): ReadonlySet<string>;
};

/** The entry of a package in package-lock.json. */
interface Locked {
  readonly name?: string;
  readonly version?: string;
  readonly integrity?: string;
  readonly license?: string;
  readonly link?: boolean;
  readonly resolved?: string;
  readonly os?: string | readonly string[];
  readonly cpu?: string | readonly string[];
  readonly libc?: string | readonly string[];
}

/** `packages` of package-lock.json: what is installed, by its folder. */
export type Lock = Readonly<Record<string, Locked>>;

/** A package of the registry and its folder in the archive. */
export interface Part extends Wanted {
  readonly license: string | undefined;
  readonly to: string;
}

/** A package of this repository, its folder here and in the archive. */
interface OwnPart {
  readonly name: string;
  readonly version: string;
  readonly from: string;
  readonly to: string;
}

/** What a product is made of on a platform, without Node. */
export function fittingParts(
  lock: Lock,
  product: Product,
  platform: Platform,
): { own: readonly OwnPart[]; others: readonly Part[] } {
  const places = new Map<string, string>([[product.folder, `lib/${product.name}`]]);
  for (const [path, { link, resolved }] of Object.entries(lock))
    if (link && resolved !== undefined && resolved !== product.folder && product.packages.includes(resolved))
      places.set(resolved, `lib/${path}`);
  // A package of another system may need one that says nothing of systems.
  const fitting = Object.fromEntries(Object.entries(lock).filter(([, locked]) => fits(locked, platform)));
  const found = [...reachable(fitting, product.packages)].sort();
  const own = product.packages.map((from) => ({
    name: lock[from]!.name!,
    version: lock[from]!.version!,
    from,
    to: places.get(from)!,
  }));
  const others = found
    .filter(
      (path) =>
        path.includes("node_modules/") && !lock[path]!.link && !/^node_modules\/node-\w+-\w+$/.test(path),
    )
    .map((path) => partAt(lock, path, placeOf(path, places)));
  return { own, others };
}

export function partAt(lock: Lock, path: string, to: string): Part {
  const { version = "", integrity, license, name } = lock[path]!;
  return {
    name: name ?? path.slice(path.lastIndexOf("node_modules/") + 13),
    version,
    integrity,
    license,
    to,
  };
}

/** A package inside a workspace, such as `dataq/service/node_modules/x`, stays inside it. */
function placeOf(path: string, places: ReadonlyMap<string, string>): string {
  for (const [from, to] of places) if (path.startsWith(`${from}/`)) return `${to}${path.slice(from.length)}`;
  return `lib/${path}`;
}

/** As npm decides whether to install a package: `!win32` excludes a system. */
function fits({ os, cpu, libc }: Locked, platform: Platform): boolean {
  return (
    allows(os, platform.os) &&
    allows(cpu, platform.cpu) &&
    (platform.libc === undefined || allows(libc, platform.libc))
  );
}

function allows(list: string | readonly string[] | undefined, value: string): boolean {
  const values = [list ?? []].flat();
  const [excluded, included] = [
    values.filter((each) => each.startsWith("!")),
    values.filter((each) => !each.startsWith("!")),
  ];
  return !excluded.includes(`!${value}`) && (included.length === 0 || included.includes(value));
}
