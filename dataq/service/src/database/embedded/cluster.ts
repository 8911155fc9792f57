import { spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
} from "node:fs";
import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import writeFileAtomic from "write-file-atomic";
import type { Binaries } from "./binaries.ts";
import { canReach, type Owner } from "./owner.ts";

/** Where root keeps files that cannot be in its data folder. */
export const ROOT_FOLDER = "/var/lib/dataq";

/** The files of one embedded server. */
export interface Cluster {
  /** The folder with our own files: lock, password, log. */
  readonly home: string;
  /** The folder with the server's data. */
  readonly data: string;
  /** The folder with the server's socket, and the pipe that closes with its last user. */
  readonly run: string;
  readonly password: string;
}

/**
 * The folder `<data folder>/postgres`. Root's server runs as another user, who may not be able to reach it (below a
 * home of mode 0700). Then it has a folder below /var/lib/dataq, named after the data folder's path.
 */
export function findHome(dataFolder: string, owner: Owner, progress: (line: string) => void): string {
  mkdirSync(dataFolder, { recursive: true, mode: 0o711 });
  const folder = realpathSync(dataFolder);
  const home = join(folder, "postgres");
  makeFolder(home, 0o711);
  if (!owner.ids || canReach(owner, home)) return home;
  // We may open the data folder itself to other users, but not the folders above it.
  chmodSync(folder, statSync(folder).mode | 0o011);
  if (canReach(owner, home)) return home;
  const name = createHash("sha256").update(folder).digest("hex").slice(0, 16);
  const elsewhere = join(ROOT_FOLDER, "clusters", name);
  mkdirSync(elsewhere, { recursive: true });
  for (const path of [ROOT_FOLDER, join(ROOT_FOLDER, "clusters"), elsewhere]) chmodSync(path, 0o711);
  progress(`The user postgres cannot access ${folder}; the database is in ${elsewhere}.`);
  return elsewhere;
}

/** Whether PostgreSQL has already created a cluster in `home`. */
export function hasCluster(home: string): boolean {
  return existsSync(join(home, "cluster"));
}

/**
 * Opens the cluster of `home`, and creates it first if there is none. The caller holds the lock of the home.
 */
export async function openCluster(
  home: string,
  owner: Owner,
  binaries: Binaries,
  progress: (line: string) => void,
): Promise<Cluster> {
  const run = join(home, "run");
  makeFolder(run, 0o700);
  if (owner.ids) chownSync(run, owner.ids.uid, owner.ids.gid);
  const data = join(home, "cluster");
  const passwordFile = join(home, "password");
  // Left over by an interrupted first start; never used.
  for (const entry of readdirSync(home))
    if (entry.startsWith("cluster.new")) await rm(join(home, entry), { recursive: true, force: true });
  if (!hasCluster(home)) {
    progress("Creating the database (first start only) …");
    const password = randomBytes(24).toString("base64url");
    await writeFileAtomic(passwordFile, password, { mode: 0o600 });
    await initialise(data, run, password, owner, binaries);
  }
  const major = readFileSync(join(data, "PG_VERSION"), "utf8").trim();
  if (major !== binaries.major)
    throw new Error(
      `The database in ${data} was created by PostgreSQL ${major}; this dataq includes ${binaries.major}. Start the earlier dataq, dump the database, and restore it into a new data folder.`,
    );
  return { home, data, run, password: readFileSync(passwordFile, "utf8").trim() };
}

async function initialise(
  data: string,
  run: string,
  password: string,
  owner: Owner,
  binaries: Binaries,
): Promise<void> {
  // Created under another name and renamed when complete, so that an interrupted start leaves no broken cluster.
  const fresh = `${data}.new`;
  makeFolder(fresh, 0o700);
  const passwordFile = join(run, "initial-password");
  await writeFile(passwordFile, password, { mode: 0o600 });
  if (owner.ids) {
    chownSync(fresh, owner.ids.uid, owner.ids.gid);
    chownSync(passwordFile, owner.ids.uid, owner.ids.gid);
  }
  try {
    await runToEnd(owner, binaries.initdb, [
      `--pgdata=${fresh}`,
      "--username=dataq",
      `--pwfile=${passwordFile}`,
      "--auth=scram-sha-256",
      "--encoding=UTF8",
      // Text sorts the same way on every machine, whatever its libc.
      "--locale-provider=builtin",
      "--builtin-locale=C.UTF-8",
      // Only Linux has this locale in its libc.
      process.platform === "linux" ? "--locale=C.UTF-8" : "--locale=C",
      "--no-instructions",
    ]);
  } finally {
    await rm(passwordFile, { force: true });
  }
  await rename(fresh, data);
}

function runToEnd(owner: Owner, program: string, parameters: string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, parameters, {
      ...owner.ids,
      cwd: "/",
      stdio: ["ignore", "pipe", "pipe"],
      env: serverEnvironment(),
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk) => {
        output = (output + chunk).slice(-4_000);
      });
    child.on("error", reject);
    child.on("close", (code) => {
      if (code === 0) resolve();
      else reject(new Error(`initdb failed (${code}): ${output.trim()}`));
    });
  });
}

/** The environment of PostgreSQL's programs. Windows needs its own variables to open a connection. */
export function serverEnvironment(): NodeJS.ProcessEnv {
  // biome-ignore lint/style/noProcessEnv: passed on whole, not read
  const base = process.platform === "win32" ? process.env : { PATH: "/usr/local/bin:/usr/bin:/bin" };
  return { ...base, LC_ALL: "C", TZ: "UTC" };
}

function makeFolder(path: string, mode: number): void {
  mkdirSync(path, { recursive: true });
  chmodSync(path, mode);
}
