// Adds to package-lock.json the digests that it lacks, as far as the registry has these packages. npm writes an entry
// without a digest for a package of another system that its registry did not have, and never comes back to it.
//   node scripts/lock-digests.mjs
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const path = fileURLToPath(new URL("../package-lock.json", import.meta.url));
const lock = JSON.parse(readFileSync(path, "utf8"));
let missing = 0;
for (const [place, locked] of Object.entries(lock.packages)) {
  if (!place.includes("node_modules/") || locked.link || locked.integrity !== undefined) continue;
  const wanted = `${locked.name ?? place.split("node_modules/").at(-1)}@${locked.version}`;
  const integrity = askRegistry(wanted);
  if (integrity === null) {
    missing++;
    console.log(`${wanted}: not in this registry`);
  } else {
    locked.integrity = integrity;
    console.log(`${wanted}: ${integrity}`);
  }
}
writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`);
console.log(missing === 0 ? "Every entry has a digest." : `Without a digest: ${missing}.`);

function askRegistry(wanted) {
  try {
    const options = { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] };
    const said = execFileSync("npm", ["view", wanted, "dist.integrity"], options).trim();
    return /^sha512-[A-Za-z0-9+/]{86}==$/.test(said) ? said : null;
  } catch {
    return null;
  }
}
