import { Failure, operations } from "@dataq/contract";
import type { Target } from "../../../fuzz/target.ts";
import { parseStrictJson } from "../src/http/strict-json.ts";
import { readRequest } from "../src/query/request/request.ts";

/** A body is a request of an operation, or an error that names the parameter. */
export const target: Target = {
  covers: [
    "dataq/service/src/query/request",
    "dataq/contract/src/operations",
    "dataq/contract/src/values",
    "dataq/contract/src/parameters.ts",
  ],
  seeds: operations.map(({ name, example }) =>
    JSON.stringify({
      operation: name,
      params: example,
      page: 2,
      page_size: 20,
      cache: "bypass",
      fields: ["id"],
      max_tokens: 9_000,
      dry_run: true,
    }),
  ),
  bounds: { ms: 150 },
  read(input) {
    const body = parseStrictJson(input);
    for (const lenient of [false, true]) {
      const { params, page, pageSize } = readRequest(body, { today: "2026-01-01", lenient });
      if (!(page >= 1 && pageSize >= 1 && page * pageSize <= 10_000))
        throw new Error(`page ${page} of ${pageSize}`);
      JSON.stringify(params);
    }
  },
  refuses(error) {
    if (!(error instanceof Failure)) return false;
    const [first] = error.details.details ?? [];
    return first === undefined || (first.param !== "" && first.fix !== "" && first.fixZh !== "");
  },
};
