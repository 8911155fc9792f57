import { closeSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { expect, it } from "vitest";
import { logOutput } from "./log-output.ts";

it("writes all lines in order, also those of later turns of the event loop", async () => {
  const path = join(tmpdir(), `locallm-log-${process.pid}`);
  const fd = openSync(path, "w");
  const output = logOutput(fd);
  const lines = Array.from(
    { length: 3000 },
    (_, index) => `{"line":${index},"é":"${"x".repeat(index % 90)}"}\n`,
  );
  for (const [index, line] of lines.entries()) {
    output.write(line);
    if (index % 700 === 0) await setImmediate();
  }
  await setImmediate();
  expect(readFileSync(path, "utf8")).toBe(lines.join(""));
  closeSync(fd);
  rmSync(path);
});

it.skipIf(process.platform !== "linux")("keeps running when the disk is full", async () => {
  const fd = openSync("/dev/full", "w");
  const output = logOutput(fd);
  for (let turn = 0; turn < 3; turn++) {
    output.write("a line\n");
    await setImmediate();
  }
  closeSync(fd);
});
