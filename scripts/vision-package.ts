import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { freemem } from "node:os";
import { join, resolve } from "node:path";
import { release } from "../locallm/src/engine/libllama/release.ts";
import { mtmdFile } from "../locallm/src/engine/libmtmd/file-name.ts";
import { buildVision } from "../locallm/src/vision/build.ts";
import { visionPart } from "../locallm/src/vision/part.ts";

/**
 * `node -C source scripts/vision-package.ts FOLDER` builds the part that reads pictures for the system that it runs on,
 * and makes FOLDER a package that `npm publish` takes. A release runs it once on each system. When it is published, its
 * digest belongs into `locallm/src/vision/part.ts`.
 */
const [given] = process.argv.slice(2);
if (given === undefined) {
  console.error("Usage: node -C source scripts/vision-package.ts FOLDER");
  process.exit(2);
}
const folder = resolve(given);
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
await buildVision({
  folder,
  availableBytes: freemem(),
  onLine: (line) => console.error(line),
  isPortable: true,
});
const { name, version } = visionPart;
const manifest = {
  name,
  version,
  description: `libmtmd of llama.cpp ${release.version}, with which locallm reads pictures`,
  license: "MIT",
  os: [process.platform],
  cpu: [process.arch],
  files: [mtmdFile(), "LICENSE"],
};
writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
console.log(folder);
