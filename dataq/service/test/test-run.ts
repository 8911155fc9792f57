import { chmodSync, existsSync, mkdtempSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { removeRun } from "./data-folder.ts";

/**
 * Runs before the first test of a run and after the last one. `data-folder.ts` prepares folders once for
 * all of them.
 */
export default function setUp(): () => Promise<void> {
  const folder = mkdtempSync(join(hasRoomInMemory() ? memory : tmpdir(), "dataq-run-"));
  // If root runs the tests, the embedded server runs as another user, who must be able to enter the folder.
  chmodSync(folder, 0o711);
  process.env["DATAQ_TEST_RUN"] = folder;
  return () => removeRun(folder);
}

const memory = "/dev/shm";

/** In memory no commit waits for a disk, and no test cuts the power. A run needs less than 2 GB. */
function hasRoomInMemory(): boolean {
  if (!existsSync(memory)) return false;
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize > 4e9;
}
