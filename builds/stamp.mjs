// Tells whether a folder contains a build of the current sources. This file has no dependencies, because the installer
// runs it before it installs any.
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";

const name = ".built";

/** Whether the build in `folder` was made of these files. Their names count below `root`. */
export function isBuilt(folder, root, files) {
  const path = join(folder, name);
  return existsSync(path) && readFileSync(path, "utf8") === fingerprint(root, files);
}

/** Call it when the build is complete. */
export function markBuilt(folder, root, files) {
  writeFileSync(join(folder, name), fingerprint(root, files));
}

function fingerprint(root, files) {
  const hash = createHash("sha256");
  for (const file of files)
    hash.update(relative(root, file)).update("\0").update(readFileSync(file)).update("\0");
  return hash.digest("hex");
}

/** All files in the folder and below it, in the order of their paths. */
export function filesBelow(folder) {
  return readdirSync(folder)
    .flatMap((entry) => {
      const path = join(folder, entry);
      return statSync(path).isDirectory() ? filesBelow(path) : [path];
    })
    .sort();
}
