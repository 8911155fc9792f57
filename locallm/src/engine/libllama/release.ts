import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { LocallmError } from "../../wire/errors.ts";

/** The release of llama.cpp that locallm needs, and the version of the packages that contain it. */
export const release = { version: "0.5.0", packageVersion: "3.22.1" } as const;

/**
 * The platform as the packages name it: `win-x64`, `linux-x64`, `mac-arm64-metal`. Apple Silicon has one build for GPU
 * and CPU.
 */
export function packagePlatform(
  platform: NodeJS.Platform = process.platform,
  arch: string = process.arch,
): string {
  const names: Partial<Record<NodeJS.Platform, string>> = { win32: "win", darwin: "mac" };
  const name = `${names[platform] ?? platform}-${arch}`;
  return name === "mac-arm64" ? "mac-arm64-metal" : name;
}

/** The name of the package with the CPU build of the engine. */
export function processorPackage(platform?: NodeJS.Platform, arch?: string): string {
  return `@node-llama-cpp/${packagePlatform(platform, arch)}`;
}

/** The libraries of the installed platform package. Throws `engine_missing`. */
export function platformFolder(): string {
  const name = processorPackage();
  try {
    // The package exports no package.json; its entry file is in `dist/` beside `bins/`.
    const entry = createRequire(import.meta.url).resolve(name);
    return join(dirname(dirname(entry)), "bins", packagePlatform());
  } catch (cause) {
    throw new LocallmError(
      "engine_missing",
      { platform: packagePlatform(), reason: `install ${name}@${release.packageVersion}` },
      { cause },
    );
  }
}
