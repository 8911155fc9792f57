import { packagePlatform, processorPackage, releaseFor } from "../engine/libllama/release.ts";

export type Backend = "cuda" | "vulkan" | "metal";

/** A GPU build of the engine, of the same release as the CPU build. Only the CPU build is installed with locallm. */
export interface EnginePackage {
  readonly backend: Backend;
  readonly name: string;
  readonly version: string;
  /**
   * npm's integrity digest of the package. Null if we never downloaded it; then only npm's own check applies.
   */
  readonly integrity: string | null;
  /** The size on disk, which is shown before the download. Null if unknown. */
  readonly sizeMb: number | null;
}

export { packagePlatform, processorPackage };

/** The GPU builds for a platform in order of preference. Only `locallm doctor --install` downloads them. */
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
  "win32-x64": [
    build(
      "cuda",
      "win-x64-cuda",
      null,
      "sha512-PLz70neFEMkQTlmJqG1ujUtCSgHasLPMxQ9rLkqQVmZYAXqkRj+45TIHCjdn3XqUeaoun0vrO9rRaxZ8NVq9jg==",
    ),
    build(
      "vulkan",
      "win-x64-vulkan",
      null,
      "sha512-HJ237Azh5m4Sz+w3A1IU/fYLaSDOocskcfn2ILTgqTuuORCB86EMnu3Yt/XsNhRHTtEiwz1Q/E0mO4PLIbZLAA==",
    ),
  ],
  "darwin-arm64": [
    build(
      "metal",
      "mac-arm64-metal",
      null,
      "sha512-6MIDAZV7DXD9R1+jEXWJkFuolni3GATGE6mmuyFYc6ZmtOh9djAy15df0T0AXK3sCmVKL+fQcOAWZezxx4MvQQ==",
    ),
  ],
};

function build(
  backend: Backend,
  name: string,
  sizeMb: number | null,
  integrity: string | null,
): EnginePackage {
  const { packageVersion: version } = releaseFor(name.startsWith("linux") ? "linux" : "win32");
  return { backend, name: `@node-llama-cpp/${name}`, version, integrity, sizeMb };
}
