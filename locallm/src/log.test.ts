import fc from "fast-check";
import pino from "pino";
import { expect, it } from "vitest";
import { createLog, logTo } from "./log.ts";

it("writes an ended request as pino would", () => {
  const lines: string[] = [];
  const { log, writeRequest } = createLog("info", { write: (line) => lines.push(line) });
  for (const fields of [
    { requestId: "1-a", method: "GET", route: "/api/blobs/:digest", status: 200, ms: 0.1, from: "::1" },
    {
      requestId: "2",
      route: "none",
      status: 499,
      ms: 1e21,
      from: undefined,
      key: 'a "\\\n\u2028\ud800 " 名',
    },
    { status: 200, ms: Number.NaN, model: "a", cached: null, deep: { list: [1, undefined, "x"] }, ok: true },
  ]) {
    log.info(fields, "request");
    writeRequest(fields);
  }
  const withoutTime = lines.map((line) => line.replace(/"time":"[^"]+"/, '"time":""'));
  for (let at = 0; at < lines.length; at += 2) expect(withoutTime[at + 1]).toBe(withoutTime[at]);
  expect(lines).toHaveLength(6);
});

it("writes any fields as pino would", () => {
  const lines: string[] = [];
  const { log, writeRequest } = createLog("info", { write: (line) => lines.push(line) });
  const value = fc.oneof(fc.string({ unit: "binary", maxLength: 300 }), fc.double(), fc.jsonValue());
  const name = fc.string({ unit: "binary" }).filter((key) => !["err", "level", "time", "msg"].includes(key));
  const read = (line: string) => Object.entries(JSON.parse(line) as object).filter(([key]) => key !== "time");
  fc.assert(
    fc.property(fc.dictionary(name, value, { minKeys: 1 }), (fields) => {
      lines.length = 0;
      log.info(fields, "request");
      writeRequest(fields);
      expect(lines.map((line) => line.endsWith("}\n"))).toEqual([true, true]);
      expect(read(lines[1]!)).toEqual(read(lines[0]!));
    }),
    { seed: 15, numRuns: 300 },
  );
});

it("follows the level that an embedding program sets later", () => {
  const lines: string[] = [];
  const { log, writeRequest } = createLog("debug", { write: (line) => lines.push(line) });
  for (const level of ["warn", "silent", "info"]) {
    log.level = level;
    writeRequest({ level });
  }
  expect(lines).toHaveLength(1);
});

it("leaves the line to the logger of an embedding program", () => {
  const lines: string[] = [];
  const own = pino({ name: "mine" }, { write: (line: string) => lines.push(line) });
  logTo(own).writeRequest({ status: 200 });
  expect(JSON.parse(lines.join(""))).toMatchObject({ name: "mine", status: 200, msg: "request" });
});
