import { existsSync } from "node:fs";
import { join } from "node:path";
import { packagePlatform, release } from "../engine/libllama/release.ts";
import { mtmdFile } from "../engine/libmtmd/file-name.ts";

/**
 * The part of the engine that reads pictures: libmtmd, built from the same source as the engine. It is not installed with
 * locallm. Each source has its own folder, so locallm never loads another release's library.
 */
export const visionPart = {
  /** The package that has it, which `scripts/vision-package.ts` makes. */
  name: `@locallm/mtmd-${packagePlatform()}`,
  version: release.packageVersion,
  /** npm's integrity digest. Null until the package is published; then only npm's own check applies. */
  integrity: null,
} as const;

/** The package that carries the engine's source, as a bundle of git. */
export const sourcePackage = {
  name: "node-llama-cpp",
  version: release.packageVersion,
  ...(release.version === "0.5.0"
    ? {
        integrity:
          "sha512-bltIipuWmc123H7tMIgDGKSsSrhmhlQYeVUC48XTjVW7XGJJiJJyCdlTMzQ/LiWoPkGDpcL4FviDpgw7qfTiDw==",
        bundleSha256: "5f5d1105d5df040738d87b8290e5d17e7362131cdcfdb0831618e0ea528b4a51",
      }
    : {
        integrity:
          "sha512-E3N0Ev2Va0wzydvXYFwM9Hvyo07PoWjt8T/9GMc43Cvt8YkV/NU/tYUgEMC1grTPv2o9PRjQi0G3Wb5P/awiMg==",
        bundleSha256: "9336d8aab8f8e6a8919380f3641fe92e57b02fb55df1b6bd083b82491a6293b8",
      }),
  bundle: "package/llama/gitRelease.bundle",
} as const;

/** Where the part is installed, or would be. */
export function visionPartFolder(enginesFolder: string): string {
  return join(enginesFolder, `${release.packageVersion}-vision-${sourcePackage.bundleSha256.slice(0, 12)}`);
}

/** The folder of the installed library, or null. */
export function visionFolder(enginesFolder: string): string | null {
  const folder = visionPartFolder(enginesFolder);
  return existsSync(join(folder, mtmdFile())) ? folder : null;
}
