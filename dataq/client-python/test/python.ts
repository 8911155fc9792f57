import { execFile, spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

export const run = promisify(execFile);
export const folder = fileURLToPath(new URL("..", import.meta.url));

/** The given modules that `python3` cannot import. CI installs them from .ci/pip.txt. */
export function missingModules(...modules: string[]): string[] {
  const probe = `import importlib.util\nfor name in ${JSON.stringify(modules)}: print(importlib.util.find_spec(name) is not None)`;
  const { stdout = "" } = spawnSync("python3", ["-c", probe], { encoding: "utf8" });
  const found = stdout.split("\n");
  return modules.filter((_, index) => found[index] !== "True");
}

interface Python {
  readonly path: string;
  /** The version, such as 3.9. */
  readonly version: string;
}

/** The oldest and the newest supported Python on this machine, from the PATH or from pyenv. */
export function pythons(): Python[] {
  const pyenv = join(process.env["PYENV_ROOT"] ?? join(homedir(), ".pyenv"), "versions");
  const kept = existsSync(pyenv) ? readdirSync(pyenv).map((name) => join(pyenv, name, "bin", "python3")) : [];
  const named = Array.from({ length: 12 }, (_, index) => `python3.${index + 9}`);
  const found = [...new Set([...kept, ...named, "python3"])]
    .map((path) => ({ path, version: versionOf(path) }))
    .filter(({ version }) => /^3\.(9|[1-9]\d)$/.test(version))
    .sort((one, other) => minor(one) - minor(other));
  return [found[0], found.findLast(({ version }) => version !== found[0]?.version)].filter(
    (python) => python !== undefined,
  );
}

function versionOf(path: string): string {
  const program = "import sys, venv; print('%d.%d' % sys.version_info[:2])";
  return (spawnSync(path, ["-c", program], { encoding: "utf8" }).stdout ?? "").trim();
}

function minor({ version }: Python): number {
  return Number(version.split(".")[1]);
}
