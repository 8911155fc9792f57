import { spawn } from "node:child_process";
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { LocallmError } from "../wire/errors.ts";
import { librariesOf, packageFolder } from "./installed.ts";
import type { EnginePackage } from "./packages.ts";

/** Receives npm's output line by line. */
export type OnLine = (line: string) => void;

/**
 * Downloads an engine build into the existing folder `enginesFolder` and returns its library folder. Runs
 * npm, so that the user's registry, proxy and certificates apply. A lock file pins the package's digest. The
 * build is installed completely or not at all. Throws `source_tool_missing`, `file_unusable` or
 * `engine_not_fetched`.
 */
export async function installEngine(
  enginesFolder: string,
  build: EnginePackage,
  onLine: OnLine,
  npm: readonly string[] = npmCommand(),
): Promise<string> {
  const temporary = await newFolder(enginesFolder);
  try {
    await fetchPackage(temporary, build, onLine, npm);
    if (librariesOf(temporary, build) === null) throw notFetched(build, "the package holds no libraries");
    const folder = packageFolder(enginesFolder, build);
    await rm(folder, { recursive: true, force: true });
    await rename(temporary, folder);
    return librariesOf(folder, build) ?? folder;
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

/** A package of the npm registry. Null means that its digest is not known. */
export type NpmPackage = Pick<EnginePackage, "name" | "version" | "integrity">;

/** Has npm install a package into an empty folder. Throws `source_tool_missing` or `engine_not_fetched`. */
export async function fetchPackage(
  folder: string,
  build: NpmPackage,
  onLine: OnLine,
  npm: readonly string[] = npmCommand(),
): Promise<void> {
  await writeFile(join(folder, "package.json"), JSON.stringify(manifestOf(build)));
  if (build.integrity !== null)
    await writeFile(join(folder, "package-lock.json"), JSON.stringify(lockOf(build, build.integrity)));
  const verb = build.integrity === null ? "install" : "ci";
  const options = [verb, "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  await runNpm(npm, options, { folder, build, onLine });
}

/** Creates a folder on the same disk as its destination, so that it can be renamed. */
export async function newFolder(enginesFolder: string): Promise<string> {
  return await mkdtemp(join(enginesFolder, "new-")).catch((cause) => {
    throw unwritable(enginesFolder, cause);
  });
}

/** The error for a folder that cannot be written. */
export function unwritable(path: string, cause: NodeJS.ErrnoException): LocallmError {
  return new LocallmError(
    "file_unusable",
    { path, reason: `the folder is not writable (${cause.code})` },
    { cause },
  );
}

function manifestOf({ name, version }: NpmPackage) {
  return { name: "locallm-engine", version: "1.0.0", private: true, dependencies: { [name]: version } };
}

function lockOf(build: NpmPackage, integrity: string) {
  const { name: own, version, dependencies } = manifestOf(build);
  return {
    name: own,
    version,
    lockfileVersion: 3,
    requires: true,
    packages: {
      "": { name: own, version, dependencies },
      [`node_modules/${build.name}`]: { version: build.version, integrity },
    },
  };
}

/** Returns the command that runs npm. On Windows npm is a shell script. */
export function npmCommand(): readonly string[] {
  return process.platform === "win32" ? ["cmd.exe", "/d", "/s", "/c", "npm"] : ["npm"];
}

async function runNpm(
  [program = "npm", ...before]: readonly string[],
  options: readonly string[],
  { folder, build, onLine }: { folder: string; build: NpmPackage; onLine: OnLine },
): Promise<void> {
  const child = spawn(program, [...before, ...options], { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
  let last = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      for (const line of text.split("\n").filter((one) => one.trim() !== "")) {
        if (/^npm error /.test(line) && !/log of this run/.test(line) && last.length < 500)
          last += `${line.slice(10)} `;
        onLine(line);
      }
    });
  }
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("close", resolve);
    child.once("error", (cause: NodeJS.ErrnoException) =>
      reject(
        cause.code === "ENOENT"
          ? new LocallmError("source_tool_missing", { tool: "npm", source: build.name }, { cause })
          : cause,
      ),
    );
  });
  if (code !== 0) throw notFetched(build, last.trim() || `npm exited with code ${code}`);
}

function notFetched(build: NpmPackage, reason: string): LocallmError {
  return new LocallmError("engine_not_fetched", { name: `${build.name}@${build.version}`, reason });
}
