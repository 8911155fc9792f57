import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import koffi, { type LibraryHandle } from "koffi";
import "../call-stack.ts";
import { LocallmError } from "../../wire/errors.ts";
import { declareFunctions, type Functions } from "./functions.ts";
import { layout } from "./layout-0.5.0.ts";
import { packagePlatform, platformFolder } from "./release.ts";
import { newThreadpool, type Threadpool } from "./threadpool.ts";

/** llama.cpp's shared libraries, opened and checked. */
export interface Library extends Functions {
  readonly folder: string;
  readonly version: string;
  /** The library file that was chosen for this CPU. Null if the system does not report it. */
  readonly processorFile: string | null;
  /**
   * Returns null if the CPU's library does not support thread pools. `poll` is how long idle threads spin,
   * from 0 to 100.
   */
  newThreadpool(threads: number, poll: number): Threadpool | null;
}

/**
 * Opens the libraries in `folder` (by default those of the installed platform package) and compares their
 * version and the defaults of their structures with the layout in this program. Throws `engine_missing` or
 * `engine_mismatch`. `processorFile` is the CPU library that an earlier process chose. Without it, every CPU
 * library is opened and rated, which takes 11 ms.
 */
export function openLibrary(folder: string = platformFolder(), processorFile: string | null = null): Library {
  const llama = open(folder, "llama");
  const ggml = { registry: open(folder, "ggml"), base: open(folder, "ggml-base") };
  const functions = declareFunctions(llama, ggml, layout);
  const version = functions.llama_version();
  checkLayout(functions, version);
  if (processorFile === null || functions.ggml_backend_load(processorFile) === null)
    functions.ggml_backend_load_all_from_path(folder);
  functions.llama_backend_init();
  const usedFile = findProcessorFile();
  return {
    ...functions,
    folder,
    version,
    processorFile: usedFile,
    newThreadpool(threads, poll) {
      const params = { ...functions.defaultThreadpoolParams(threads), poll };
      return newThreadpool(ggml, layout, params, usedFile);
    },
  };
}

function findProcessorFile(): string | null {
  try {
    return /\/\S*ggml-cpu\S*\.so\S*/.exec(readFileSync("/proc/self/maps", "utf8"))?.[0] ?? null;
  } catch {
    return null;
  }
}

/** Compares the defaults. If members of a structure have moved, the values differ. Exported for the test. */
export function checkLayout(
  functions: Pick<
    Functions,
    | "llama_model_default_params"
    | "llama_context_default_params"
    | "llama_model_quantize_default_params"
    | "defaultThreadpoolParams"
  >,
  version: string,
): void {
  const found: Record<keyof typeof layout.defaults, Record<string, unknown>> = {
    modelParams: functions.llama_model_default_params(),
    contextParams: functions.llama_context_default_params(),
    quantizeParams: functions.llama_model_quantize_default_params(),
    threadpoolParams: functions.defaultThreadpoolParams(2),
  };
  const differences = Object.entries(layout.defaults).flatMap(([struct, expected]) =>
    Object.entries(expected)
      .filter(([member, value]) => found[struct as keyof typeof found][member] !== value)
      .map(([member, value]) => {
        const other = found[struct as keyof typeof found][member];
        return `${struct}.${member} is ${String(other)}, not ${String(value)}`;
      }),
  );
  const release = version.split("-")[0];
  if (release !== layout.version) differences.unshift(`version ${version}`);
  if (differences.length === 0) return;
  throw new LocallmError("engine_mismatch", {
    found: `llama.cpp ${version}`,
    wanted: `llama.cpp ${layout.version} of package version ${layout.packageVersion}`,
    reason: differences.slice(0, 3).join("; "),
  });
}

function open(folder: string, name: string): LibraryHandle {
  const path = libraryPath(folder, name);
  try {
    return koffi.load(path);
  } catch (cause) {
    throw new LocallmError(
      "engine_missing",
      { platform: packagePlatform(), reason: cause instanceof Error ? cause.message : String(cause) },
      { cause },
    );
  }
}

/** File names contain the release on some platforms, and the backend in GPU builds. */
function libraryPath(folder: string, name: string): string {
  const [prefix, suffix] = nameParts();
  const backends = gpuBackends.map((backend) => `.${backend}`);
  const names = ["", ...backends].flatMap((backend) => [
    `${prefix}${name}${backend}.v${layout.version}${suffix}`,
    `${prefix}${name}${backend}${suffix}`,
  ]);
  const found = names.find((file) => existsSync(join(folder, file)));
  if (found !== undefined) return join(folder, found);
  throw new LocallmError("engine_missing", {
    platform: packagePlatform(),
    reason: `neither ${names.slice(0, 2).join(" nor ")} is among ${listing(folder)}`,
  });
}

const gpuBackends = ["cuda", "vulkan", "metal"];

/** Returns the file of a build's GPU backend, or null for a CPU build. */
export function platformBackend(folder: string): string | null {
  // Backends are plug-ins, which end in .so on macOS, too.
  const [prefix, suffix] = process.platform === "win32" ? ["", ".dll"] : ["lib", ".so"];
  const files = gpuBackends.map((backend) => `${prefix}ggml-${backend}${suffix}`);
  return files.find((file) => existsSync(join(folder, file))) ?? null;
}

function nameParts(): readonly [prefix: string, suffix: string] {
  if (process.platform === "win32") return ["", ".dll"];
  return ["lib", process.platform === "darwin" ? ".dylib" : ".so"];
}

function listing(folder: string): string {
  try {
    return readdirSync(folder).slice(0, 8).join(", ") || "no files";
  } catch {
    return "no files: the folder does not exist";
  }
}
