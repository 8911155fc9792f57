import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { copyFile, mkdir, readdir, rm } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { basename, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { platformFolder } from "../engine/libllama/release.ts";
import { mtmdFile } from "../engine/libmtmd/file-name.ts";
import { npmCommand } from "../gpu/install.ts";
import { LocallmError } from "../wire/errors.ts";
import { sourcePackage } from "./part.ts";

const run = promisify(execFile);

/** A compiler takes up to this much memory for one file. */
const compilerBytes = 700 * 2 ** 20;
const headers = ["tools/mtmd", "include", "ggml/include"];
const compilers = ["c++", "g++", "clang++"];

export interface BuildRequest {
  /** An empty folder, where the library will be. */
  readonly folder: string;
  readonly availableBytes: number;
  readonly onLine: (line: string) => void;
  /** Whether the library shall also run on systems with an older C++ library than this one's. */
  readonly isPortable?: boolean;
}

/**
 * Builds libmtmd from the engine's source, for the engine that is installed here. The source comes from the npm registry
 * that this machine's npm uses. Throws `vision_not_built`.
 */
export async function buildVision({
  folder,
  availableBytes,
  onLine,
  isPortable,
}: BuildRequest): Promise<void> {
  if (process.platform === "win32") throw notBuilt("it is built on Linux and macOS only");
  const compiler = await firstThatRuns(compilers);
  if (compiler === null)
    throw notBuilt("no C++ compiler was found (Debian: apt install g++; macOS: xcode-select --install)");
  if ((await firstThatRuns(["git"])) === null) throw notBuilt("git was not found");
  const work = join(folder, "build");
  await mkdir(work);
  try {
    onLine(
      `downloading ${sourcePackage.name}@${sourcePackage.version}, which carries the engine's source (36 MB)`,
    );
    const source = await fetchSource(work);
    const files = await sourceFiles(source);
    const objects = await compileAll(files, { compiler, source, work, availableBytes, onLine });
    await link(objects, { compiler, folder, isPortable: isPortable ?? false });
    await copyFile(join(source, "LICENSE"), join(folder, "LICENSE"));
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Returns the folder with those files of the source that the library needs. */
async function fetchSource(work: string): Promise<string> {
  const { name, version, integrity, bundle, bundleSha256 } = sourcePackage;
  const [npm = "npm", ...before] = npmCommand();
  await tool(npm, [...before, "pack", "--silent", "--ignore-scripts", `${name}@${version}`], work);
  const archive = `${name}-${version}.tgz`;
  const found = `sha512-${await digest(join(work, archive), "sha512", "base64")}`;
  if (found !== integrity) throw notBuilt(`the package ${name}@${version} is not the one that was published`);
  await tool("tar", ["xzf", archive, bundle], work);
  if ((await digest(join(work, bundle), "sha256", "hex")) !== bundleSha256)
    throw notBuilt("the source is not the one that this locallm was made for");
  const source = join(work, "source");
  await tool("git", ["init", "--quiet", source], work);
  await tool("git", ["fetch", "--quiet", join(work, bundle), "HEAD"], source);
  await tool("git", ["checkout", "--quiet", "FETCH_HEAD", "--", ...headers, "LICENSE"], source);
  return source;
}

/** The library's files, the largest first, without those that read files of pictures and sound. */
async function sourceFiles(source: string): Promise<string[]> {
  const folder = "tools/mtmd";
  const own = ["clip", "mtmd", "mtmd-image", "mtmd-audio"].map((name) => `${folder}/${name}.cpp`);
  const models = (await readdir(join(source, folder, "models"))).filter((name) => name.endsWith(".cpp"));
  return [...own, ...models.map((name) => `${folder}/models/${name}`)];
}

interface Compiling {
  readonly compiler: string;
  readonly source: string;
  readonly work: string;
  readonly availableBytes: number;
  readonly onLine: (line: string) => void;
}

async function compileAll(
  files: readonly string[],
  { compiler, source, work, availableBytes, onLine }: Compiling,
): Promise<string[]> {
  const atOnce = Math.max(1, Math.min(availableParallelism(), Math.floor(availableBytes / compilerBytes)));
  const waiting = [...files];
  const objects: string[] = [];
  const options = ["-O2", "-fPIC", "-std=c++17", "-fvisibility=hidden"];
  const defines = ["LLAMA_BUILD", "LLAMA_SHARED", "GGML_SHARED", "GGML_BACKEND_SHARED"].map(
    (name) => `-D${name}`,
  );
  const includes = headers.map((folder) => `-I${folder}`);
  const worker = async () => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      const object = join(work, `${basename(file)}.o`);
      await tool(compiler, [...options, ...defines, ...includes, "-c", file, "-o", object], source).catch(
        (error: unknown) => {
          waiting.length = 0;
          throw error;
        },
      );
      objects.push(object);
      onLine(`compiled ${objects.length} of ${files.length}: ${basename(file)}`);
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: atOnce }, worker));
  for (const end of ends) if (end.status === "rejected") throw end.reason;
  return objects;
}

/** Links with the engine's own libraries, whose names the library remembers. They are open when it is opened. */
async function link(
  objects: readonly string[],
  { compiler, folder, isPortable }: { compiler: string; folder: string; isPortable: boolean },
): Promise<void> {
  const engine = platformFolder();
  const isMac = process.platform === "darwin";
  const pattern = /^lib(llama|ggml|ggml-base)(\.v[\d.]+\d)?\.(so|dylib)$/;
  const libraries = (await readdir(engine))
    .filter((name) => pattern.test(name))
    .map((name) => join(engine, name));
  const kind = isMac
    ? ["-dynamiclib", `-Wl,-rpath,${isPortable ? "@loader_path" : engine}`]
    : ["-shared", "-s"];
  const portable = isPortable && !isMac ? ["-static-libstdc++", "-static-libgcc"] : [];
  const output = ["-o", join(folder, mtmdFile())];
  await tool(compiler, [...kind, ...portable, ...output, ...objects, ...libraries], folder);
}

async function firstThatRuns(programs: readonly string[]): Promise<string | null> {
  for (const program of programs)
    if (
      await run(program, ["--version"]).then(
        () => true,
        () => false,
      )
    )
      return program;
  return null;
}

async function tool(program: string, given: readonly string[], cwd: string): Promise<void> {
  try {
    await run(program, given, { cwd, maxBuffer: 16 * 2 ** 20 });
  } catch (cause) {
    const { stderr = "", code } = cause as { stderr?: string; code?: string | number };
    const said = /^npm error (?!code )(.+)$/m.exec(stderr)?.[1] ?? /error: (.+)/.exec(stderr)?.[1];
    throw notBuilt(`${program} failed: ${(said ?? `exit code ${code}`).slice(0, 300)}`, cause);
  }
}

async function digest(path: string, kind: "sha256" | "sha512", form: "hex" | "base64"): Promise<string> {
  const hash = createHash(kind);
  await pipeline(createReadStream(path), hash);
  return hash.digest(form);
}

function notBuilt(reason: string, cause?: unknown): LocallmError {
  return new LocallmError("vision_not_built", { reason }, { cause });
}
