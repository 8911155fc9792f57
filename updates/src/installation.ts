import {
  existsSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** What `release.json` in the root of each archive says. */
export interface ReleaseNote {
  readonly product: string;
  readonly version: string;
  readonly platform: string;
  /** When its commit was made, as ISO 8601. */
  readonly time: string;
}

/**
 * How a program came onto this machine. An `archive` is a folder that somebody unpacked, or that install.sh made: only
 * it can be updated by the program itself.
 */
export type Installation =
  | {
      readonly kind: "archive" | "package";
      readonly folder: string;
      readonly running: string;
      readonly note: ReleaseNote;
    }
  | { readonly kind: "npm" | "repository"; readonly folder: string };

/**
 * Versions lie beside each other, because a server that runs loads parts of its own version as it goes:
 *
 *     F/bin, F/lib             what was unpacked first
 *     F/versions/<name>/…      what updates brought, each a whole archive
 *     F/current, F/previous    files with a <name>, or with "." for what was unpacked first
 *
 * F/bin/<product> starts what F/current names. Replacing that small file is the exchange.
 */
const unpackedFirst = ".";

/** `modules` is the folder of the running product's package, as `lib/locallm/` in an archive. */
export function findInstallation(product: string, modules: URL): Installation {
  const place = realpathSync(fileURLToPath(modules));
  const running = dirname(dirname(place));
  const path = join(running, "release.json");
  if (basename(dirname(place)) !== "lib" || !existsSync(path))
    return { kind: place.split(sep).includes("node_modules") ? "npm" : "repository", folder: place };
  const note = JSON.parse(readFileSync(path, "utf8")) as ReleaseNote;
  // A package's service runs from copies below it, which its scripts make.
  const isPackage = running === `/usr/lib/${product}` || dirname(running) === `/usr/lib/${product}/run`;
  const above = dirname(running);
  const folder = basename(above) === "versions" ? dirname(above) : running;
  return { kind: isPackage ? "package" : "archive", folder, running, note };
}

/** The program that starts the current version, whichever that is: a service should call it. */
export function launcherOf(product: string, { folder }: { folder: string }): string {
  return join(folder, "bin", process.platform === "win32" ? `${product}.cmd` : product);
}

export function versionsFolder(folder: string): string {
  return join(folder, "versions");
}

/** The name of the version that starts; "." for what was unpacked first. */
export function currentOf(folder: string): string {
  return named(folder, "current") ?? unpackedFirst;
}

/** The version before; undefined if there is none. */
export function previousOf(folder: string): string | undefined {
  const name = named(folder, "previous");
  return name === currentOf(folder) ? undefined : name;
}

export function versionFolder(folder: string, name: string): string {
  return name === unpackedFirst ? folder : join(versionsFolder(folder), name);
}

/** From the next start on, `name` runs. Killed at any point, it leaves one of the two. */
export function switchTo(folder: string, name: string): void {
  const before = currentOf(folder);
  replaceFile(join(folder, "previous"), `${before}\n`);
  replaceFile(join(folder, "current"), `${name}\n`);
}

/** Versions that neither start nor are the way back, and that no process runs. */
export function unusedVersions(folder: string): string[] {
  const kept = new Set([currentOf(folder), previousOf(folder)]);
  const versions = versionsFolder(folder);
  const names = existsSync(versions) ? readdirSync(versions) : [];
  const running = runningPrograms();
  // Where it is unknown what runs, nothing is removed.
  if (running === null) return [];
  return names.filter(
    (name) =>
      !kept.has(name) &&
      !name.startsWith(".") &&
      !running.some((program) => program.startsWith(join(versions, name) + sep)),
  );
}

/** A damaged file, or one that names what is not there, counts as none: then what was unpacked first starts. */
function named(folder: string, file: "current" | "previous"): string | undefined {
  try {
    const name = readFileSync(join(folder, file), "utf8").trim();
    if (name === unpackedFirst) return name;
    return /^[\w.+-]+$/.test(name) && existsSync(join(versionsFolder(folder), name, "release.json"))
      ? name
      : undefined;
  } catch {
    return undefined;
  }
}

function replaceFile(path: string, content: string): void {
  const partial = `${path}.${process.pid}`;
  writeFileSync(partial, content, { flush: true });
  renameSync(partial, path);
}

/** The programs of all processes that this user may see; null where the system does not tell. */
function runningPrograms(): string[] | null {
  if (process.platform !== "linux") return null;
  return readdirSync("/proc").flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return [];
    try {
      return [readlinkSync(`/proc/${pid}/exe`)];
    } catch {
      return [];
    }
  });
}
