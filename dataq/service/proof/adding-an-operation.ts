import { execFile, execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const execute = promisify(execFile);
const root = fileURLToPath(new URL("../../../", import.meta.url));

export const title = "dataq: the page on adding an operation holds";

/** Commands that run in the copy and must succeed. The tests find the new operation in the catalogue. */
const steps = [
  ["npm", "run", "format"],
  ["npm", "run", "generate"],
  ["npx", "biome", "check", "--error-on-warnings", "."],
  ["npx", "tsc"],
  ["npx", "knip"],
  // The service reads its documentation from what the build writes.
  ["node", "scripts/build.mjs"],
  ["npx", "vitest", "run", "dataq/contract", "dataq/client/src", "scripts/operations-doc.test.ts"],
  ["npx", "vitest", "run", "dataq/service/test/operations.test.ts", "dataq/service/test/openapi.test.ts"],
] as const;

/** Applies docs/dataq/adding-an-operation.md to a copy of the last commit. */
export async function run(print: (line: string) => void): Promise<void> {
  const copy = mkdtempSync(join(tmpdir(), "dataq-copy-"));
  const { workspaces } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    workspaces: string[];
  };
  try {
    const archive = execFileSync("git", ["archive", "HEAD"], { cwd: root, maxBuffer: 1 << 29 });
    execFileSync("tar", ["-x", "-C", copy], { input: archive });
    for (const place of ["", ...workspaces].map((each) => join(each, "node_modules")))
      if (existsSync(join(root, place))) copyFolder(join(root, place), join(copy, place));
    // The checks ask git which files are ignored.
    execFileSync("git", ["init", "-q"], { cwd: copy });
    const blocks = blocksOf(readFileSync(join(copy, "docs/dataq/adding-an-operation.md"), "utf8"));
    for (const block of blocks) apply(copy, block);
    print(`${blocks.length} blocks of the page applied.\n`);
    print("| step | seconds |");
    print("| --- | ---: |");
    for (const [command, ...args] of steps) {
      const begun = performance.now();
      await execute(command, args, { cwd: copy, maxBuffer: 1 << 26 }).catch((error) => {
        throw new Error(`${args.join(" ")}:\n${(error.stdout + error.stderr).slice(-4_000)}`);
      });
      print(`| ${command} ${args.join(" ")} | ${((performance.now() - begun) / 1000).toFixed(0)} |`);
    }
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

/** Copies a folder, with links if both folders are on one disk. */
function copyFolder(from: string, to: string): void {
  try {
    execFileSync("cp", ["-a", "--link", from, to], { stdio: "ignore" });
  } catch {
    rmSync(to, { recursive: true, force: true });
    execFileSync("cp", ["-a", from, to]);
  }
}

interface Block {
  readonly path: string;
  /** The line after which the block is inserted; undefined for a new file. */
  readonly after: string | undefined;
  readonly lines: readonly string[];
}

function blocksOf(page: string): Block[] {
  const fence = /^( *)```ts\n([\s\S]*?)^ *```$/gm;
  return [...page.matchAll(fence)].map(([, indent = "", text = ""]) => {
    const [head = "", ...lines] = text
      .split("\n")
      .map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line));
    const found = /^\/\/ ([\w./-]+\.ts)(?:, after "(.*)")?$/.exec(head);
    if (found === null) throw new Error(`The block's first line names no file: ${head}`);
    return { path: found[1] as string, after: found[2], lines };
  });
}

function apply(copy: string, { path, after, lines }: Block): void {
  const file = join(copy, path);
  if (after === undefined) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, lines.join("\n"));
    return;
  }
  const there = readFileSync(file, "utf8").split("\n");
  const place = there.indexOf(after);
  if (place === -1) throw new Error(`${path} has no line ${after}`);
  const isImport = (line: string) => line.startsWith("import ");
  const added = lines.filter((line) => !isImport(line) && line !== "");
  there.splice(place + 1, 0, ...added);
  writeFileSync(file, [...lines.filter(isImport), ...there].join("\n"));
}
