import pino from "pino";
import { expect, it } from "vitest";
import { createLog, logTo } from "./log.ts";

it("writes an ended request as pino would", () => {
  const lines: string[] = [];
  const { log, request } = createLog("info", { write: (line) => lines.push(line) });
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
    request(fields);
  }
  const withoutTime = lines.map((line) => line.replace(/"time":"[^"]+"/, '"time":""'));
  for (let at = 0; at < lines.length; at += 2) expect(withoutTime[at + 1]).toBe(withoutTime[at]);
  expect(lines).toHaveLength(6);
});

it("leaves the line to the logger of an embedding program", () => {
  const lines: string[] = [];
  const own = pino({ name: "mine" }, { write: (line: string) => lines.push(line) });
  logTo(own).request({ status: 200 });
  expect(JSON.parse(lines.join(""))).toMatchObject({ name: "mine", status: 200, msg: "request" });
});
