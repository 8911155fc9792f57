import { chmodSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { removeRun } from "./data-folder.ts";

/**
 * Runs before the first live test of a run and after the last one. `data-folder.ts` prepares folders once for
 * all of them.
 */
export default function setUp(): () => Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "dataq-run-"));
  // The user of root's embedded server must be able to enter it.
  chmodSync(folder, 0o711);
  process.env["DATAQ_TEST_RUN"] = folder;
  return () => removeRun(folder);
}
