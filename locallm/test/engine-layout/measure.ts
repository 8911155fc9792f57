// node locallm/test/engine-layout/measure.ts: writes what a C compiler says about the release's structures and
// types. The package `node-llama-cpp` carries the source of the llama.cpp in its platform packages. Needs git and gcc.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { platformFolder, release } from "../../src/engine/libllama/release.ts";
import { membersOf, ours, structs } from "./measured.ts";

const folder = mkdtempSync(join(tmpdir(), "engine-layout-"));
const run = (command: string, ...given: string[]) =>
  execFileSync(command, given, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
try {
  run("npm", "pack", "--silent", `node-llama-cpp@${release.packageVersion}`);
  run("tar", "xzf", `node-llama-cpp-${release.packageVersion}.tgz`);
  run(
    "git",
    "-c",
    "advice.detachedHead=false",
    "clone",
    "--quiet",
    "package/llama/gitRelease.bundle",
    "source",
  );
  writeFileSync(join(folder, "layout.c"), program());
  const headers = ["-Isource/include", "-Isource/ggml/include", "-Isource/tools/mtmd"];
  const library = platformFolder();
  run("gcc", ...headers, "layout.c", "-o", "layout", `-L${library}`, "-lggml-base", `-Wl,-rpath,${library}`);
  const file = new URL(`measured-${release.version}.json`, import.meta.url);
  writeFileSync(file, `${JSON.stringify(JSON.parse(run("./layout")), null, 2)}\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** A C program that prints a `MeasuredLayout` as JSON. */
function program(): string {
  const header = readFileSync(join(folder, "source/include/llama.h"), "utf8");
  // Removed types remain in the header as comments.
  const fileTypes = [...header.matchAll(/^\s*(LLAMA_FTYPE_(?:ALL|MOSTLY)_(\w+))\s*=/gm)];
  const measured = Object.entries(structs).map(([name, struct]) => {
    const members = Object.keys(membersOf(ours[name as keyof typeof structs])).map(
      (member) => `MEMBER(${struct}, ${member})`,
    );
    return `printf("\\"${name}\\": {\\"bytes\\": %zu, \\"members\\": {", sizeof(struct ${struct}));
  ${members.join('\n  printf(",");\n  ')}
  printf("}}");`;
  });
  return `#include <stdio.h>
#include "llama.h"
#include "mtmd.h"
#define AT(struct_, member) (((struct struct_ *) 0)->member)
#define KIND(value) _Generic((value), bool: "bool", float: "float", int: "integer", unsigned: "integer", \\
  unsigned long: "integer", default: "pointer")
#define MEMBER(struct_, member) printf("\\"%s\\": {\\"offset\\": %zu, \\"bytes\\": %zu, \\"kind\\": \\"%s\\"}", \\
  #member, offsetof(struct struct_, member), sizeof(AT(struct_, member)), \\
  sizeof(AT(struct_, member)) > 8 ? "array" : KIND(AT(struct_, member)));
int main(void) {
  printf("{\\"structs\\": {");
  ${measured.join('\n  printf(",");\n  ')}
  printf("}, \\"tensorTypes\\": [");
  const char * comma = "";
  for (int type = 0; type < GGML_TYPE_COUNT; type++) {
    if (ggml_blck_size(type) == 0) continue;
    printf("%s{\\"id\\": %d, \\"name\\": \\"%s\\", \\"blockLength\\": %d, \\"blockBytes\\": %zu}", comma, type,
      ggml_type_name(type), (int) ggml_blck_size(type), ggml_type_size(type));
    comma = ",";
  }
  printf("], \\"fileTypes\\": [");
  ${fileTypes.map(([, constant, name]) => `printf("{\\"id\\": %d, \\"name\\": \\"${name}\\"}", ${constant});`).join('\n  printf(",");\n  ')}
  printf("]}");
}
`;
}
