import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const repository = fileURLToPath(new URL("../", import.meta.url));

/** Packages as they would be published, installed in an otherwise empty project. */
export interface PackedProject {
  readonly folder: string;
  /** The files in each tarball, by the package's folder. */
  readonly files: ReadonlyMap<string, readonly string[]>;
  /**
   * Compiles these files of the project with TypeScript and returns the compiler's errors; an empty text if
   * there are none.
   */
  check(files: readonly string[]): string;
  remove(): void;
}

/**
 * Packs these packages and installs them in a new project, together with `besides` from the registry. Returns
 * null if npm cannot download a package.
 */
export function packProject(
  packages: readonly string[],
  besides: readonly string[] = [],
): PackedProject | null {
  const root = mkdtempSync(join(tmpdir(), "packed-"));
  const remove = () => rmSync(root, { recursive: true, force: true });
  const { tarballs, files } = pack(packages, root);
  const folder = join(root, "project");
  mkdirSync(folder);
  writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }');
  if (!npmInstall([...tarballs, ...besides], folder)) {
    remove();
    return null;
  }
  return { folder, files, check: (names) => typeCheck(folder, names), remove };
}

/** Packages installed with `npm install --global` under a separate prefix. */
export interface GlobalInstall {
  /** Its `bin` folder has the commands. */
  readonly prefix: string;
  readonly seconds: number;
  remove(): void;
}

/** Packs these packages and installs each from its tarball alone. Returns null if npm cannot download a package. */
export function installGlobally(packages: readonly string[]): GlobalInstall | null {
  const prefix = mkdtempSync(join(tmpdir(), "global-"));
  const remove = () => rmSync(prefix, { recursive: true, force: true });
  const { tarballs } = pack(packages, prefix);
  const began = performance.now();
  for (const tarball of tarballs) {
    if (npmInstall(["--global", "--prefix", prefix, tarball], prefix)) continue;
    remove();
    return null;
  }
  return { prefix, seconds: (performance.now() - began) / 1000, remove };
}

function pack(packages: readonly string[], destination: string) {
  const files = new Map<string, string[]>();
  const tarballs = packages.map((folder) => {
    const options = ["pack", "--json", "--silent", "--pack-destination", destination];
    const shown = execFileSync("npm", options, { cwd: join(repository, folder), encoding: "utf8" });
    const [packed] = Object.values(
      JSON.parse(shown.slice(shown.search(/^[[{]/m))) as Record<
        string,
        { filename: string; files: { path: string }[] }
      >,
    );
    files.set(
      folder,
      packed!.files.map(({ path }) => path),
    );
    return join(destination, packed!.filename);
  });
  return { tarballs, files };
}

/** Returns false if npm reaches no registry. */
function npmInstall(parameters: readonly string[], folder: string): boolean {
  const install = ["install", "--silent", "--prefer-offline", "--no-audit", "--no-fund", ...parameters];
  try {
    execFileSync("npm", install, { cwd: folder, stdio: "pipe", timeout: 180_000 });
    return true;
  } catch (error) {
    if (/E(AI_AGAIN|CONNREFUSED|NOTFOUND|TIMEDOUT)/.test(String((error as { stderr?: Buffer }).stderr)))
      return false;
    throw error;
  }
}

function typeCheck(folder: string, names: readonly string[]): string {
  const settings = {
    compilerOptions: {
      noEmit: true,
      strict: true,
      target: "es2024",
      module: "nodenext",
      types: ["node"],
      typeRoots: [join(repository, "node_modules/@types")],
    },
    files: names,
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(settings));
  try {
    execFileSync(join(repository, "node_modules/.bin/tsc"), ["-p", folder], {
      encoding: "utf8",
      stdio: "pipe",
    });
    return "";
  } catch (error) {
    return String((error as { stdout?: string }).stdout);
  }
}

/** Returns the TypeScript programs on a page of the documentation, unchanged. */
export function programsOf(page: string): string[] {
  const text = readFileSync(join(repository, page), "utf8");
  return [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, program]) => program ?? "");
}
