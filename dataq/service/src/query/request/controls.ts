import { Failure, invalid, type Operation } from "@dataq/contract";
import { shorten } from "./shorten.ts";

/** The fields of a request other than its operation and parameters. */
export type Controls = Readonly<Record<string, unknown>>;

const DEFAULT_PAGE_SIZE = 20;
const MAX_PAGE_SIZE = 200;
/** Limit of page × page_size. */
const MAX_DEPTH = 10_000;

export function readPaging(operation: Operation, controls: Controls): { page: number; pageSize: number } {
  const page = readInteger(controls, "page", 1) ?? 1;
  const pageSize = readInteger(controls, "page_size", 1, MAX_PAGE_SIZE) ?? DEFAULT_PAGE_SIZE;
  if (!operation.paged && page > 1)
    throw invalid(
      "page",
      "range",
      `${operation.name} has one page`,
      "send page 1, or omit it",
      "请发送 page 1，或不填",
    );
  if (operation.paged && page * pageSize > MAX_DEPTH)
    throw new Failure("page_out_of_range", {
      param: "page",
      details: [
        {
          param: "page",
          code: "range",
          message: `page × page_size must not exceed ${MAX_DEPTH}`,
          fix: "narrow the query with a filter",
          fixZh: "请用筛选条件缩小范围",
        },
      ],
    });
  return { page, pageSize: operation.paged ? pageSize : DEFAULT_PAGE_SIZE };
}

export function readFields(operation: Operation, value: unknown): readonly string[] | undefined {
  if (value === undefined) return undefined;
  const known = Object.keys(operation.record.shape);
  if (!Array.isArray(value) || value.length === 0)
    throw invalid(
      "fields",
      "type",
      "fields must be a list of names",
      `send one or more of ${known.join(", ")}`,
      `可用的字段：${known.join("、")}`,
    );
  for (const name of value)
    if (typeof name !== "string" || !known.includes(name))
      throw invalid(
        "fields",
        "unknown",
        `${shorten(String(name))} is not a field of ${operation.name}`,
        `the fields are ${known.join(", ")}`,
        `可用的字段：${known.join("、")}`,
      );
  return [...new Set<string>(value)].sort();
}

/** Integers may be sent as strings. */
const digits = /^(?:0|[1-9]\d{0,14})$/;

/** The largest integer of 15 digits: every JSON parser reads it exactly. */
export const mostInteger = 999_999_999_999_999;

export function readInteger(
  controls: Controls,
  name: string,
  least: number,
  most = mostInteger,
): number | undefined {
  const value = controls[name];
  if (value === undefined || value === null) return undefined;
  const number = typeof value === "string" && digits.test(value) ? Number(value) : value;
  const isOpen = most === mostInteger;
  const range = isOpen ? `${least} or more, with at most 15 digits` : `from ${least} to ${most}`;
  const fixZh = isOpen ? `请发送不小于 ${least}、不超过 15 位的整数` : `请发送 ${least} 到 ${most} 的整数`;
  const fix = `send an integer${isOpen ? "," : ""} ${range}`;
  if (typeof number !== "number" || !Number.isInteger(number))
    throw invalid(name, "type", `${name} must be an integer`, fix, fixZh);
  if (number < least || number > most) throw invalid(name, "range", `${name} must be ${range}`, fix, fixZh);
  return number;
}

export function readBoolean(controls: Controls, name: string): boolean | undefined {
  const value = controls[name];
  if (value === undefined || typeof value === "boolean") return value;
  throw invalid(name, "type", `${name} must be true or false`, "send true or false", "请发送 true 或 false");
}

export function readChoice<const Choice extends string>(
  controls: Controls,
  name: string,
  choices: readonly Choice[],
): Choice | undefined {
  const value = controls[name];
  if (value === undefined) return undefined;
  const found = choices.find((choice) => choice === value);
  if (found !== undefined) return found;
  throw invalid(
    name,
    "choice",
    `${name} must be one of ${choices.join(", ")}`,
    `send one of ${choices.join(", ")}`,
    `可选：${choices.join("、")}`,
  );
}

export function readText(controls: Controls, name: string, longest: number): string | undefined {
  const value = controls[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string" && value.length > 0 && value.length <= longest) return value;
  throw invalid(
    name,
    "type",
    `${name} must be a string of 1 to ${longest} characters`,
    "send the value from an answer",
    "请发送回答中给出的值",
  );
}
