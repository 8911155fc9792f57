import { mkdirSync, rmSync } from "node:fs";
import { buildVision } from "../../src/vision/build.ts";
import { visionFolder, visionPartFolder } from "../../src/vision/part.ts";

// A program of its own: `sanitizers.ts` starts it in a copy whose engine was built with sanitizers, and with a compiler
// that adds them. It builds the part that reads pictures into the folder of engines that it is given.
const [engines = ""] = process.argv.slice(2);
if (visionFolder(engines) === null) {
  const folder = visionPartFolder(engines);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  // One file after the other.
  await buildVision({ folder, availableBytes: 0, onLine: (line) => console.error(line) });
}
