import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, it } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "run-"));
afterAll(() => rmSync(folder, { recursive: true }));

const program = `
  import { writeFileSync } from "node:fs";
  process.on("SIGTERM", () => {
    writeFileSync(${JSON.stringify(join(folder, "stopped"))}, process.argv.slice(2).join(" "));
    process.exit();
  });
  setTimeout(() => {}, 60_000);
  console.log("running");
`;

it.skipIf(process.platform === "win32")("a program stops when the shell above it is killed", async () => {
  writeFileSync(join(folder, "program.mjs"), program);
  const command = `"${process.execPath}" scripts/run.mjs "${join(folder, "program.mjs")}" one two; true`;
  const shell = spawn("sh", ["-c", command], { cwd: root, stdio: ["ignore", "pipe", "inherit"] });
  await new Promise((resolve) => shell.stdout.once("data", resolve));
  const closed = new Promise((resolve) => shell.stdout.once("close", resolve));
  shell.kill("SIGKILL");
  await closed;
  expect(readFileSync(join(folder, "stopped"), "utf8")).toBe("one two");
});
