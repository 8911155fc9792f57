import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import lockfile from "proper-lockfile";

export const repository = fileURLToPath(new URL("../../../", import.meta.url));

/** The package as it is published, in a project that contains nothing else. */
export interface PackedProject {
  readonly folder: string;
  readonly tarball: Uint8Array<ArrayBuffer>;
  remove(): void;
}

/** Packs and installs once in a test run; each caller gets a copy. */
export async function packProject(): Promise<PackedProject> {
  const run = process.env["DATAQ_TEST_RUN"];
  const root = mkdtempSync(join(tmpdir(), "dataq-client-"));
  const original = run === undefined ? root : join(run, "packed-client");
  if (run === undefined) pack(root);
  else {
    await packOnce(run, original);
    cpSync(original, root, { recursive: true, verbatimSymlinks: true });
  }
  const path = tarballIn(root);
  return {
    folder: join(root, "project"),
    tarball: new Uint8Array(readFileSync(path)),
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}

/**
 * If two workers need it at once, one packs and the other waits: npm builds the package in the repository first, and two
 * builds would remove each other's files.
 */
async function packOnce(run: string, original: string): Promise<void> {
  const lock = `${original}.lock`;
  mkdirSync(lock, { recursive: true });
  const release = await lockfile.lock(lock, { retries: { retries: 1_200, factor: 1, minTimeout: 100 } });
  try {
    if (existsSync(original)) return;
    const made = mkdtempSync(join(run, "packing-"));
    pack(made);
    renameSync(made, original);
  } finally {
    await release();
  }
}

function pack(root: string): void {
  const words = ["pack", "--silent", "--pack-destination", root];
  execFileSync("npm", words, { cwd: `${repository}dataq/client`, stdio: "pipe" });
  const folder = join(root, "project");
  mkdirSync(folder);
  writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }');
  const install = ["install", "--silent", "--offline", "--no-audit", "--no-fund", tarballIn(root)];
  execFileSync("npm", install, { cwd: folder, stdio: "pipe" });
}

function tarballIn(root: string): string {
  return join(root, readdirSync(root).find((name) => name.endsWith(".tgz"))!);
}

/** Returns the programs of a documentation page as printed. */
export function programsOf(page: string, language: "ts" | "python" = "ts"): string[] {
  const text = readFileSync(repository + page, "utf8");
  const blocks = text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "gm"));
  return [...blocks].map(([, program]) => program ?? "");
}
