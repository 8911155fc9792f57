// Copies files from outside a package into it for `npm pack`: the licence, the packages of this repository that it
// bundles (a tarball then installs without a registry that has them), the built documentation and, for the service, the
// built console. Run it
// in the package's folder, with `copy` before and `remove` after packing.
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = process.cwd();
const { bundleDependencies = [] } = manifestOf(folder);
const files = [[join(root, "LICENSE"), join(folder, "LICENSE")]];
const hasSite = ["locallm", "service"].includes(basename(folder));
if (hasSite) files.push([join(root, "site/dist"), join(folder, "site")]);
if (basename(folder) === "service") files.push([join(root, "dataq/console/dist"), join(folder, "console")]);
const bundled = manifestOf(root)
  .workspaces.map((name) => ({ from: join(root, name), name: manifestOf(join(root, name)).name }))
  .filter(({ name }) => bundleDependencies.includes(name))
  .map(({ from, name }) => ({ from, to: join(folder, "node_modules", name) }));

if (process.argv[2] === "copy") {
  if (hasSite) await import("../site/scripts/build.mjs");
  if (basename(folder) === "service") await import("../dataq/console/scripts/build.mjs");
  for (const { from, to } of bundled) {
    // npm treats a bundled package's dependencies as bundled, too, and installs empty folders for them. The package
    // that bundles it depends on all of them. There is no source beside it, for which programs of this repository ask
    // that run meanwhile.
    const { dependencies, devDependencies, scripts, ...manifest } = manifestOf(from);
    const whole = `${to}.new`;
    mkdirSync(whole, { recursive: true });
    cpSync(join(from, "dist"), join(whole, "dist"), { recursive: true });
    writeFileSync(
      join(whole, "package.json"),
      JSON.stringify(manifest, (key, value) => (key === "source" ? undefined : value), 2),
    );
    rmSync(to, { recursive: true, force: true });
    renameSync(whole, to);
  }
  for (const [from, to] of files) if (existsSync(from)) cpSync(from, to, { recursive: true });
} else {
  for (const [, to] of files) rmSync(to, { recursive: true, force: true });
  for (const { to } of bundled) {
    rmSync(to, { recursive: true, force: true });
    removeEmpty(dirname(to));
  }
}

function manifestOf(path) {
  return JSON.parse(readFileSync(join(path, "package.json"), "utf8"));
}

/** Removes the folder and those above it up to node_modules, if nothing else is in them. */
function removeEmpty(path) {
  try {
    rmdirSync(path);
  } catch {
    return;
  }
  if (basename(path) !== "node_modules") removeEmpty(dirname(path));
}
