import { execFile } from "node:child_process";
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
import { promisify } from "node:util";
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
  if (run === undefined) await pack(root);
  else {
    const original = join(run, "packed-client");
    await packingAlone(() => packOnce(run, original));
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
 * Runs `change` while no other worker of this test run packs the client: npm builds a package in the repository before
 * it packs it, and a second build would remove files of the first. `change` must not block its thread for long, or
 * others take the lock for abandoned.
 */
export async function packingAlone(change: () => Promise<void>): Promise<void> {
  const run = process.env["DATAQ_TEST_RUN"];
  if (run === undefined) return change();
  const lock = join(run, "packing.lock");
  mkdirSync(lock, { recursive: true });
  const release = await lockfile.lock(lock, { retries: { retries: 2_400, factor: 1, minTimeout: 100 } });
  try {
    await change();
  } finally {
    await release();
  }
}

async function packOnce(run: string, original: string): Promise<void> {
  if (existsSync(original)) return;
  const made = mkdtempSync(join(run, "packing-"));
  await pack(made);
  renameSync(made, original);
}

async function pack(root: string): Promise<void> {
  const npm = promisify(execFile);
  const words = ["pack", "--silent", "--pack-destination", root];
  await npm("npm", words, { cwd: `${repository}dataq/client` });
  const folder = join(root, "project");
  mkdirSync(folder);
  writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }');
  const install = ["install", "--silent", "--offline", "--no-audit", "--no-fund", tarballIn(root)];
  await npm("npm", install, { cwd: folder });
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
