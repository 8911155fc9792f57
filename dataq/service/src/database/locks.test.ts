import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { lockNumbers } from "./locks.ts";

test("no two locks have the same number", () => {
  const numbers = Object.values(lockNumbers);
  expect(new Set(numbers).size).toBe(numbers.length);
});

test("only this file takes advisory locks", () => {
  const source = fileURLToPath(new URL("..", import.meta.url));
  const found = execFileSync("grep", ["-rlE", "pg_(try_)?advisory", source], { encoding: "utf8" });
  const files = found
    .trim()
    .split("\n")
    .map((path) => path.slice(source.length));
  expect(files.sort()).toEqual(["database/locks.ts"]);
});
