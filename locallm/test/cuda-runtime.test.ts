import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { release } from "../src/engine/libllama/release.ts";
import { type FileHost, fileHost } from "./file-host.ts";
import { publishWheel } from "./published-wheel.ts";
import { command } from "./server-process.ts";

const hasPip = works("python3", "-m", "pip", "--version");

describe.skipIf(!hasPip || process.platform !== "linux" || process.arch !== "x64")(
  "CUDA's runtime, by doctor --install cuda (needs pip and Linux on x64)",
  () => {
    const files = {
      runtime: { "libcudart.so.13": Buffer.alloc(100_000, "r"), "other.txt": Buffer.from("not wanted") },
      blas: { "libcublas.so.13": Buffer.from("blas"), "libcublasLt.so.13": Buffer.from("lt") },
    };
    let folder: string;
    let host: FileHost;
    let engines: string;
    let libraries: string;
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), "locallm-cuda-"));
      host = await fileHost();
    });
    afterAll(async () => {
      await host?.close();
      await rm(folder, { recursive: true, force: true });
    });
    beforeEach(async () => {
      host.files.clear();
      host.requests.length = 0;
      host.answer = null;
      engines = join(folder, "engines");
      const name = "linux-x64-cuda";
      libraries = join(
        engines,
        `${release.packageVersion}-cuda/node_modules/@node-llama-cpp/${name}/bins/${name}`,
      );
      await rm(engines, { recursive: true, force: true });
      await mkdir(libraries, { recursive: true });
      await writeFile(join(libraries, `libllama.cuda.v${release.version}.so`), "");
      await writeFile(join(libraries, "libggml-cuda.so"), "");
    });
    const install = () =>
      command(["doctor", "--install", "cuda"], {
        LOCALLM_ENGINES: engines,
        LOCALLM_MODELS: join(folder, "models"),
        PIP_INDEX_URL: `${host.url}/simple`,
        PIP_TRUSTED_HOST: "127.0.0.1",
      });
    const added = async () =>
      (await readdir(libraries)).filter((name) => !/^lib(?:ggml|llama)/.test(name)).sort();

    test("is put beside the build, verified and with progress", async () => {
      publishWheel(host, "nvidia_cuda_runtime", files.runtime, { version: "13.9.1" });
      publishWheel(host, "nvidia_cublas", files.blas, { version: "13.0.2" });
      const { out, err } = await install();
      expect(out).toMatch(/-cuda@\S+ is already in .*engines\nInstalled, but not usable: /);
      expect(err).toContain("downloading nvidia-cuda-runtime>=13,<14: 100 % of ");
      expect(await added()).toEqual(["libcublas.so.13", "libcublasLt.so.13", "libcudart.so.13"]);
      expect(await readFile(join(libraries, "libcudart.so.13"))).toEqual(files.runtime["libcudart.so.13"]);
      const before = host.requests.length;
      await install();
      expect(host.requests.length).toBe(before);
    });

    test("is not installed if it does not match the index's sha256", async () => {
      publishWheel(host, "nvidia_cuda_runtime", files.runtime, { version: "13.9.1" });
      const answer = host.answer;
      // pip gets the correct bytes, so that only our own check can fail.
      host.answer = (request, response, path) => {
        const bytes = host.files.get(path);
        if (request.headers["user-agent"] === "locallm" && bytes !== undefined)
          host.files.set(path, Buffer.alloc(bytes.length, "x"));
        return answer?.(request, response, path) ?? false;
      };
      expect((await install()).err).toMatch(/^Error: digest mismatch, /m);
      expect(await added()).toEqual([]);
    });

    test("is not installed from a package of another major version", async () => {
      publishWheel(host, "nvidia_cuda_runtime", files.runtime, { version: "12.9.0" });
      expect((await install()).err).toMatch(/^Error: pip \(nvidia-cuda-runtime>=13,<14\)/m);
      expect(await added()).toEqual([]);
    });

    test("is not installed if a library is missing from the package", async () => {
      publishWheel(host, "nvidia_cuda_runtime", { "other.txt": Buffer.from("x") }, { version: "13.9.1" });
      expect((await install()).err).toContain("its package has no libcudart.so.13");
      expect(await added()).toEqual([]);
    });
  },
);

function works(program: string, ...parameters: string[]): boolean {
  try {
    execFileSync(program, parameters, { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
