import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/**
 * Runs the proofs at full size. `npm run proof` runs all, `npm run proof -- <part> …` runs some, `-- --list`
 * prints their names, and `npm run proof -- <part> --option …` passes options to one. Each part prints its
 * table. A run of all parts continues where an earlier run at the same commit stopped; a part that is named
 * always runs again. docs/proof.md leads to the tables.
 */
interface Proof {
  readonly title: string;
  /**
   * `folder` belongs to this part and this commit. A long part saves its progress there and continues from
   * it.
   */
  run(print: (line: string) => void, folder: string, args: readonly string[]): Promise<void>;
}

const root = fileURLToPath(new URL("../", import.meta.url));
const parts = findParts();

const args = process.argv.slice(2);
const place = args.findIndex((arg) => arg.startsWith("-"));
const positionals = place === -1 ? args : args.slice(0, place);
const options = place === -1 ? [] : args.slice(place);
if (options[0] === "--list") {
  for (const name of parts.keys()) console.log(name);
  process.exit(0);
}
const unknown = positionals.filter((name) => !parts.has(name));
if (unknown.length > 0) {
  console.error(`No proof is called ${unknown.join(", ")}. Available: ${[...parts.keys()].join(", ")}.`);
  process.exit(2);
}
if (options.length > 0 && positionals.length !== 1) {
  console.error(`Options such as ${options[0]} need exactly one proof. Give its name before the option.`);
  process.exit(2);
}

const commit = execFileSync("git", ["rev-parse", "--short", "HEAD"], { cwd: root, encoding: "utf8" }).trim();
const results = `${root}bench/results/${commit}`;
mkdirSync(results, { recursive: true });

for (const [name, path] of parts) {
  if (positionals.length > 0 && !positionals.includes(name)) continue;
  const kept = positionals.length > 0 ? undefined : readResult(`${results}/${name}.md`);
  if (kept !== undefined) {
    console.log(kept);
    continue;
  }
  await prove(name, path);
}

function findParts(): Map<string, string> {
  const found = new Map([
    ["search", `${root}fuzz/search.ts`],
    ["mutations", `${root}fuzz/mutations.ts`],
    ["day", `${root}scripts/day/proof.ts`],
    ["release", `${root}scripts/release/proof.ts`],
  ]);
  for (const folder of ["locallm/proof", "dataq/service/proof"]) {
    const names = readdirSync(`${root}${folder}`, { withFileTypes: true }).filter((entry) => entry.isFile());
    for (const { name } of names)
      if (name.endsWith(".ts")) found.set(name.slice(0, -3), `${root}${folder}/${name}`);
  }
  return found;
}

async function prove(name: string, path: string): Promise<void> {
  const lines: string[] = [];
  const print = (line: string): void => {
    lines.push(line);
    console.log(line);
  };
  try {
    const proof = (await import(path)) as Proof;
    print(`\n## ${proof.title}\n\n\`npm run proof -- ${name}\`, at ${commit}\n`);
    mkdirSync(`${results}/${name}`, { recursive: true });
    await proof.run(print, `${results}/${name}`, options);
    if (options.length === 0) writeFileSync(`${results}/${name}.md`, `${lines.join("\n")}\n`);
  } catch (error) {
    console.error(`FAILED: ${name}`, error);
    process.exitCode = 1;
  }
}

function readResult(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
