import { execFile, execFileSync, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, expect, it } from "vitest";
import { packingAlone } from "../dataq/client/test/packed-project.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const temporary = mkdtempSync(join(tmpdir(), "published-"));
afterAll(() => rmSync(temporary, { recursive: true }));

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  readonly license?: string;
  readonly files?: readonly string[];
  readonly scripts?: Readonly<Record<string, string>>;
  readonly bundleDependencies?: readonly string[];
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly workspaces?: readonly string[];
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")) as Manifest;
}

const workspaces = manifestOf(".").workspaces!.map((folder) => ({ folder, manifest: manifestOf(folder) }));
const published = workspaces.filter(({ manifest }) => manifest.private !== true);

it("publishes the products, the client and the contract, and each tarball can be installed alone", () => {
  expect(published.map(({ manifest }) => manifest.name).sort()).toEqual([
    "@dataq/contract",
    "dataq",
    "dataq-client",
    "locallm",
  ]);
  const versionOf = new Map(workspaces.map(({ manifest }) => [manifest.name, manifest.version]));
  for (const { manifest } of published) {
    expect(manifest).toMatchObject({ license: "MIT", files: expect.arrayContaining(["dist"]) });
    // `npm pack` must work directly after `npm start`, so it installs what it needs.
    expect(manifest.scripts?.["prepack"], manifest.name).toMatch(/^node \S*scripts\/install\.mjs && /);
    // A product bundles what it needs of this repository, so that its tarball can be installed alone.
    const own = Object.keys(manifest.dependencies ?? {}).filter((name) => versionOf.has(name));
    expect(manifest.bundleDependencies ?? [], manifest.name).toEqual(own);
    for (const name of own) expect(manifest.dependencies?.[name]).toBe(versionOf.get(name));
  }
});

/** Unpacks the tarball of a package in the way npm would install it. */
async function install(folder: string, name: string): Promise<void> {
  const args = ["pack", "--silent", "--pack-destination", temporary];
  await promisify(execFile)("npm", args, { cwd: join(root, folder) });
  const tarball = readdirSync(temporary).find((file) => file.endsWith(".tgz"))!;
  const target = join(temporary, "node_modules", name);
  mkdirSync(target, { recursive: true });
  execFileSync("tar", ["-xzf", join(temporary, tarball), "-C", target, "--strip-components=1"]);
  rmSync(join(temporary, tarball));
}

// locallm and the client have their own package tests, in which npm installs them. `npm run proof -- package`
// also installs these two from their tarballs with npm.
it("packs the service and the contract, and they run from what was packed", async () => {
  const declarationOf = (folder: string) => join(root, folder, "dist/index.d.ts");
  const service = join(temporary, "node_modules", "dataq");
  // The service bundles the client, whose declarations compile fastest. Other tests pack the client too.
  await packingAlone(async () => {
    rmSync(declarationOf("dataq/client"), { force: true });
    await install("dataq/contract", "@dataq/contract");
    const { ctimeMs } = statSync(declarationOf("dataq/contract"));
    await install("dataq/service", "dataq");
    expect(existsSync(declarationOf("dataq/client"))).toBe(true);
    // Compiling the declarations takes longer than all else, so it happens only if one is missing or old.
    expect(statSync(declarationOf("dataq/contract")).ctimeMs).toBe(ctimeMs);
  });
  for (const name of Object.keys(manifestOf("dataq/service").dependencies!)) {
    if (manifestOf("dataq/service").bundleDependencies?.includes(name)) continue;
    const target = join(temporary, "node_modules", name);
    const nested = join(root, "dataq/service/node_modules", name);
    mkdirSync(dirname(target), { recursive: true });
    symlinkSync(existsSync(nested) ? nested : join(root, "node_modules", name), target);
  }
  const files = readdirSync(service, { recursive: true, encoding: "utf8" });
  expect(files).toEqual(expect.arrayContaining(["LICENSE", "README.md", "console/index.html"]));
  expect(files.filter((file) => /\.test\.|^(?:src|test|proof)\b/.test(file))).toEqual([]);
  const run = (...args: string[]) =>
    execFileSync(process.execPath, args, { cwd: temporary, encoding: "utf8", env: { HOME: temporary } });
  expect(run(join(service, "dist/cli/dataq.js"), "serve", "--help")).toContain("start the service");
  expect(run(join(service, "dist/cli/dataq.js"), "--version")).toBe(
    `${manifestOf("dataq/service").version}\n`,
  );
  // npm's own packages of Node would put another `node` before the user's.
  const isOld = `Object.defineProperty(process, "versions", { value: { node: "20.1.0" } })`;
  const asOld = [
    `--import=data:text/javascript,${encodeURIComponent(isOld)}`,
    join(service, "dist/cli/dataq.js"),
  ];
  const { status, stderr } = spawnSync(process.execPath, asOld, { cwd: temporary, encoding: "utf8" });
  expect({ status, stderr }).toEqual({
    status: 1,
    stderr: expect.stringMatching(/^dataq needs Node 24\.12 or newer; this is 20\.1\.0\. (?!.*npm)/),
  });
  const program = 'import { routes } from "@dataq/contract/wire"; console.log(routes.query.path)';
  expect(run("--input-type=module", "--eval", program)).toBe("/v1/data/query\n");
});
