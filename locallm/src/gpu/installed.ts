import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { release } from "../engine/libllama/release.ts";
import { type Backend, type EnginePackage, enginePackages } from "./packages.ts";

/** Where a build lies: releases apart, so that an update of locallm never opens another's libraries. */
export function packageFolder(enginesFolder: string, { backend, version }: EnginePackage): string {
  return join(enginesFolder, `${version}-${backend}`);
}

/** The folders of libraries of the builds that are installed, of the release that this locallm speaks to. */
export function installedBackends(
  enginesFolder: string,
  platform: NodeJS.Platform = process.platform,
  arch: string = process.arch,
): Partial<Record<Backend, string>> {
  const found: Partial<Record<Backend, string>> = {};
  for (const build of enginePackages(platform, arch)) {
    const libraries = librariesOf(packageFolder(enginesFolder, build), build);
    if (libraries !== null) found[build.backend] = libraries;
  }
  return found;
}

/** Null where the build is not there. */
export function librariesOf(folder: string, { name }: EnginePackage): string | null {
  const bins = join(folder, "node_modules", name, "bins");
  if (!existsSync(bins)) return null;
  const inside = readdirSync(bins).find((entry) =>
    readdirSync(join(bins, entry)).some(
      (file) => file.includes(`.v${release.version}.`) && file.includes("llama"),
    ),
  );
  return inside === undefined ? null : join(bins, inside);
}
