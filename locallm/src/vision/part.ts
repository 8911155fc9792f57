import { existsSync } from "node:fs";
import { join } from "node:path";
import { packagePlatform, release } from "../engine/libllama/release.ts";
import { mtmdFile } from "../engine/libmtmd/library.ts";

/**
 * The part of the engine that reads pictures: libmtmd, built from the same source as the engine. It is not installed with
 * locallm. Each release of the engine has its own.
 */
export const visionPart = {
  /** The package that has it, and its version. */
  name: `@locallm/mtmd-${packagePlatform()}`,
  version: release.packageVersion,
  /** The package that carries the engine's source. */
  source: `node-llama-cpp@${release.packageVersion}`,
} as const;

/** Where the part is installed, or would be. */
export function visionPartFolder(enginesFolder: string): string {
  return join(enginesFolder, `${release.packageVersion}-vision`);
}

/** The folder of the installed library, or null. */
export function visionFolder(enginesFolder: string): string | null {
  const folder = visionPartFolder(enginesFolder);
  return existsSync(join(folder, mtmdFile())) ? folder : null;
}
