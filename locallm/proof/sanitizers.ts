import { execFile, execFileSync, spawn } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { packagePlatform, platformFolder, release } from "../src/engine/libllama/release.ts";

export const title =
  "The engine under sanitizers: cancelled answers, hostile files, every kind of model, pictures";

const root = fileURLToPath(new URL("../../", import.meta.url));
const tool = promisify(execFile);

/**
 * Builds the engine's source, which npm's package of the binding carries, with ASan and UBSan, into `--build` (by default a
 * folder of this proof; one file after the other takes about an hour of one processor), and runs `sanitizers/storms.ts`
 * with it in a copy of this program. Needs git, cmake, ninja and g++ on Linux. `--answers` (5,000) is the number of
 * requests, many of which are cancelled, and `--files` (1,000) that of hostile model files. Then libmtmd is built in the same
 * way, and `sanitizers/pictures.ts` loads `--projectors` (200) with damaged headers that pass the gate, and shows
 * `--pictures` (400). `--only storms` and `--only pictures` run one of the two.
 */
export async function run(
  print: (line: string) => void,
  folder: string,
  args: readonly string[],
): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      build: { type: "string", default: join(folder, "build") },
      answers: { type: "string", default: "5000" },
      files: { type: "string", default: "1000" },
      projectors: { type: "string", default: "200" },
      pictures: { type: "string", default: "400" },
      only: { type: "string" },
    },
  });
  const libraries = await build(values.build);
  const copy = mkdtempSync(join(tmpdir(), "sanitizers-"));
  try {
    makeCopy(copy, libraries);
    const reports = join(copy, "reports");
    mkdirSync(reports);
    print("| what | count |");
    print("| --- | --: |");
    const under = { copy, reports, print };
    const codes: (number | null)[] = [];
    if (values.only !== "pictures")
      codes.push(await sanitized(under, "storms.ts", [values.answers, values.files]));
    if (values.only !== "storms") {
      const engines = join(values.build, "engines");
      await buildVisionPart(copy, engines);
      codes.push(await sanitized(under, "pictures.ts", [engines, values.projectors, values.pictures]));
    }
    const texts = readdirSync(reports).map((name) => readFileSync(join(reports, name), "utf8"));
    const found = new Set(
      texts.flatMap((text) => text.match(/^.*(?:runtime error|ERROR: \w+Sanitizer).*$/gm) ?? []),
    );
    print(`| different reports of the sanitizers | ${found.size} |`);
    for (const line of found) print(`\n- ${line}`);
    if (found.size > 0) console.log(texts.join("\n").slice(0, 20_000));
    if (codes.some((code) => code !== 0) || found.size > 0)
      throw new Error(`the programs ended with ${codes.join(" and ")}, ${found.size} reports`);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

/** Returns the folder with the libraries. A finished build is used as it is, and one that was interrupted is continued. */
async function build(folder: string): Promise<string> {
  if (existsSync(join(folder, "objects/bin/libllama.so"))) return join(folder, "objects/bin");
  mkdirSync(folder, { recursive: true });
  const source = join(folder, "source");
  const objects = join(folder, "objects");
  if (!existsSync(source)) {
    await tool("npm", ["pack", "--silent", `node-llama-cpp@${release.packageVersion}`], { cwd: folder });
    await tool(
      "tar",
      ["xzf", `node-llama-cpp-${release.packageVersion}.tgz`, "package/llama/gitRelease.bundle"],
      {
        cwd: folder,
      },
    );
    await tool("git", ["clone", "--quiet", "package/llama/gitRelease.bundle", "source"], { cwd: folder });
  }
  const on = [
    "LLAMA_SANITIZE_ADDRESS",
    "LLAMA_SANITIZE_UNDEFINED",
    "GGML_SANITIZE_ADDRESS",
    "GGML_SANITIZE_UNDEFINED",
  ];
  on.push(
    "BUILD_SHARED_LIBS",
    "GGML_BACKEND_DL",
    "GGML_AVX",
    "GGML_AVX2",
    "GGML_FMA",
    "GGML_F16C",
    "GGML_BMI2",
  );
  const off = ["TESTS", "EXAMPLES", "SERVER", "TOOLS", "COMMON"].map((part) => `LLAMA_BUILD_${part}`);
  off.push("GGML_NATIVE", "GGML_OPENMP", "LLAMA_CURL");
  const flags = ["C", "CXX"].map((language) => `CMAKE_${language}_FLAGS_RELWITHDEBINFO=-O1 -g1`);
  const defines = ["CMAKE_BUILD_TYPE=RelWithDebInfo", ...flags, ...on.map((name) => `${name}=ON`)];
  defines.push(...off.map((name) => `${name}=OFF`));
  await tool("cmake", ["-G", "Ninja", "-S", source, "-B", objects, ...defines.map((one) => `-D${one}`)]);
  await tool("ninja", ["-C", objects, "-j1", "llama", "ggml-cpu"], { maxBuffer: 1 << 28 });
  return join(objects, "bin");
}

/** This program with its dependencies as links, except for the engine's libraries. */
function makeCopy(copy: string, libraries: string): void {
  for (const name of ["locallm", "scripts", "testing", "fuzz"])
    cpSync(join(root, name), join(copy, name), {
      recursive: true,
      filter: (path) => !/\/(node_modules|dist|corpus)$/.test(path),
    });
  const modules = join(copy, "node_modules");
  mkdirSync(join(modules, "@node-llama-cpp"), { recursive: true });
  for (const name of readdirSync(join(root, "node_modules")))
    if (name !== "@node-llama-cpp" && !name.startsWith("."))
      symlinkSync(join(root, "node_modules", name), join(modules, name));
  const own = join(root, "locallm/node_modules");
  if (existsSync(own)) symlinkSync(own, join(copy, "locallm/node_modules"));
  const platform = packagePlatform();
  const engine = join(modules, "@node-llama-cpp", platform);
  const original = join(platformFolder(), "../..");
  cpSync(original, engine, { recursive: true, filter: (path) => !/\/(bins|node_modules)$/.test(path) });
  const bins = join(engine, "bins", platform);
  mkdirSync(bins, { recursive: true });
  for (const name of ["llama", "ggml", "ggml-base", "ggml-cpu"])
    symlinkSync(join(libraries, `lib${name}.so`), join(bins, `lib${name}.so`));
}

/**
 * koffi calls the engine on a stack of its own, which ASan does not know. An exception there leaves the marks of the frames
 * that it passed, and ASan reports the next use of that stack (google/sanitizers, issue 189). So the marks are removed.
 */
const ofOwnStacks = `
void __asan_unpoison_memory_region(void const volatile *, unsigned long);
void __asan_handle_no_return(void) { char here; __asan_unpoison_memory_region(&here, 1 << 20); }
`;

/** Builds libmtmd as `locallm doctor --install vision` does, with a compiler that adds the sanitizers. */
async function buildVisionPart(copy: string, engines: string): Promise<void> {
  const folder = join(copy, "compilers");
  mkdirSync(folder);
  const words = 'for word do shift; case $word in -O2|-s) ;; *) set -- "$@" "$word" ;; esac; done';
  const real = execFileSync("sh", ["-c", "command -v g++"], { encoding: "utf8" }).trim();
  const compiler = `#!/bin/sh\n${words}\nexec ${real} -O1 -g1 -fsanitize=address,undefined "$@"\n`;
  writeFileSync(join(folder, "c++"), compiler, { mode: 0o755 });
  await tool(process.execPath, ["-C", "source", join(copy, "locallm/proof/sanitizers/vision.ts"), engines], {
    cwd: copy,
    env: { ...process.env, PATH: `${folder}:${process.env["PATH"]}` },
    maxBuffer: 1 << 28,
  });
}

interface Under {
  readonly copy: string;
  readonly reports: string;
  readonly print: (line: string) => void;
}

/** Runs a program of `sanitizers/` in the copy. Resolves with the exit code. */
function sanitized(
  { copy, reports, print }: Under,
  program: string,
  words: readonly string[],
): Promise<number | null> {
  const asan = execFileSync("g++", ["-print-file-name=libasan.so"], { encoding: "utf8" }).trim();
  const ownStack = join(copy, "own-stack.so");
  execFileSync("gcc", ["-shared", "-fPIC", "-O1", "-x", "c", "-", "-o", ownStack], { input: ofOwnStacks });
  const child = spawn(
    process.execPath,
    ["-C", "source", join(copy, "locallm/proof/sanitizers", program), ...words],
    {
      cwd: copy,
      stdio: ["ignore", "pipe", "inherit"],
      env: {
        ...process.env,
        LD_PRELOAD: `${ownStack}:${asan}`,
        // Node frees little at its end. `cleared-memory.ts` compares whole mappings with zeros, also between allocations.
        ASAN_OPTIONS: `detect_leaks=0:detect_odr_violation=0:intercept_memcmp=0:verify_asan_link_order=0:log_path=${reports}/report`,
        UBSAN_OPTIONS: `print_stacktrace=1:log_path=${reports}/report`,
      },
    },
  );
  createInterface({ input: child.stdout }).on("line", print);
  return new Promise((resolve) => child.once("close", resolve));
}
