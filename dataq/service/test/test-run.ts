import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statfsSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { removeRun } from "./data-folder.ts";

/** The name goes on with the process of the run. */
const prefix = "dataq-run-";

/**
 * Runs before the first test of a run and after the last one. `data-folder.ts` prepares folders once for
 * all of them. Temporary files of the tests are in the folder of the run, too, where there is room.
 */
export default function setUp(): () => Promise<void> {
  const place = hasRoomInMemory(4e9) ? memory : tmpdir();
  removeDeadRuns(place);
  const folder = mkdtempSync(join(place, `${prefix}${process.pid}-`));
  // If root runs the tests, the embedded server runs as another user, who must be able to enter the folder.
  chmodSync(folder, 0o711);
  process.env["DATAQ_TEST_RUN"] = folder;
  if (hasRoomInMemory(8e9) && runsPrograms(memory)) {
    const temporary = join(folder, "tmp");
    mkdirSync(temporary);
    chmodSync(temporary, 0o1777);
    process.env["TMPDIR"] = temporary;
  }
  return () => removeRun(folder);
}

const memory = "/dev/shm";

/** In memory nothing that is written waits for a disk, and no test cuts the power. The databases need less than 2 GB. */
function hasRoomInMemory(bytes: number): boolean {
  if (!existsSync(memory)) return false;
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize > bytes;
}

/** Some systems refuse to run programs from memory. Tests write some. */
function runsPrograms(place: string): boolean {
  const mounts = readFileSync("/proc/mounts", "utf8").split("\n");
  return !mounts.some((line) => line.includes(` ${place} `) && /\bnoexec\b/.test(line));
}

/** A killed run leaves its folder, and its services leave their PostgreSQL servers: up to 2 GB of memory. */
function removeDeadRuns(place: string): void {
  for (const name of readdirSync(place)) {
    const run = Number(new RegExp(`^${prefix}(\\d+)-`).exec(name)?.[1] ?? Number.NaN);
    if (Number.isNaN(run) || isAlive(run)) continue;
    const folder = join(place, name);
    endServers(folder);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A server works in its data folder, which tells it from a later process with the same number. */
function endServers(run: string): void {
  for (const folder of readdirSync(run)) {
    const data = join(run, folder, "postgres", "cluster");
    try {
      const server = Number(readFileSync(join(data, "postmaster.pid"), "utf8").split("\n", 1)[0]);
      if (readlinkSync(`/proc/${server}/cwd`) === data) process.kill(server, "SIGQUIT");
    } catch {
      // It has ended, or never ran.
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
