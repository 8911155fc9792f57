import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { LocallmError } from "../../wire/errors.ts";

/** A release of llama.cpp, and the version of the packages that contain it. */
interface Release {
  readonly version: string;
  readonly packageVersion: string;
}

/**
 * The releases that locallm runs with. They have the same structures (`test/engine-layout`). For macOS and Windows it is
 * the newest whose packages the registry that we reach has, so that each has a digest in the lock file.
 */
const releases = {
  linux: { version: "0.5.0", packageVersion: "3.22.1" },
  others: { version: "0.4.0", packageVersion: "3.21.1" },
} as const satisfies Record<string, Release>;

export function releaseFor(platform: NodeJS.Platform): Release {
  return platform === "linux" ? releases.linux : releases.others;
}

/** The release for this system. */
export const release = releaseFor(process.platform);

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
