import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { packProject, programsOf, repository } from "../../testing/packed-project.ts";
import { createSmallStore, type ModelStore } from "./model-store.ts";

const project = packProject(["locallm"]);
const { folder = "", files, check = () => "" } = project ?? {};

describe.skipIf(project === null)("the package in a clean project (needs npm's registry)", () => {
  let store: ModelStore;
  beforeAll(async () => {
    store = await createSmallStore();
    copyFileSync(join(repository, "examples/locallm/embedded.ts"), join(folder, "embedded.ts"));
  });
  afterAll(async () => {
    await store?.remove();
    project!.remove();
  });
  const env = () => ({ PATH: process.env["PATH"], HOME: folder, LOCALLM_MODELS: store.folder });

  it("contains only the program, its types, a README and the licence", () => {
    const packed = files!.get("locallm")!;
    expect(packed).toEqual(
      expect.arrayContaining(["LICENSE", "README.md", "dist/cli/locallm.js", "dist/index.d.ts"]),
    );
    expect(
      packed
        .filter(
          (path) => !/^node_modules\/@locallm\/(?:autostart|site-files|package-index|updates)\//.test(path),
        )
        .filter(
          (path) => !/^(?:dist\/(?:.*(?:\.js|\.d\.ts)|page\/[a-z]+\.(?:html|css|svg))|site\/.*)$/.test(path),
        )
        .sort(),
    ).toEqual(["LICENSE", "README.md", "package.json"]);
    expect(packed.filter((path) => /\.test\./.test(path))).toEqual([]);
  });

  it("runs its command", () => {
    const locallm = join(folder, "node_modules/.bin/locallm");
    expect(execFileSync(locallm, ["--version"], { env: env(), encoding: "utf8" })).toMatch(
      /^\d+\.\d+\.\d+\n$/,
    );
    const list = spawnSync(locallm, ["list"], {
      env: { ...env(), LOCALLM_HOST: "127.0.0.1:1" },
      encoding: "utf8",
    });
    expect([list.status, list.stderr]).toEqual([
      1,
      expect.stringMatching(/^Error: no locallm server is running/),
    ]);
  });

  it("names the required version if Node is too old", () => {
    const versions = '{ ...process.versions, node: "20.20.2" }';
    const pretend = `data:text/javascript,Object.defineProperty(process, "versions", { value: ${versions} })`;
    const main = join(folder, "node_modules/locallm/dist/cli/locallm.js");
    const { status, stderr } = spawnSync(process.execPath, ["--import", pretend, main, "--version"], {
      env: env(),
      encoding: "utf8",
    });
    expect([status, stderr]).toEqual([
      1,
      expect.stringMatching(/^locallm needs Node 24\.12 or newer; this is 20\.20\.2\. Install a newer Node /),
    ]);
  });

  it("reports a missing engine as a problem", () => {
    const engines = join(folder, "node_modules/@node-llama-cpp");
    renameSync(engines, `${engines}-away`);
    const { status, stdout } = spawnSync(join(folder, "node_modules/.bin/locallm"), ["doctor"], {
      env: { ...env(), LOCALLM_HOST: "127.0.0.1:1" },
      encoding: "utf8",
    });
    renameSync(`${engines}-away`, engines);
    expect(stdout).toMatch(/^engine +@node-llama-cpp\/\S+ is not installed; [\s\S]*^verdict +1 problem$/m);
    expect(status).toBe(1);
  });

  it("runs the example with a model", () => {
    const output = execFileSync(process.execPath, ["embedded.ts", "small:a", "once"], {
      cwd: folder,
      env: env(),
      encoding: "utf8",
    });
    expect(output).toMatch(/^once.+[\s\S]*\/v1 is for OpenAI's clients/);
    expect(output).toContain("invalid_setting: LOCALLM_HOST=");
  });

  it("type-checks the example and the programs in its documentation", () => {
    const programs = ["docs/locallm/embedding.md", "locallm/README.md"].flatMap(programsOf);
    const names = programs.map((program, index) => {
      writeFileSync(join(folder, `block-${index}.ts`), program);
      return `block-${index}.ts`;
    });
    expect(names.length).toBeGreaterThan(1);
    const wrong = "// @ts-expect-error: settings come from readConfig\nawait createServer({ host: 1 });\n";
    writeFileSync(join(folder, "wrong.ts"), `import { createServer } from "locallm";\n${wrong}`);
    expect(check(["embedded.ts", "wrong.ts", ...names])).toBe("");
  });
});
