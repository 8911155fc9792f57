import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { findPostmaster } from "./postmaster.ts";

const data = mkdtempSync(join(tmpdir(), "postmaster-"));
// Its command line looks like that of the server.
const server = spawn(process.execPath, ["-e", "setInterval(() => {}, 1e6)", "postgres", data]);
const pid = server.pid!;
beforeAll(() => vi.waitUntil(() => found([`${pid}`])?.pid === pid, 30_000));
afterAll(() => {
  server.kill("SIGKILL");
  rmSync(data, { recursive: true });
});

function found(lines: readonly string[]) {
  writeFileSync(join(data, "postmaster.pid"), lines.join("\n"));
  return findPostmaster(data, "secret");
}

test.each([
  ["only its number", []],
  ["no port", [data, "1764300000"]],
  ["half a line", [data, "17643"]],
  ["a port and no address", [data, "1764300000", "5432", ""]],
  ["a port, and lines that are still empty", [data, "1764300000", "5432", "", "", "  5432001  1"]],
  ["no number as its port", [data, "1764300000", "x", "/run/dataq", ""]],
])("a server whose file has %s listens nowhere yet", (_, rest) => {
  expect(found([`${pid}`, ...rest])).toEqual({ pid });
});

test.each([
  ["the folder of its socket", ["5432", "/run/dataq", ""], { host: "/run/dataq", port: 5432 }],
  ["an address", ["49152", "", "127.0.0.1"], { host: "127.0.0.1", port: 49152 }],
])("a server whose file has %s is asked there", (_, rest, where) => {
  expect(found([`${pid}`, data, "1764300000", ...rest])?.connection).toMatchObject(where);
});

test("the file of a process that ended, or is another program, names no server", () => {
  for (const wrong of ["", "0", "1", "-5", "x", `${process.pid}`, "4194303"])
    expect(found([wrong, data, "1764300000", "5432", "/run/dataq", ""]), wrong).toBeUndefined();
});
