import { Failure } from "@dataq/contract";
import { consoleRoutes, type Route, routes } from "@dataq/contract/wire";
import type { Target } from "../../../fuzz/target.ts";
import { problemOf } from "../src/http/schema-problem.ts";
import { parseStrictJson } from "../src/http/strict-json.ts";

const all: readonly Route[] = [...Object.values(routes), ...Object.values(consoleRoutes)];

/** A body, or the values of a query with its cursors and ids, for every route. Every problem has a field and a fix. */
export const target: Target = {
  covers: [
    "dataq/contract/src/wire",
    "dataq/service/src/http/schema-problem.ts",
    "dataq/contract/src/values",
  ],
  seeds: [
    {
      cursor: "eyJhIjoxfQ",
      limit: "20",
      from: "2026-01-01",
      to: "2026-02-01",
      group_by: "day",
      kind: "capture",
      format: "csv",
    },
    {
      name: "k",
      mode: "test",
      scopes: ["data"],
      ips: ["10.0.0.0/8", "::1"],
      expires_at: "2027-01-01T00:00:00Z",
      monthly_cap: 5,
      operations: ["legal_laws"],
    },
    { url: "https://example.org/hook", events: ["call.captured"], description: "x" },
    { email: "a@example.org", password: "correct horse", role: "owner", token: "t", code: "123456" },
    {
      operation: "legal_laws",
      params: { query: "民法典" },
      every: "day",
      name: "w",
      tokens: 100,
      reason: "r",
      code: "V-1",
    },
    {
      q: "x",
      after: "1",
      account: "acc_1",
      id: "job_1",
      status: "failed",
      since: "2026-01-01T00:00:00+08:00",
    },
  ].map((body) => JSON.stringify(body)),
  bounds: { ms: 150 },
  read(input) {
    const value = parseStrictJson(input);
    for (const { query, body, path } of all)
      for (const schema of [query, body]) {
        const parsed = schema?.safeParse(value);
        for (const issue of parsed?.success === false ? parsed.error.issues : []) {
          const { param, fix, fixZh } = problemOf(issue);
          if (param === "" || fix === "" || fixZh === "")
            throw new Error(`${path}: ${JSON.stringify(issue)} has no fix.`);
        }
      }
  },
  refuses: (error) => error instanceof Failure,
};
