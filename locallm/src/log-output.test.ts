import { spawnSync } from "node:child_process";
import { closeSync, constants, openSync, readFileSync, readSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect, it } from "vitest";
import { logOutput } from "./log-output.ts";

it("writes all lines in order, whatever their length and however far apart", async () => {
  const path = join(tmpdir(), `locallm-log-${process.pid}`);
  const fd = openSync(path, "w");
  const output = logOutput(fd);
  const lines = Array.from({ length: 3000 }, (_, index) => {
    const length = index % 500 === 499 ? 70_000 : index % 90;
    return `{"line":${index},"${"𠮷é…x"[index % 5]}":"${"…".repeat(length)}"}\n`;
  });
  for (const [index, line] of lines.entries()) {
    output.write(line);
    if (index % 700 === 0) await setTimeout(15);
  }
  await expect.poll(() => readFileSync(path, "utf8").length).toBe(lines.join("").length);
  expect(readFileSync(path, "utf8") === lines.join("").toWellFormed()).toBe(true);
  closeSync(fd);
  rmSync(path);
});

it("writes the last lines before the process exits", () => {
  const module = new URL("./log-output.ts", import.meta.url).href;
  const program = `const { logOutput } = await import(${JSON.stringify(module)}); logOutput(1).write("last\\n"); process.exit(3);`;
  const { stdout, status } = spawnSync(process.execPath, ["--input-type=module", "-e", program]);
  expect({ stdout: String(stdout), status }).toEqual({ stdout: "last\n", status: 3 });
});

it.skipIf(process.platform !== "linux")("keeps running when the disk is full", async () => {
  const fd = openSync("/dev/full", "w");
  const output = logOutput(fd);
  for (let turn = 0; turn < 3; turn++) {
    output.write("a line\n");
    await setTimeout(15);
  }
  closeSync(fd);
});

it.skipIf(process.platform === "win32")(
  "keeps the lines in order that a full pipe does not take",
  async () => {
    const path = join(tmpdir(), `locallm-log-pipe-${process.pid}`);
    spawnSync("mkfifo", [path]);
    const fd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
    const output = logOutput(fd);
    const lines = Array.from(
      { length: 4000 },
      (_, index) => `{"line":${index},"${"…é"[index % 2]}":"${"x".repeat(index % 150)}"}\n`,
    );
    for (const line of lines) output.write(line);
    const bytes = Buffer.alloc(Buffer.byteLength(lines.join("")));
    let length = 0;
    await expect
      .poll(() => {
        length += readWaiting(fd, bytes.subarray(length));
        return length;
      })
      .toBe(bytes.length);
    expect(bytes.toString() === lines.join("")).toBe(true);
    closeSync(fd);
    rmSync(path);
  },
);

/** Reads what is in the pipe, at most 20,000 bytes. */
function readWaiting(fd: number, into: Buffer): number {
  try {
    return readSync(fd, into, 0, Math.min(20_000, into.length), null);
  } catch {
    return 0;
  }
}
