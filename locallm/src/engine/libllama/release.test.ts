import { expect, it } from "vitest";
import { processorPackage } from "./release.ts";

it.each([
  ["linux", "x64", "linux-x64"],
  ["linux", "arm64", "linux-arm64"],
  ["darwin", "arm64", "mac-arm64-metal"],
  ["darwin", "x64", "mac-x64"],
  ["win32", "x64", "win-x64"],
] as const)("names the package for %s %s as the registry does", (platform, arch, name) => {
  expect(processorPackage(platform, arch)).toBe(`@node-llama-cpp/${name}`);
});
