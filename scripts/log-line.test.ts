import { expect, test } from "vitest";
import { shownLine } from "./log-line.ts";

test.each([
  ["Starting the database …", "Starting the database …"],
  ["{not a log}", "{not a log}"],
  ['{"level":', '{"level":'],
  ['{"level":"info","settings":{"numParallel":1},"msg":"settings"}', null],
  ['{"level":"info","model":"a:1","what":"ready","ms":300,"msg":"scheduler"}', null],
  [
    '{"level":"info","method":"POST","route":"/api/generate","status":200,"ms":811.7,"msg":"request"}',
    "POST /api/generate → 200 in 812 ms",
  ],
  [
    '{"level":30,"method":"POST","route":"/v1/data/query","status":200,"ms":12.1,"tokens":5000,"msg":"request"}',
    "POST /v1/data/query → 200 in 12 ms, 5,000 tokens",
  ],
  [
    '{"level":30,"method":"POST","route":"/v1/data/query","status":200,"ms":12.1,"tokens":1,"msg":"request"}',
    "POST /v1/data/query → 200 in 12 ms, 1 token",
  ],
  ['{"level":30,"method":"GET","route":"/v1/keys","status":200,"ms":2,"msg":"request"}', null],
  [
    '{"level":30,"method":"GET","route":"/v1/keys","status":401,"ms":2,"msg":"request"}',
    "GET /v1/keys → 401 in 2 ms",
  ],
])("%s is shown as %s", (line, shown) => {
  expect(shownLine(line)).toBe(shown);
});

test.each([
  '{"level":"warn","msg":"a"}',
  '{"level":50,"msg":"b"}',
  '{"level":"debug","line":"c","msg":"engine"}',
])("shows errors and requested details in full: %s", (line) => {
  expect(shownLine(line)).toBe(line);
});
