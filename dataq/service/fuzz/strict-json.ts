import assert from "node:assert/strict";
import { Failure } from "@dataq/contract";
import type { Target } from "../../../fuzz/target.ts";
import { parseStrictJson } from "../src/http/strict-json.ts";

/** What is accepted is JSON for everybody: printed, it is read as the same. */
export const target: Target = {
  covers: ["dataq/service/src/http/strict-json.ts"],
  seeds: [
    '{"operation":"legal_laws","params":{"query":"民法典 577"},"page":1}',
    '{"a":{"b":[1,2.5e3,true,null,"\\u005f\\u005fproto__"]},"__proto__":{"x":1}}',
    '{"a":1,"\\u0061":2}',
  ],
  words: ["__proto__", "\\u0000", "\\u005f", '\\"', "\\\\", "[[", "]]", '{"":', "}"],
  read(input) {
    const value = parseStrictJson(input);
    assert.equal(Object.getPrototypeOf({}), Object.prototype);
    const printed = JSON.stringify(value);
    assert.equal(JSON.stringify(parseStrictJson(Buffer.from(printed))), printed);
  },
  refuses: (error) => error instanceof Failure && error.code === "invalid_json",
};
