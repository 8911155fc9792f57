import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));

/** What the linter says of a file with this text at this place; nothing is written. */
function lint(path: string, text: string): string {
  const biome = `${root}node_modules/.bin/biome`;
  const { stdout, stderr } = spawnSync(biome, ["lint", `--stdin-file-path=${path}`], {
    cwd: root,
    input: text,
    encoding: "utf8",
  });
  return stdout + stderr;
}

describe("layers", () => {
  const broken = [
    ["locallm/src/wire/probe.ts", "../http/app.ts"],
    ["locallm/src/engine/probe.ts", "../scheduler/queue.ts"],
    ["locallm/src/library/probe.ts", "../config.ts"],
    ["dataq/service/src/ledger/probe.ts", "../query/pipeline.ts"],
    ["dataq/service/src/search/probe.ts", "../sources/source.ts"],
    ["dataq/service/src/http/probe.ts", "../cli/main.ts"],
  ] as const;
  it.each(broken)("%s may not import %s", (path, target) => {
    expect(lint(path, `import "${target}";\n`)).toContain("noRestrictedImports");
  });

  it("let an outer folder import an inner one", () => {
    const text = `import { errors } from "../wire/errors.ts";\nexport const codes = Object.keys(errors);\n`;
    expect(lint("locallm/src/http/probe.ts", text)).not.toContain("noRestrictedImports");
  });

  it("keep the environment to config.ts", () => {
    expect(lint("locallm/src/http/probe.ts", `export const home = process.env["HOME"];\n`)).toContain(
      "noProcessEnv",
    );
    expect(lint("locallm/src/config.ts", `export const home = process.env["HOME"];\n`)).not.toContain(
      "noProcessEnv",
    );
  });
});
