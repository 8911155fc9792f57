import { expect, test } from "vitest";
import { logLine } from "./log-line.ts";

test.each([
  [{ level: "info", settings: { numParallel: 1 }, msg: "settings" }, null],
  [{ level: "info", model: "a:1", what: "ready", ms: 300, msg: "scheduler" }, null],
  [
    { level: "info", time: "t", method: "POST", route: "/api/chat", status: 200, ms: 811.7, model: "a" },
    "POST /api/chat → 200 in 812 ms",
  ],
  [{ level: "info", method: "GET", route: "/api/ps", status: 200, ms: 2 }, null],
  [{ level: "info", method: "GET", route: "/api/x", status: 404, ms: 2 }, "GET /api/x → 404 in 2 ms"],
  [
    { level: "warn", model: "a:1", what: "died", why: 'the "runner" ended', msg: "scheduler" },
    'WARN  scheduler model="a:1" what="died" why="the \\"runner\\" ended"',
  ],
  [
    {
      level: "error",
      method: "POST",
      route: "/api/chat",
      status: 500,
      ms: 3,
      from: "::1",
      requestId: "r",
      err: { message: "no", stack: "Error: no\n    at x" },
      msg: "request",
    },
    'ERROR POST /api/chat → 500 in 3 ms requestId="r"\n  Error: no\n      at x',
  ],
  [{ level: "debug", line: "llama", msg: "engine" }, 'DEBUG engine line="llama"'],
])("prints %j as %j", (line, text) => {
  expect(logLine(JSON.stringify(line))).toBe(text);
});
