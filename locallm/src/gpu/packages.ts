import { packagePlatform, processorPackage, release } from "../engine/libllama/release.ts";

export type Backend = "cuda" | "vulkan" | "metal";

/** A build of the engine for GPUs: the same release as the processor's, which alone is installed with locallm. */
export interface EnginePackage {
  readonly backend: Backend;
  readonly name: string;
  readonly version: string;
  /** npm's digest of the package; null: it was never fetched by us, so npm's own word counts. */
  readonly integrity: string | null;
  /** On disk, for people who decide whether they want it; null: we never saw it. */
  readonly sizeMb: number | null;
}

export { packagePlatform, processorPackage };

/** The builds for a platform, in the order of preference. Only `locallm doctor --install` fetches them. */
export function enginePackages(platform: NodeJS.Platform, arch: string): readonly EnginePackage[] {
  return table[`${platform}-${arch}`] ?? [];
}

const table: Readonly<Record<string, readonly EnginePackage[]>> = {
  "linux-x64": [
    build(
      "cuda",
      "linux-x64-cuda",
      181,
      "sha512-8rQCjyNNLZJUFit+YpjwlC4hwkKgOMIkB2wuycKBf8NU2O3ySKbiWZQ8aw9ku2nUTXjSnUIrE6KB88itduTBuA==",
    ),
    build(
      "vulkan",
      "linux-x64-vulkan",
      73,
      "sha512-bBxqU+JOcBu1nb5Qj2zcMci+JByT1E8EajHvYodyNfVIPkEhXh+/HMwR1/BT7xP08YK0hks+kM8fglER0P8JEg==",
    ),
  ],
  "win32-x64": [build("cuda", "win-x64-cuda", null, null), build("vulkan", "win-x64-vulkan", null, null)],
  "darwin-arm64": [build("metal", "mac-arm64-metal", null, null)],
};

function build(
  backend: Backend,
  name: string,
  sizeMb: number | null,
  integrity: string | null,
): EnginePackage {
  return { backend, name: `@node-llama-cpp/${name}`, version: release.packageVersion, integrity, sizeMb };
}
