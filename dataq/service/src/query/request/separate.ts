import { Failure, invalid } from "@dataq/contract";
import type { Controls } from "./controls.ts";
import { isObject } from "./json-object.ts";
import { shorten } from "./shorten.ts";

/** Top-level fields that are not parameters of an operation. */
const CONTROLS: readonly string[] = [
  "page",
  "page_size",
  "cache",
  "fields",
  "snapshot",
  "max_tokens",
  "dry_run",
];
const SELECTORS = ["domain", "operation", "params"];

/** Parameters may be in `params` and at top level; so may paging. The same value twice is accepted. */
export function separate(body: Readonly<Record<string, unknown>>): {
  controls: Controls;
  raw: Record<string, unknown>;
} {
  const inner = body["params"] ?? {};
  if (!isObject(inner))
    throw invalid("params", "type", "params must be a JSON object", "send a JSON object", "请发送 JSON 对象");
  const raw: Record<string, unknown> = Object.create(null);
  const controls: Record<string, unknown> = Object.create(null);
  const take = (name: string, value: unknown, into: Record<string, unknown>) => {
    if (Object.hasOwn(into, name) && JSON.stringify(into[name]) !== JSON.stringify(value))
      throw new Failure("ambiguous_parameter", {
        param: name,
        details: [
          {
            param: name,
            code: "ambiguous",
            message: `${shorten(name)} is given twice with different values`,
            fix: "send it once",
            fixZh: "只发送一次",
          },
        ],
      });
    into[name] = value;
  };
  for (const [name, value] of Object.entries(inner))
    take(name, value, name === "page" || name === "page_size" ? controls : raw);
  for (const [name, value] of Object.entries(body))
    if (!SELECTORS.includes(name)) take(name, value, CONTROLS.includes(name) ? controls : raw);
  return { controls, raw };
}
