import { spawnSync } from "node:child_process";
import { closeSync, constants, openSync, readFileSync, readSync, rmSync, truncateSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect, it } from "vitest";
import { logOutput } from "./log-output.ts";

/** The beginning of a program for another process: lines that cannot be written yet would outlive the test in this one. */
const withLogOutput = `const { logOutput } = await import(${JSON.stringify(new URL("./log-output.ts", import.meta.url).href)});`;

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

it("writes each line at once where lines do not wait for others", () => {
  const path = join(tmpdir(), `locallm-log-once-${process.pid}`);
  const fd = openSync(path, "a");
  const output = logOutput(fd, { waitMs: 0 });
  for (const line of ["first\n", "第二\n"]) {
    output.write(line);
    expect(readFileSync(path, "utf8").endsWith(line)).toBe(true);
  }
  truncateSync(path);
  output.write("after a rotation\n");
  expect(readFileSync(path, "utf8")).toBe("after a rotation\n");
  closeSync(fd);
  rmSync(path);
});

it("writes the last lines before the process exits", () => {
  const program = `${withLogOutput} logOutput(1).write("last\\n"); process.exit(3);`;
  const { stdout, status } = spawnSync(process.execPath, ["--input-type=module", "-e", program]);
  expect({ stdout: String(stdout), status }).toEqual({ stdout: "last\n", status: 3 });
});

it.skipIf(process.platform !== "linux")("writes all lines once a full file has room again", () => {
  const path = join(tmpdir(), `locallm-log-full-${process.pid}`);
  const program = `
    ${withLogOutput}
    const { openSync } = await import("node:fs");
    const { spawnSync } = await import("node:child_process");
    const { setTimeout } = await import("node:timers/promises");
    const output = logOutput(openSync(${JSON.stringify(path)}, "w"));
    for (let line = 0; line < 300; line++) {
      output.write(line + "x".repeat(line % 90) + "\\n");
      if (line % 100 === 0) await setTimeout(15);
    }
    await setTimeout(15);
    spawnSync("prlimit", ["--pid", String(process.pid), "--fsize=unlimited"]);
    await setTimeout(250);
    output.write("last\\n");`;
  const limited = ["-c", 'ulimit -S -f 1; exec "$@"', "sh", process.execPath, "--input-type=module", "-e"];
  const { status, stderr } = spawnSync("sh", [...limited, program], { encoding: "utf8" });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  const lines = Array.from({ length: 300 }, (_, line) => `${line}${"x".repeat(line % 90)}\n`);
  expect(readFileSync(path, "utf8")).toBe(`${lines.join("")}last\n`);
  rmSync(path);
});

it.skipIf(process.platform !== "linux")("keeps running when nothing can be written", () => {
  const program = `
    ${withLogOutput}
    const { openSync } = await import("node:fs");
    const { setTimeout } = await import("node:timers/promises");
    const [full, at, once] = [openSync("/dev/full", "w"), 9999, { waitMs: 0 }];
    for (const output of [logOutput(full), logOutput(at), logOutput(full, once), logOutput(at, once)])
      for (let line = 0; line < 20_000; line++) output.write("a line of some length ".repeat(10) + "\\n");
    await setTimeout(150);
    console.log("runs");`;
  const { status, stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", program]);
  expect({ stdout: String(stdout), status }).toEqual({ stdout: "runs\n", status: 0 });
});

it.skipIf(process.platform === "win32")(
  "keeps the lines that a full pipe does not take, in their order",
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
      .poll(
        () => {
          length += readWaiting(fd, bytes.subarray(length));
          return length;
        },
        { interval: 5, timeout: 10_000 },
      )
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
