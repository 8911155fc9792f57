import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { platformFolder, processorPackage, release } from "../engine/libllama/release.ts";
import { type Backend, type EnginePackage, enginePackages } from "./packages.ts";

/** Where a build is installed. Each release has its own folder, so that locallm never loads another release's libraries. */
export function packageFolder(enginesFolder: string, { backend, version }: EnginePackage): string {
  return join(enginesFolder, `${version}-${backend}`);
}

/** Library folders of the installed builds of the engine release that this locallm uses. */
export function installedBackends(
  enginesFolder: string,
  platform: NodeJS.Platform = process.platform,
  arch: string = process.arch,
  ownFolder: () => string | null = foundPlatformFolder,
): Partial<Record<Backend, string>> {
  const found: Partial<Record<Backend, string>> = {};
  for (const build of enginePackages(platform, arch)) {
    const libraries = librariesOf(packageFolder(enginesFolder, build), build);
    if (libraries !== null) found[build.backend] = libraries;
    // On Apple Silicon the package that is always installed is a GPU build.
    else if (build.name === processorPackage(platform, arch)) {
      const own = ownFolder();
      if (own !== null) found[build.backend] = own;
    }
  }
  return found;
}

function foundPlatformFolder(): string | null {
  try {
    return platformFolder();
  } catch {
    return null;
  }
}

/** Null if the build is not installed. */
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
