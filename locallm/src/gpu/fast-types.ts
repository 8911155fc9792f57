import type { Machine } from "./hardware.ts";

/**
 * The types of weights that the engine multiplies with its fast kernels on this processor: ggml's `repack.cpp`, which
 * rearranges them at load, and `sgemm.cpp`. Other types take one row at a time. Null if the processor is not known.
 */
export function fastTypes({ platform, arch, readText }: Machine): ReadonlySet<string> | null {
  if (platform !== "linux") return null;
  const line = /^(?:flags|Features)\s*:(.*)$/m.exec(readText("/proc/cpuinfo") ?? "")?.[1];
  if (line === undefined) return null;
  const has = new Set(line.trim().split(/\s+/));
  if (arch === "x64") return has.has("avx2") ? new Set([...avx2, ...(hasAvx512(has) ? ["Q2_K"] : [])]) : null;
  return arch === "arm64" && has.has("asimddp") ? new Set(armDotProduct) : null;
}

/**
 * Whether the processor has instructions that multiply BF16, and the engine's build uses them. Embeddings of a model in
 * F16 took 1.5 times as long as of the same in BF16 there. Elsewhere BF16 is not faster than F16.
 */
export function multipliesBf16({ platform, arch, readText }: Machine): boolean {
  if (platform !== "linux" || arch !== "x64") return false;
  const line = /^flags\s*:(.*)$/m.exec(readText("/proc/cpuinfo") ?? "")?.[1] ?? "";
  return line.trim().split(/\s+/).includes("avx512_bf16");
}

const avx2 = ["F32", "F16", "BF16", "Q8_0", "Q5_0", "Q4_0", "Q4_K", "IQ4_NL", "MXFP4"];
const armDotProduct = ["F32", "F16", "Q8_0", "Q6_K", "Q5_K", "Q4_0", "Q4_K", "IQ4_NL", "MXFP4", "Q1_0"];

/** All parts that ggml's build for AVX-512 needs. */
function hasAvx512(has: ReadonlySet<string>): boolean {
  return ["avx512f", "avx512cd", "avx512vl", "avx512dq", "avx512bw"].every((part) => has.has(part));
}
