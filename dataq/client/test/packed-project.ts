import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const repository = fileURLToPath(new URL("../../../", import.meta.url));

/** The package as it would be published, in an empty project that has nothing but it. */
export interface PackedProject {
  readonly folder: string;
  readonly tarball: Uint8Array<ArrayBuffer>;
  remove(): void;
}

export function packProject(): PackedProject {
  const root = mkdtempSync(join(tmpdir(), "dataq-client-"));
  const pack = ["pack", "--silent", "--pack-destination", root];
  execFileSync("npm", pack, { cwd: join(runtimeClone(root), "dataq/client"), stdio: "pipe" });
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

/** What packing needs of the repository, with the packages alone that `npm start` installs. */
function runtimeClone(root: string): string {
  const clone = join(root, "clone");
  for (const path of ["scripts", "tsconfig.json", "dataq/client", "dataq/console/package.json"])
    cpSync(repository + path, join(clone, path), {
      recursive: true,
      filter: (source) => !/\/(?:dist|node_modules|test)$/.test(source),
    });
  writeFileSync(join(clone, "package.json"), '{ "private": true }');
  const lock = JSON.parse(readFileSync(`${repository}package-lock.json`, "utf8")) as {
    readonly packages: Readonly<Record<string, { readonly dev?: true; readonly link?: true }>>;
  };
  for (const [path, { dev, link }] of Object.entries(lock.packages)) {
    const isNested = path.lastIndexOf("node_modules/") > 0;
    if (!path.startsWith("node_modules/") || dev || link || isNested || !existsSync(repository + path))
      continue;
    mkdirSync(dirname(join(clone, path)), { recursive: true });
    symlinkSync(repository + path, join(clone, path));
  }
  return clone;
}

/** The TypeScript programs of a page of the documentation, as printed. */
export function programsOf(page: string): string[] {
  const text = readFileSync(repository + page, "utf8");
  return [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, program]) => program ?? "");
}
