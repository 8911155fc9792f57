import { describe, expect, it } from "vitest";
import { fastTypes, multipliesBf16 } from "./fast-types.ts";

const machine = (arch: string, cpuinfo: string | null, platform: NodeJS.Platform = "linux") =>
  fastTypes({ platform, arch, readText: () => cpuinfo, list: () => [], exists: () => false });

describe("the types with fast kernels", () => {
  it("are those of the processor's instructions", () => {
    const haswell = machine("x64", "processor : 0\nflags\t\t: fpu f16c avx2 fma\nbugs : none\n");
    expect(haswell?.has("Q4_K")).toBe(true);
    for (const slow of ["Q4_1", "Q5_K", "Q6_K", "Q2_K", "IQ4_XS"]) expect(haswell?.has(slow)).toBe(false);
    const parts = "avx2 avx512f avx512cd avx512vl avx512dq avx512bw";
    expect(machine("x64", `flags : ${parts}\n`)?.has("Q2_K")).toBe(true);
    expect(machine("x64", `flags : ${parts.replace(" avx512vl", "")}\n`)?.has("Q2_K")).toBe(false);
    const arm = machine("arm64", "Features\t: fp asimd asimddp\n");
    expect([arm?.has("Q6_K"), arm?.has("Q4_1"), arm?.has("BF16")]).toEqual([true, false, false]);
  });

  it("are unknown where the processor does not tell, or has none", () => {
    expect(machine("x64", null)).toBeNull();
    expect(machine("x64", "flags : sse4_2 avx\n")).toBeNull();
    expect(machine("arm64", "Features : fp asimd\n")).toBeNull();
    expect(machine("x64", "flags : avx2\n", "win32")).toBeNull();
  });
});

it.each([
  ["linux", "x64", "flags\t\t: fpu avx512_bf16 avx2\n", true],
  ["linux", "x64", "flags\t\t: fpu avx512f avx512_bf16x\n", false],
  ["linux", "x64", null, false],
  ["linux", "arm64", "flags : avx512_bf16\n", false],
  ["win32", "x64", "flags : avx512_bf16\n", false],
] as const)("multiplies BF16 with instructions for it: %s %s %j", (platform, arch, cpuinfo, expected) => {
  const found = multipliesBf16({
    platform,
    arch,
    readText: () => cpuinfo,
    list: () => [],
    exists: () => false,
  });
  expect(found).toBe(expected);
});
