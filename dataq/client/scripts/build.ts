import { execFileSync } from "node:child_process";
import { globSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** `npm run build --workspace dataq-client`: what is published, in `dist/`. */
const root = fileURLToPath(new URL("../", import.meta.url));

rmSync(`${root}dist`, { recursive: true, force: true });
const tsc = fileURLToPath(new URL("../../../node_modules/.bin/tsc", import.meta.url));
execFileSync(tsc, ["-p", `${root}tsconfig.build.json`], { stdio: "inherit" });

// The compiler rewrites `./x.ts` in JavaScript and leaves it in declarations, where older compilers stumble.
for (const path of globSync(`${root}dist/**/*.d.ts`)) {
  const text = readFileSync(path, "utf8");
  writeFileSync(path, text.replaceAll(/(from "\.[^"]*)\.ts"/g, '$1.js"'));
}
