import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));

it.each([
  ["asks npm again without its cache if the cache is older than the lock file", "--prefer-offline", 0, 2],
  ["fails if npm fails without its cache too", "", 1, 2],
  ["asks npm once if its cache suffices", "--no-such-option", 0, 1],
] as const)("%s", (_, refused, status, runs) => {
  const folder = mkdtempSync(join(tmpdir(), "install-"));
  try {
    for (const name of [
      "scripts/install.mjs",
      "builds/stamp.mjs",
      "dataq/console/scripts/built.mjs",
      "site/scripts/built.mjs",
    ]) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      copyFileSync(join(root, name), join(folder, name));
    }
    mkdirSync(join(folder, "node_modules"));
    for (const name of ["package.json", "package-lock.json"]) writeFileSync(join(folder, name), "{}");
    writeFileSync(
      join(folder, "npm.mjs"),
      `import { appendFileSync } from "node:fs";
       const args = process.argv.slice(2).join(" ");
       appendFileSync("runs", args + "\\n");
       process.exit(args.includes("${refused}") ? 1 : 0);`,
    );
    const ended = spawnSync(process.execPath, ["scripts/install.mjs", "runtime"], {
      cwd: folder,
      env: { ...process.env, npm_execpath: join(folder, "npm.mjs") },
    });
    expect(ended.status, String(ended.stderr)).toBe(status);
    const asked = readFileSync(join(folder, "runs"), "utf8").trim().split("\n");
    expect(asked).toHaveLength(runs);
    expect(asked.map((options) => options.includes("--prefer-offline"))).toEqual(
      [true, false].slice(0, runs),
    );
    for (const options of asked) expect(options).toContain("--omit=dev --legacy-peer-deps");
  } finally {
    rmSync(folder, { recursive: true });
  }
});
