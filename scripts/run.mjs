// Runs a program for an npm script and stops it when npm stops. npm runs scripts in a shell, and most shells do not
// forward SIGTERM. (`exec` before the program would also work, but cmd.exe does not support it.)
//   node scripts/run.mjs <program> [arguments]
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const parent = process.ppid;
const watch = setInterval(() => {
  if (process.ppid === parent) return;
  clearInterval(watch);
  process.kill(process.pid, "SIGTERM");
}, 200);
watch.unref();

const program = resolve(process.argv[2]);
process.argv.splice(1, 2, program);
// What serves for a while also serves the documentation.
if (program.endsWith("start.ts") || process.argv[2] === "serve")
  (await import("./documentation.mjs")).buildBeside();
await import(pathToFileURL(program).href);
