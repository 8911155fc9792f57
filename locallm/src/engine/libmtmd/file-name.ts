/** The file name of the library on a platform. */
export function mtmdFile(platform: NodeJS.Platform = process.platform): string {
  if (platform === "win32") return "mtmd.dll";
  return platform === "darwin" ? "libmtmd.dylib" : "libmtmd.so";
}
