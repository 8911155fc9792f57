import type { Platform } from "./platforms.ts";

/** As Mach-O names processors. */
const processors: Readonly<Record<Platform["cpu"], number>> = { x64: 0x01000007, arm64: 0x0100000c };

/**
 * A program for macOS that holds one for each processor, without the others, as `lipo -thin` gives it. Each of them has a
 * signature of its own. Other files are returned as they are.
 */
export function sliceFor(cpu: Platform["cpu"], bytes: Buffer): Buffer {
  if (bytes.length < 8 || bytes.readUInt32BE(0) !== 0xcafebabe) return bytes;
  const count = bytes.readUInt32BE(4);
  for (let at = 8; at < 8 + 20 * count && at + 20 <= bytes.length; at += 20)
    if (bytes.readUInt32BE(at) === processors[cpu]) {
      const offset = bytes.readUInt32BE(at + 8);
      return bytes.subarray(offset, offset + bytes.readUInt32BE(at + 12));
    }
  return bytes;
}
