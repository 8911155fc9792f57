import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, posix, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parseSync } from "oxc-parser";

/**
 * Checks every import against the tables of ARCHITECTURE.md, Layers: those of our sources between packages and layers,
 * and all others between the folders beside the packages. A folder of sources that no table lists is a fault, too.
 * `npm run check` runs it.
 */

/** What the files of a layer may import: other layers of the same table, by their names. */
type Layers = ReadonlyMap<string, readonly string[]>;

/**
 * The tables by what stands in the head of their first column: a package, `package` for packages themselves, or `folder`
 * for what is beside the packages.
 */
export type Tables = ReadonlyMap<string, Layers>;

export interface Fault {
  /** `path:line`, or the path of a folder. */
  readonly where: string;
  readonly what: string;
}

/** A table has a package or `package` as its first head, and `may import …` as its second. */
export function readTables(page: string): Tables {
  const tables = new Map<string, Map<string, readonly string[]>>();
  let layers: Map<string, readonly string[]> | undefined;
  for (const line of page.split("\n")) {
    const [, left, right] = line.split("|").map((cell) => cell.trim());
    if (left === undefined || right === undefined) layers = undefined;
    else if (right.startsWith("may import")) {
      layers = new Map();
      tables.set(left, layers);
    } else if (layers !== undefined && !left.startsWith("-")) {
      const allowed = right.startsWith("everything above except")
        ? [...layers.keys()].filter((name) => !namesIn(right).includes(name) && !name.includes("/"))
        : namesIn(right);
      for (const name of namesIn(left)) layers.set(name, allowed);
    }
  }
  return tables;
}

function namesIn(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name as string);
}

export function findFaults(root: string, tables: Tables): Fault[] {
  const packages = tables.get("package") ?? new Map();
  const beside = besideFaults(root, tables.get("folder") ?? new Map());
  return [...[...packages.keys()].flatMap((name) => faultsOf(root, tables, name)), ...beside];
}

/** What is no source of a package: tests, proofs, benches, scripts. */
function besideFaults(root: string, folders: Layers): Fault[] {
  const folderOf = (path: string) => {
    const first = path.split("/")[0] as string;
    return folders.has(first) ? first : "packages";
  };
  return filesBeside(root).flatMap((path) => {
    const text = readFileSync(join(root, path), "utf8");
    const own = folderOf(path);
    const closed = [...folders.keys()].filter((name) => name !== own && !folders.get(own)?.includes(name));
    // Most files name none of them, and need not be parsed.
    if (!closed.some((name) => name === "packages" || text.includes(`/${name}/`))) return [];
    return importsOf(path, text).flatMap(({ specifier, at }): Fault[] => {
      const target = posix.join(posix.dirname(path), specifier);
      const other = folderOf(target);
      if (!specifier.startsWith(".") || own === other || folders.get(own)?.includes(other)) return [];
      return [{ where: `${path}:${text.slice(0, at).split("\n").length}`, what: refused(own, other) }];
    });
  });
}

/** Files at the root configure the tools and may import everything. */
function filesBeside(root: string): string[] {
  const inside = (folder: string): string[] =>
    readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
      const path = posix.join(folder, entry.name);
      if (entry.isDirectory()) return made.test(path) ? [] : inside(path);
      const isSource = /\/src\//.test(path) && !/\.test\.tsx?$/.test(path);
      return folder !== "" && /\.(?:tsx?|mjs)$/.test(entry.name) && !isSource ? [path] : [];
    });
  return inside("").sort();
}

/** Folders that installations and builds make. */
const made =
  /(?:^|\/)(?:node_modules|dist(?:\..*)?|\.git|\.pages|\.tree-.*)$|^release$|^site\/\.vitepress\/(?:cache|\.temp)$/;

function faultsOf(root: string, tables: Tables, name: string): Fault[] {
  const source = join(root, name, "src");
  const layers = tables.get(name);
  // A row of one file says what that file may import. When it is imported, it belongs to its folder.
  const folders = new Map([...(layers ?? [])].filter(([each]) => !each.endsWith(".ts")));
  const files = sourcesIn(source);
  const unlisted =
    layers === undefined
      ? []
      : foldersIn(source)
          .filter((folder) => !layers.has(folder))
          .map((folder) => ({
            where: `${name}/src/${folder}`,
            what: "is in no table: ARCHITECTURE.md, Layers",
          }));
  const faults = files.flatMap((path) => {
    const text = readFileSync(join(source, path), "utf8");
    return importsOf(path, text).flatMap(({ specifier, at }): Fault[] => {
      const what = faultOf({ tables, layers, folders, name, path, specifier });
      const line = text.slice(0, at).split("\n").length;
      return what === undefined ? [] : [{ where: `${name}/src/${path}:${line}`, what }];
    });
  });
  return [...unlisted, ...faults];
}

interface Asked {
  readonly tables: Tables;
  readonly layers: Layers | undefined;
  readonly folders: Layers;
  readonly name: string;
  readonly path: string;
  readonly specifier: string;
}

function faultOf({ tables, layers, folders, name, path, specifier }: Asked): string | undefined {
  if (!specifier.startsWith(".")) {
    const other = ownPackages.get(/^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? "");
    const isAllowed =
      other === undefined || other === name || tables.get("package")?.get(name)?.includes(other);
    return isAllowed ? undefined : refused(name, other as string);
  }
  const target = posix.join(posix.dirname(path), specifier);
  if (target.startsWith("../")) return `${specifier} is outside of ${name}/src; import the package`;
  if (layers === undefined) return undefined;
  const own = layerOf(path, layers);
  const other = layerOf(target, folders);
  // Files beside the folders join the parts, so they may import all of them, but for what one file alone may import.
  const isJoining = own === null;
  if (other === null)
    return closed.has(target) && !isJoining && !layers.get(own)?.includes(target)
      ? refused(own, target)
      : undefined;
  if (own === other || own?.startsWith(`${other}/`) === true) return undefined;
  const isOpen = isJoining ? !other.includes("/") : layers.get(own)?.includes(other) === true;
  return isOpen ? undefined : refused(own ?? path, other);
}

function refused(own: string, other: string): string {
  return `${own} may not import ${other}: ARCHITECTURE.md, Layers`;
}

/** The longest name of a layer that a path starts with; null for files beside the folders. */
function layerOf(path: string, layers: Layers): string | null {
  const parts = path.split("/");
  for (let length = parts.length; length > 0; length--) {
    const name = parts.slice(0, length).join("/");
    if (layers.has(name)) return name;
  }
  return parts.length === 1 ? null : (parts[0] as string);
}

/** Files beside the folders that only those layers may import which name them. */
const closed: ReadonlySet<string> = new Set(["server.ts", "config.ts"]);

/** The folders of our packages by their names in imports. */
const ownPackages: ReadonlyMap<string, string> = new Map([
  ["@locallm/autostart", "autostart"],
  ["@locallm/site-files", "site-files"],
  ["@locallm/package-index", "package-index"],
  ["@locallm/updates", "updates"],
  ["locallm", "locallm"],
  ["@dataq/contract", "dataq/contract"],
  ["dataq-client", "dataq/client"],
  ["@dataq/console", "dataq/console"],
  ["dataq", "dataq/service"],
]);

/** Every import of a file: static, for types, of a re-export, dynamic, and in a type. */
export function importsOf(path: string, text: string): { readonly specifier: string; readonly at: number }[] {
  const { module, program } = parseSync(path, text);
  const found = [
    ...module.staticImports.map(({ moduleRequest }) => moduleRequest),
    ...module.staticExports.flatMap(({ entries }) =>
      entries.flatMap(({ moduleRequest }) => moduleRequest ?? []),
    ),
  ].map(({ value, start }) => ({ specifier: value, at: start }));
  // Both kinds of import(…) are rare, and only the whole tree knows those in types.
  if (/\bimport\s*\(/.test(text)) walk(program, found);
  return found;
}

function walk(node: unknown, found: { specifier: string; at: number }[]): void {
  if (typeof node !== "object" || node === null) return;
  const { type, source, start } = node as { type?: string; source?: { value?: unknown }; start?: number };
  if (type === "ImportExpression" || type === "TSImportType")
    if (typeof source?.value === "string") found.push({ specifier: source.value, at: start ?? 0 });
  for (const child of Object.values(node)) walk(child, found);
}

/** Sources, without tests: those may import anything. */
function sourcesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name) && !/\.test\.tsx?$/.test(entry.name))
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll("\\", "/"))
    .sort();
}

function foldersIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
}

const isMain = process.argv[1] === fileURLToPath(import.meta.url);
if (isMain) {
  const root = dirname(dirname(fileURLToPath(import.meta.url)));
  const faults = findFaults(root, readTables(readFileSync(join(root, "ARCHITECTURE.md"), "utf8")));
  for (const { where, what } of faults) console.error(`${where}: ${what}`);
  if (faults.length > 0) process.exitCode = 1;
}
