// Prints the section of CHANGELOG.md for the version of package.json, without its heading. Fails if there is none.
//   node scripts/release-notes.mjs
import { readFileSync } from "node:fs";

const read = (path) => readFileSync(new URL(path, import.meta.url), "utf8");
const { version } = JSON.parse(read("../package.json"));
const section = read("../CHANGELOG.md")
  .split(/^## /m)
  .find((text) => text.split(/\s/)[0] === version);
if (section === undefined) {
  console.error(`CHANGELOG.md has no section "## ${version}". Write what is new before the release.`);
  process.exit(1);
}
console.log(section.slice(section.indexOf("\n")).trim());
