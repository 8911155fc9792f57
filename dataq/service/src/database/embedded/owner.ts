import { spawnSync } from "node:child_process";
import { realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";

/** The user of the embedded server. PostgreSQL does not run as root, so root needs another user. */
export interface Owner {
  /** Set only for root: all files of the server belong to this user. */
  readonly ids?: { readonly uid: number; readonly gid: number };
}

/**
 * The current user. For root, the user who owns the existing database (a system service has a separate user), and
 * otherwise the user `postgres`, created if it is missing.
 */
export function findOwner(dataFolder: string, progress: (line: string) => void): Owner {
  if (process.getuid?.() !== 0) return {};
  const existing = statSync(join(dataFolder, "postgres", "cluster"), { throwIfNoEntry: false });
  if (existing !== undefined && existing.uid !== 0) return { ids: { uid: existing.uid, gid: existing.gid } };
  const found = lookUp();
  if (found) return { ids: found };
  progress("PostgreSQL cannot run as root. Creating the user postgres for it …");
  const made = spawnSync(
    "useradd",
    ["--system", "--no-create-home", "--shell", "/usr/sbin/nologin", "postgres"],
    {
      encoding: "utf8",
    },
  );
  const ids = lookUp();
  if (ids) return { ids };
  throw new Error(
    `PostgreSQL cannot run as root, and the user postgres could not be created (${reason(made)}). Create it, run dataq as another user, or set DATABASE_URL.`,
  );
}

/** Whether `owner` can reach `path` through all folders above it. */
export function canReach(owner: Owner, path: string): boolean {
  if (modesAllow(owner, path)) return true;
  return spawnSync("/bin/sh", ["-c", 'test -x "$0"', path], { ...owner.ids, cwd: "/" }).status === 0;
}

/**
 * Whether the modes of `path` and of all folders above it let `owner` enter or execute them. If not, other groups of the
 * owner or an access control list may still allow it.
 */
export function modesAllow({ ids }: Owner, path: string): boolean {
  const uid = ids?.uid ?? process.getuid?.();
  const gid = ids?.gid ?? process.getgid?.();
  for (let at = realpathSync(path); ; at = dirname(at)) {
    const found = statSync(at);
    const bit = found.uid === uid ? 0o100 : found.gid === gid ? 0o010 : 0o001;
    if ((found.mode & bit) === 0) return false;
    if (at === dirname(at)) return uid !== undefined;
  }
}

function lookUp(): Owner["ids"] {
  const id = (flag: string) => spawnSync("id", [flag, "postgres"], { encoding: "utf8" });
  const uid = id("-u");
  const gid = id("-g");
  if (uid.status !== 0 || gid.status !== 0) return undefined;
  return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
}

function reason(result: { error?: Error | undefined; stderr?: string | null }): string {
  return result.error?.message ?? (result.stderr?.trim() || "no reason given");
}
