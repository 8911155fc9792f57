/** The release of llama.cpp that locallm needs, and the version of the packages that contain it. */
export const release = { version: "0.5.0", packageVersion: "3.22.1" } as const;

/** The platform as the packages name it: `mac-arm64`, `win-x64`, `linux-x64`. */
export function packagePlatform(
  platform: NodeJS.Platform = process.platform,
  arch: string = process.arch,
): string {
  const names: Partial<Record<NodeJS.Platform, string>> = { win32: "win", darwin: "mac" };
  return `${names[platform] ?? platform}-${arch}`;
}

/** The name of the package with the CPU build of the engine. */
export function processorPackage(platform?: NodeJS.Platform, arch?: string): string {
  return `@node-llama-cpp/${packagePlatform(platform, arch)}`;
}
