import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const repository = fileURLToPath(new URL("../../../", import.meta.url));

/** The package as it is published, in a project that contains nothing else. */
export interface PackedProject {
  readonly folder: string;
  readonly tarball: Uint8Array<ArrayBuffer>;
  remove(): void;
}

export function packProject(): PackedProject {
  const root = mkdtempSync(join(tmpdir(), "dataq-client-"));
  const pack = ["pack", "--silent", "--pack-destination", root];
  execFileSync("npm", pack, { cwd: `${repository}dataq/client`, stdio: "pipe" });
  const path = join(root, readdirSync(root).find((name) => name.endsWith(".tgz"))!);
  const folder = join(root, "project");
  mkdirSync(folder);
  writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }');
  const install = ["install", "--silent", "--offline", "--no-audit", "--no-fund", path];
  execFileSync("npm", install, { cwd: folder, stdio: "pipe" });
  return {
    folder,
    tarball: new Uint8Array(readFileSync(path)),
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}

/** Returns the programs of a documentation page as printed. */
export function programsOf(page: string, language: "ts" | "python" = "ts"): string[] {
  const text = readFileSync(repository + page, "utf8");
  const blocks = text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "gm"));
  return [...blocks].map(([, program]) => program ?? "");
}
