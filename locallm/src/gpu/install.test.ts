import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { release } from "../engine/libllama/release.ts";
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

/** A program in npm's place: it notes what it is called with, then does as told. */
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

it("is fetched by npm, held to the digest that we know, and found again", async () => {
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
  // Once more, over what is there.
  expect(await installEngine(engines(), build, () => {}, await npm(installs))).toBe(libraries);
});

it("without a digest goes by npm's own word, and by the exact version", async () => {
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
  ["ends without a word", "process.exit(3);", /npm ended with 3/],
  ["brings something else", `mkdirSync("node_modules");`, /holds no libraries/],
])("leaves nothing behind where npm %s", async (_, then, reason) => {
  const fetching = installEngine(engines(), build, () => {}, await npm(then));
  await expect(fetching).rejects.toMatchObject({
    code: "engine_not_fetched",
    message: expect.stringMatching(reason),
  });
  expect(await readdir(engines())).toEqual([]);
});

it("says so where there is no npm", async () => {
  const fetching = installEngine(engines(), build, () => {}, [join(folder, "nothing")]);
  await expect(fetching).rejects.toMatchObject({ code: "source_tool_missing" });
});

it("says that the folder is not writable", async () => {
  const fetching = installEngine(join(folder, "nothing"), build, () => {}, await npm(installs));
  await expect(fetching).rejects.toMatchObject({
    code: "file_unusable",
    message: expect.stringMatching(/cannot use .*nothing: the folder is not writable \(ENOENT\)$/),
  });
});

it("is of the very release that this locallm speaks to, for every platform", () => {
  for (const [platform, arch] of [
    ["linux", "x64"],
    ["win32", "x64"],
    ["darwin", "arm64"],
  ] as const)
    for (const { version } of enginePackages(platform, arch)) expect(version).toBe(release.packageVersion);
});
