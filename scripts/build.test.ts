import { execFileSync, spawnSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));

describe("the build that runs for users", () => {
  beforeAll(build);

  it.each([
    ["locallm", "dist/cli/locallm.js", "serve"],
    ["dataq/service", "dist/cli/dataq.js", "serve"],
  ])("%s runs from it, with nothing of its source", (folder, command, verb) => {
    const { stdout, stderr, status, error } = spawnSync(`${root}${folder}/${command}`, ["--help"], {
      encoding: "utf8",
    });
    expect({ status, stderr, error }).toEqual({ status: 0, stderr: "", error: undefined });
    expect(stdout).toContain(verb);
    const files = readdirSync(`${root}${folder}/dist`, { recursive: true, encoding: "utf8" });
    for (const file of files.filter((name) => name.endsWith(".js")))
      expect(readFileSync(`${root}${folder}/dist/${file}`, "utf8"), file).not.toMatch(/ from "\.[^"]*\.ts"/);
  });

  it("writes what is missing or old, and leaves the rest", () => {
    const version = `${root}locallm/dist/version.js`;
    const other = `${root}locallm/dist/wire/errors.js`;
    const before = statSync(other);
    rmSync(version);
    build();
    expect(readFileSync(version, "utf8")).toContain("export const version");
    expect(statSync(other).ctimeMs).toBe(before.ctimeMs);
  });
});

function build(): void {
  execFileSync(process.execPath, [`${root}scripts/build.mjs`]);
}
