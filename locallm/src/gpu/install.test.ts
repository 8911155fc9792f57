import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { release, releaseFor } from "../engine/libllama/release.ts";
import { installEngine } from "./install.ts";
import { installedBackends } from "./installed.ts";
import { type EnginePackage, enginePackages } from "./packages.ts";

const build: EnginePackage = {
  backend: "vulkan",
  name: "@node-llama-cpp/linux-x64-vulkan",
  version: release.packageVersion,
  integrity: "sha512-abc",
  sizeMb: 1,
};
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "locallm-engines-"));
  await mkdir(engines());
});
afterEach(() => rm(folder, { recursive: true }));

/** A fake npm: records its arguments and the lock file, then runs the given code. */
async function npm(then: string): Promise<readonly string[]> {
  const path = join(folder, "npm.mjs");
  const note = `writeFileSync(${JSON.stringify(join(folder, "called"))}, JSON.stringify({ args: process.argv.slice(2), lock: existsSync("package-lock.json") ? JSON.parse(readFileSync("package-lock.json", "utf8")) : null }));`;
  await writeFile(
    path,
    `import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";\n${note}\n${then}\n`,
  );
  await chmod(path, 0o755);
  return [process.execPath, path];
}
const engines = () => join(folder, "engines");
const library = `libllama.vulkan.v${release.version}.so`;
const installs = `mkdirSync("node_modules/${build.name}/bins/linux-x64-vulkan", { recursive: true });
writeFileSync("node_modules/${build.name}/bins/linux-x64-vulkan/${library}", "");`;

it("downloads a build with npm, pinned to the known digest, and finds it afterwards", async () => {
  const libraries = await installEngine(engines(), build, () => {}, await npm(installs));
  expect(await readdir(libraries)).toEqual([library]);
  expect(installedBackends(engines(), "linux", "x64")).toEqual({ vulkan: libraries });
  expect(await readdir(engines())).toEqual([`${release.packageVersion}-vulkan`]);
  const { args, lock } = JSON.parse(await readFile(join(folder, "called"), "utf8"));
  expect(args.slice(0, 2)).toEqual(["ci", "--ignore-scripts"]);
  expect(lock.packages[`node_modules/${build.name}`]).toEqual({
    version: release.packageVersion,
    integrity: "sha512-abc",
  });
  // Install again over the existing build.
  expect(await installEngine(engines(), build, () => {}, await npm(installs))).toBe(libraries);
});

it("pins only the exact version if no digest is known", async () => {
  await installEngine(engines(), { ...build, integrity: null }, () => {}, await npm(installs));
  expect(JSON.parse(await readFile(join(folder, "called"), "utf8"))).toMatchObject({
    args: ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"],
    lock: null,
  });
});

it.each([
  [
    "refuses",
    `console.error("npm error code EINTEGRITY\\nnpm error sha512-abc expected"); process.exit(1);`,
    /EINTEGRITY/,
  ],
  ["fails without output", "process.exit(3);", /npm exited with code 3/],
  ["installs something else", `mkdirSync("node_modules");`, /holds no libraries/],
])("leaves no files behind if npm %s", async (_, then, reason) => {
  const fetching = installEngine(engines(), build, () => {}, await npm(then));
  await expect(fetching).rejects.toMatchObject({
    code: "engine_not_fetched",
    message: expect.stringMatching(reason),
  });
  expect(await readdir(engines())).toEqual([]);
});

it("finds the GPU build that Apple Silicon always has", () => {
  expect(installedBackends(engines(), "darwin", "arm64", () => "/own")).toEqual({ metal: "/own" });
  expect(installedBackends(engines(), "darwin", "arm64", () => null)).toEqual({});
  expect(installedBackends(engines(), "linux", "x64", () => "/own")).toEqual({});
});

it("reports a missing npm", async () => {
  const fetching = installEngine(engines(), build, () => {}, [join(folder, "nothing")]);
  await expect(fetching).rejects.toMatchObject({ code: "source_tool_missing" });
});

it("reports a folder that is not writable", async () => {
  const fetching = installEngine(join(folder, "nothing"), build, () => {}, await npm(installs));
  await expect(fetching).rejects.toMatchObject({
    code: "file_unusable",
    message: expect.stringMatching(/cannot use .*nothing: the folder is not writable \(ENOENT\)$/),
  });
});

it("installs the engine release that this locallm uses, on every platform", () => {
  for (const [platform, arch] of [
    ["linux", "x64"],
    ["win32", "x64"],
    ["darwin", "arm64"],
  ] as const)
    for (const { version } of enginePackages(platform, arch))
      expect(version).toBe(releaseFor(platform).packageVersion);
});
