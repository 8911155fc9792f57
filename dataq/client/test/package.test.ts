import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { publint } from "publint";
import { rolldown } from "rolldown";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { operationNames } from "../src/index.ts";
import { checkPackage, createPackageFromTarballData } from "./declarations-check.ts";
import { type PackedProject, packProject, programsOf, repository } from "./packed-project.ts";

const tsc = `${repository}node_modules/.bin/tsc`;
let packed: PackedProject;
let project: string;
let tarball: Uint8Array<ArrayBuffer>;

beforeAll(async () => {
  packed = await packProject();
  project = packed.folder;
  tarball = packed.tarball;
});
afterAll(() => packed?.remove());

const pages = ["docs/dataq/client.md", "docs/dataq/client.zh.md", "dataq/client/README.md"];
/** Lines that use the client, with what the compiler says about them. */
const lines: readonly (readonly [line: string, message: string | null])[] = [
  ['client.legal_laws({ query: "x" }).then(({ data }) => data[0]?.article_no.length);', null],
  ['client.legal_lawz({ query: "x" });', "'legal_lawz' does not exist"],
  ['client.legal_laws({ quary: "x" });', "'quary' does not exist"],
  ['client.paginate("legal_lawz", { query: "x" });', '"legal_lawz"'],
  ["client.legal_laws({ query: 5 });", "'number' is not assignable"],
];

describe("the package", () => {
  test("installs without dependencies", () => {
    expect(readdirSync(join(project, "node_modules")).filter((name) => !name.startsWith("."))).toEqual([
      "dataq-client",
    ]);
    const manifest = JSON.parse(
      readFileSync(join(project, "node_modules/dataq-client/package.json"), "utf8"),
    ) as Record<string, unknown>;
    expect(manifest["dependencies"]).toBeUndefined();
    expect(manifest["version"]).toBe("0.1.0");
  });

  test("passes publint", async () => {
    const { messages } = await publint({ strict: true, pack: { tarball: tarball.buffer } });
    expect(messages).toEqual([]);
  });

  test("passes are-the-types-wrong", async () => {
    const result = await checkPackage(createPackageFromTarballData(tarball));
    if (result.types === false) throw new Error("The package has no types.");
    // The package is an ES module only, so the result of `require` on an old Node does not count (profile esm-only).
    expect(result.problems.filter(({ kind }) => kind !== "CJSResolvesToESM")).toEqual([]);
  });

  test("loads by import and by require", () => {
    const names = "DataQuery DataQuerySync DevnorsDataError RateLimitError".split(" ");
    const shown = names.map((name) => `typeof m.${name}`).join(" + ' ' + ");
    for (const program of [
      `import * as m from "dataq-client"; console.log(${shown})`,
      `const m = require("dataq-client"); console.log(${shown})`,
    ]) {
      const type = program.startsWith("import") ? "module" : "commonjs";
      const output = execFileSync(process.execPath, [`--input-type=${type}`, "--eval", program], {
        cwd: project,
        encoding: "utf8",
      });
      expect(output.trim()).toBe("function function function function");
    }
  });

  test("compiles valid programs, also those of its documentation, and rejects invalid ones", () => {
    const programs = new Map<string, string>();
    for (const [index, [line]] of lines.entries())
      programs.set(
        `line-${index}.ts`,
        `import { DataQuery } from "dataq-client";\nconst client = new DataQuery();\n${line}\n`,
      );
    for (const [index, page] of pages.entries()) {
      const printed = programsOf(page);
      expect(printed.length, page).toBeGreaterThan(0);
      for (const [place, program] of printed.entries()) programs.set(`page-${index}-${place}.ts`, program);
    }
    for (const [name, program] of programs) writeFileSync(join(project, name), program);
    const messages = typeCheck([...programs.keys()]).split("\n");
    for (const [index, [line, message]] of lines.entries()) {
      const found = messages.filter((each) => each.startsWith(`line-${index}.ts(`));
      expect(found, line).toEqual(message === null ? [] : [expect.stringContaining(message)]);
    }
    // All others, and lines that are about no file.
    expect(messages.filter((each) => !/^(?:line-\d+\.ts\(| |$)/.test(each))).toEqual([]);
  });

  test("is documented in both languages with every method", () => {
    for (const page of ["docs/dataq/client.md", "docs/dataq/client.zh.md"]) {
      const text = readFileSync(repository + page, "utf8");
      const methods = [...text.matchAll(/^\| `([a-z]+_[a-z_]+)` +\|/gm)].map(([, name]) => name);
      expect(methods, page).toEqual([...operationNames]);
    }
  });

  test("is smaller than 15 kB bundled and gzipped, with both clients", async () => {
    const bundle = await rolldown({
      input: join(project, "node_modules/dataq-client/dist/index.js"),
      platform: "browser",
    });
    const { output } = await bundle.generate({ format: "esm", minify: true });
    expect(output).toHaveLength(1);
    expect(output[0].imports, "modules that are not in it").toEqual([]);
    expect(gzipSync(output[0].code).length).toBeLessThan(15_000);
  });
});

/** Runs the compiler once for all programs, because each run reads the libraries again. It runs in the clean project, with only the language and DOM libraries. */
function typeCheck(paths: readonly string[]): string {
  const options =
    "--noEmit --strict --module nodenext --target es2024 --lib es2024,dom --noUncheckedIndexedAccess";
  try {
    const args = [...options.split(" "), "--types", "", ...paths];
    return execFileSync(tsc, args, { cwd: project, encoding: "utf8" });
  } catch (error) {
    return (error as { stdout: string }).stdout;
  }
}
