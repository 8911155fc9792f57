import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { fileURLToPath } from "node:url";
import { accountTypes } from "./account-types.ts";
import { operationMethods } from "./operation-methods.ts";
import { operationTypes } from "./operation-types.ts";

/**
 * `npm run generate --workspace dataq-client`: writes the files that the client takes from the contract, so that the
 * published package has plain types and no dependency. A test fails when a written file is out of date.
 */
const source = fileURLToPath(new URL("../src/", import.meta.url));

/** Returns the text of each file, by its path below `src/`. */
export function generate(): Map<string, string> {
  const files = new Map([
    ["operations.ts", operationTypes()],
    ["account.ts", accountTypes()],
    ["methods.ts", operationMethods()],
    ["sync/worker-source.ts", workerSource()],
  ]);
  for (const [path, text] of files) files.set(path, format(path, `${heading}\n\n${text}`));
  return files;
}

function format(path: string, text: string): string {
  const biome = fileURLToPath(new URL("../../../node_modules/@biomejs/biome/bin/biome", import.meta.url));
  return execFileSync(process.execPath, [biome, "check", "--write", `--stdin-file-path=${source}${path}`], {
    input: text,
    encoding: "utf8",
    stdio: ["pipe", "pipe", "ignore"],
  });
}

/** The worker as text, so that bundlers without support for workers include it. */
function workerSource(): string {
  const exchange = strip("exchange.ts").replaceAll("export ", "");
  const worker = strip("sync/worker.ts").replaceAll(/^import .*\.ts";$/gm, "");
  const text = `${exchange}\n${worker}`
    .replaceAll(/^\s*\n/gm, "")
    .replaceAll(/(?<=\S) +(?=[,;:)]|$)/gm, "")
    .replaceAll(/(?<=\S) {2,}/g, " ");
  return `export const workerSource: string = ${JSON.stringify(text.trim().split("\n"))}.join("\\n");\n`;
}

function strip(path: string): string {
  const text = readFileSync(source + path, "utf8").replaceAll(/\/\*\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
  return stripTypeScriptTypes(text);
}

const heading = "// Written by scripts/generate.ts; change the contract, or the script, and run it again.";

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [path, text] of generate()) writeFileSync(source + path, text);
}
