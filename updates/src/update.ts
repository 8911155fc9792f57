import { spawn, spawnSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import {
  accessSync,
  constants,
  createWriteStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { statfs } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import {
  currentOf,
  type Installation,
  launcherOf,
  previousOf,
  type ReleaseNote,
  switchTo,
  unusedVersions,
  versionFolder,
  versionsFolder,
} from "./installation.ts";
import { type Offer, openFile, type Source } from "./release.ts";
import { UpdateError } from "./update-error.ts";

/** An installation that updates itself. */
export type Archive = Extract<Installation, { kind: "archive" | "package" }>;

/** Unpacked, an archive takes about three times its size. */
const growth = 3.5;

/**
 * Downloads the offered archive, checks it, tries it, and makes it the version that starts next. A server that runs
 * keeps its own version until somebody starts it again. Throws `UpdateError`, and then nothing has changed.
 */
export async function install(
  archive: Archive,
  offer: Offer,
  source: Source,
  tell: (line: string) => void,
): Promise<void> {
  const { folder, note } = archive;
  requireRights(folder);
  const versions = versionsFolder(folder);
  mkdirSync(versions, { recursive: true });
  removeLeftovers(versions);
  const name = `${offer.version}-${offer.sha256.slice(0, 8)}`;
  if (!existsSync(join(versions, name, "release.json"))) {
    const work = mkdtempSync(join(versions, ".new-"));
    try {
      const file = join(work, offer.archive);
      await download(offer, source, file, tell);
      const unpacked = join(work, "unpacked");
      await unpack(file, unpacked);
      requireRuns(unpacked, note.product, offer.version);
      rmSync(join(versions, name), { recursive: true, force: true });
      renameSync(unpacked, join(versions, name));
    } catch (error) {
      throw explained(error as NodeJS.ErrnoException, folder);
    } finally {
      rmSync(work, { recursive: true, force: true });
    }
  }
  if (currentOf(folder) !== name) switchTo(folder, name);
  for (const unused of unusedVersions(folder))
    rmSync(join(versions, unused), { recursive: true, force: true });
}

/** Makes the version before the one that starts next, and this one the version before. Returns its version. */
export function goBack({ folder, note }: Archive): string {
  const name = previousOf(folder);
  if (name === undefined) throw new UpdateError(`there is no version before this one in ${folder}`);
  requireRights(folder);
  requireRuns(versionFolder(folder, name), note.product, null);
  switchTo(folder, name);
  return noteIn(versionFolder(folder, name)).version;
}

/** What the folder of a version says of itself. */
function noteIn(folder: string): ReleaseNote {
  return JSON.parse(readFileSync(join(folder, "release.json"), "utf8")) as ReleaseNote;
}

async function download(
  { archive, sha256 }: Offer,
  source: Source,
  path: string,
  tell: (line: string) => void,
): Promise<void> {
  const { bytes, body } = await openFile(source, archive);
  const { bavail, bsize } = await statfs(dirname(path));
  if (bytes !== null && bavail * bsize < bytes * (1 + growth))
    throw new UpdateError(
      `${dirname(dirname(dirname(path)))} has ${megabytes(bavail * bsize)} free, and the update needs ${megabytes(bytes * (1 + growth))}. Make room and run it again`,
    );
  tell(`Getting ${archive}${bytes === null ? "" : ` (${megabytes(bytes)})`} …`);
  const hash = createHash("sha256");
  await pipeline(
    body,
    async function* (chunks: AsyncIterable<Buffer>) {
      for await (const chunk of chunks) {
        hash.update(chunk);
        yield chunk;
      }
    },
    createWriteStream(path),
  );
  if (hash.digest("hex") !== sha256)
    throw new UpdateError(
      `${archive} has another digest than SHA256SUMS says: the download is cut or changed. Run the update again`,
    );
  tell("Its digest is right.");
}

/** Every system that has an archive has a tar that reads it; the one of Windows reads zip. */
async function unpack(file: string, to: string): Promise<void> {
  mkdirSync(to);
  const tar = spawn("tar", ["-xf", file, "-C", to, "--strip-components=1"], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  tar.stderr.on("data", (bytes) => {
    said += String(bytes);
  });
  const [code] = (await once(tar, "close").catch((error: Error) => {
    throw new UpdateError(`tar cannot run: ${error.message}`, { cause: error });
  })) as [number | null];
  if (code !== 0)
    throw new UpdateError(
      `the archive cannot be unpacked: ${said.trim().split("\n")[0] ?? "tar was stopped"}`,
    );
}

/** A version that does not start on this machine, for example because its C library is older, is not installed. */
function requireRuns(folder: string, product: string, version: string | null): void {
  const program = launcherOf(product, { folder });
  const isWindows = process.platform === "win32";
  const { stdout, error } = spawnSync(program, ["--version"], {
    encoding: "utf8",
    timeout: 60_000,
    shell: isWindows,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const said = stdout?.trim().split(/\s/)[0];
  if (error !== undefined || !said || (version !== null && said !== version))
    throw new UpdateError(
      `${version === null ? "the version before" : version} does not run on this machine${said ? `: it says that it is ${said}` : ""}`,
    );
}

function requireRights(folder: string): void {
  try {
    accessSync(folder, constants.W_OK);
    // On a read-only file system or for root, only a try tells.
    const probe = join(folder, `.try-${randomBytes(4).toString("hex")}`);
    mkdirSync(probe);
    rmSync(probe, { recursive: true });
  } catch (error) {
    throw new UpdateError(
      `${folder} cannot be written (${(error as NodeJS.ErrnoException).code}). Run the update as its owner`,
      { cause: error },
    );
  }
}

/** What a killed update left. A younger one may be at work. */
function removeLeftovers(versions: string): void {
  const hourAgo = Date.now() - 3_600_000;
  for (const name of readdirSync(versions))
    if (name.startsWith(".new-") && statSync(join(versions, name)).mtimeMs < hourAgo)
      rmSync(join(versions, name), { recursive: true, force: true });
}

function explained(error: NodeJS.ErrnoException, folder: string): Error {
  if (error instanceof UpdateError) return error;
  if (error.code === "ENOSPC")
    return new UpdateError(`there is no space left in ${folder}. Make room and run it again`, {
      cause: error,
    });
  return new UpdateError(`the download broke off: ${error.message}. Run the update again`, { cause: error });
}

function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1e6)} MB`;
}
