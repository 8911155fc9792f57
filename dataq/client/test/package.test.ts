import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { publint } from "publint";
import { rolldown } from "rolldown";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { operationNames } from "../src/index.ts";
import { type PackedProject, packProject, programsOf, repository } from "./packed-project.ts";

const tsc = `${repository}node_modules/.bin/tsc`;
let packed: PackedProject;
let project: string;
let tarball: Uint8Array<ArrayBuffer>;

beforeAll(() => {
  packed = packProject();
  project = packed.folder;
  tarball = packed.tarball;
});
afterAll(() => packed?.remove());

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

  test("compiles a valid program and rejects invalid ones", () => {
    expect(compile('client.legal_laws({ query: "x" }).then(({ data }) => data[0]?.article_no.length);')).toBe(
      "",
    );
    expect(compile('client.legal_lawz({ query: "x" });')).toContain("'legal_lawz' does not exist");
    expect(compile('client.legal_laws({ quary: "x" });')).toContain("'quary' does not exist");
    expect(compile('client.paginate("legal_lawz", { query: "x" });')).toContain('"legal_lawz"');
    expect(compile("client.legal_laws({ query: 5 });")).toContain("'number' is not assignable");
  });

  test.each(["docs/dataq/client.md", "docs/dataq/client.zh.md", "dataq/client/README.md"])(
    "compiles every program of %s",
    (page) => {
      const programs = programsOf(page);
      expect(programs.length).toBeGreaterThan(0);
      const paths = programs.map((program, index) => {
        writeFileSync(join(project, `block-${index}.ts`), program);
        return `block-${index}.ts`;
      });
      expect(typeCheck(paths)).toBe("");
    },
  );

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

/** Returns the compiler's messages about a line that uses the client. */
function compile(line: string): string {
  const program = `import { DataQuery } from "dataq-client";\nconst client = new DataQuery();\n${line}\n`;
  writeFileSync(join(project, "line.ts"), program);
  return typeCheck(["line.ts"]);
}

/** Runs the compiler in the clean project, with only the language and DOM libraries. */
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
