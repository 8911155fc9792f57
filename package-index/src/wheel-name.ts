import { parseVersion, type Version } from "./version.ts";

/** What a wheel's file name says. */
export interface WheelName {
  readonly name: string;
  readonly version: Version;
  readonly python: readonly string[];
  readonly abi: readonly string[];
  readonly platforms: readonly string[];
}

/** Returns null for other files: sources, wheels of an unknown form. */
export function parseWheelName(file: string): WheelName | null {
  if (!file.endsWith(".whl")) return null;
  const parts = file.slice(0, -4).split("-");
  if (parts.length !== 5 && parts.length !== 6) return null;
  const [name = "", versionText = ""] = parts;
  const [python = "", abi = "", platforms = ""] = parts.slice(-3);
  const version = parseVersion(versionText.replaceAll("_", "+"));
  if (version === null) return null;
  return {
    name: name.toLowerCase().replace(/[-_.]+/g, "-"),
    version,
    python: python.split("."),
    abi: abi.split("."),
    platforms: platforms.split("."),
  };
}

/** A machine that files are for. */
export interface Machine {
  readonly platform: NodeJS.Platform;
  readonly arch: string;
  /** `2.36`; null where there is another C library. */
  readonly glibc: string | null;
}

export function thisMachine(): Machine {
  const { header } = process.report.getReport() as unknown as { header: { glibcVersionRuntime?: string } };
  return { platform: process.platform, arch: process.arch, glibc: header.glibcVersionRuntime ?? null };
}

const processors: Readonly<Record<string, string>> = { x64: "x86_64", arm64: "aarch64" };
const windows: Readonly<Record<string, string>> = { x64: "win_amd64", arm64: "win_arm64" };
/** The old names of manylinux, and the glibc that they stand for. */
const oldLinux: Readonly<Record<string, string>> = { "1": "2.5", "2010": "2.12", "2014": "2.17" };

/** Whether the wheel's files are for any Python 3 and for this machine. We read files, and run no Python of it. */
export function fitsMachine({ python, abi, platforms }: WheelName, machine: Machine): boolean {
  if (!python.some((tag) => /^py3\d*$/.test(tag)) || !abi.includes("none")) return false;
  return platforms.some((platform) => platform === "any" || fitsPlatform(platform, machine));
}

function fitsPlatform(tag: string, { platform, arch, glibc }: Machine): boolean {
  if (platform === "win32") return tag === windows[arch];
  if (platform === "darwin")
    return /^macosx_\d+_\d+_/.test(tag) && tag.endsWith(arch === "arm64" ? "_arm64" : "_x86_64")
      ? true
      : /^macosx_\d+_\d+_universal2$/.test(tag);
  if (platform !== "linux") return false;
  const processor = processors[arch];
  if (tag === `linux_${processor}`) return true;
  const [, old, major, minor, on] = /^manylinux(?:(1|2010|2014)|_(\d+)_(\d+))_(\w+)$/.exec(tag) ?? [];
  if (on === undefined || on !== processor || glibc === null) return false;
  const needed = old === undefined ? `${major}.${minor}` : (oldLinux[old] as string);
  const [wantedMinor, hasMinor] = [needed, glibc].map((version) => Number(version.split(".")[1]));
  return (hasMinor as number) >= (wantedMinor as number);
}
