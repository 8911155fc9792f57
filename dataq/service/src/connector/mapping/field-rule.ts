import { instantInChina } from "@dataq/contract";
import { z } from "zod";
import { at } from "./answer-path.ts";

/**
 * Where a field is read from: a path below the record, or a rule. A rule takes the first of its paths that has a value,
 * and then converts it: `text` joins a list with `join`, `list` splits a text at `split`, `number` reads 1,234.5,
 * `epoch_ms` and `epoch_s` give the day in China, `day` the day of a text such as 2024-03-01 00:00:00 or 20240301,
 * `instant` the moment of 2024-03-01 12:30:00 in China, `year` the first four digits, `first` the text before `split`. `format` puts a text in the place of `{}`.
 * `item` takes one path of each object of a list; `each` makes an object of each, its fields by rules of their own. With
 * `from: "answer"` the path begins at the whole answer, not at the record.
 */
export type FieldRule =
  | string
  | {
      readonly path: string | readonly string[];
      readonly from?: "answer" | undefined;
      readonly as?: (typeof conversions)[number] | undefined;
      readonly join?: string | undefined;
      readonly split?: string | undefined;
      readonly format?: string | undefined;
      readonly values?: Readonly<Record<string, string>> | undefined;
      readonly otherwise?: unknown;
      readonly item?: string | undefined;
      readonly each?: Readonly<Record<string, FieldRule>> | undefined;
    };

const conversions = [
  "text",
  "list",
  "number",
  "epoch_ms",
  "epoch_s",
  "day",
  "instant",
  "year",
  "first",
] as const;

export const fieldRule: z.ZodType<FieldRule> = z.union([
  z.string(),
  z.strictObject({
    path: z.union([z.string(), z.array(z.string()).min(1)]),
    from: z.literal("answer").optional(),
    as: z.enum(conversions).optional(),
    join: z.string().optional(),
    split: z.string().min(1).optional(),
    format: z.string().includes("{}").optional(),
    values: z.record(z.string(), z.string()).optional(),
    otherwise: z.unknown().optional(),
    item: z.string().optional(),
    each: z.lazy(() => z.record(z.string(), fieldRule)).optional(),
  }),
]);

/** The paths that a rule looks at. */
export function pathsOf(rule: FieldRule): readonly string[] {
  if (typeof rule === "string") return [rule];
  return typeof rule.path === "string" ? [rule.path] : rule.path;
}

export function readBy(rule: FieldRule, item: unknown, answer: unknown): unknown {
  const found = firstOf(pathsOf(rule), placeOf(rule, item, answer));
  if (typeof rule === "string") return found;
  if (isAbsent(found)) return rule.otherwise ?? found;
  const { each, item: inner, values } = rule;
  if (inner !== undefined)
    return Array.isArray(found)
      ? found.map((one) => (rule.as === "year" ? converted(at(one, inner), rule) : at(one, inner)))
      : found;
  if (each !== undefined) {
    if (!Array.isArray(found)) return found;
    return found.map((one) =>
      Object.fromEntries(
        Object.entries(each).map(([name, innerRule]) => [name, readBy(innerRule, one, answer)]),
      ),
    );
  }
  const plain = converted(found, rule);
  const value = rule.format === undefined ? plain : rule.format.replaceAll("{}", () => String(plain));
  const key = typeof value === "string" || typeof value === "number" ? String(value) : undefined;
  if (values !== undefined && key !== undefined && Object.hasOwn(values, key)) return values[key];
  return values === undefined ? value : (rule.otherwise ?? value);
}

/** Where the paths of a rule begin. */
export function placeOf(rule: FieldRule, item: unknown, answer: unknown): unknown {
  return typeof rule !== "string" && rule.from === "answer" ? answer : item;
}

function firstOf(paths: readonly string[], item: unknown): unknown {
  let found: unknown;
  for (const path of paths) {
    found = at(item, path);
    if (!isAbsent(found)) return found;
  }
  return found;
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || value === "" || value === "-";
}

/** What cannot be converted stays as it is, so that the check of the record names it. */
function converted(found: unknown, { as, join = "，", split = "," }: Exclude<FieldRule, string>): unknown {
  if (as === undefined) return found;
  if (as === "text") return Array.isArray(found) ? found.join(join) : String(found);
  if (as === "list") {
    if (Array.isArray(found)) return found;
    return String(found)
      .split(split)
      .map((part) => part.trim())
      .filter(Boolean);
  }
  if (as === "number") {
    const number = Number(String(found).replaceAll(",", "").trim());
    return Number.isFinite(number) ? number : found;
  }
  if (as === "first") return String(found).split(split, 1)[0];
  if (as === "year") return Number(/\d{4}/.exec(String(found))?.[0] ?? Number.NaN) || found;
  if (as === "epoch_ms" || as === "epoch_s") {
    const ms = Number(found) * (as === "epoch_s" ? 1000 : 1);
    const china = new Date(ms + 8 * 3_600_000);
    return Number.isNaN(china.getTime()) ? found : china.toISOString().slice(0, 10);
  }
  const [, year, month, day, time] =
    /^(\d{4})[-/.年]?(\d{1,2})[-/.月]?(\d{1,2})日?(?:[ T](\d{2}:\d{2}:\d{2}).*)?$/.exec(
      String(found).trim(),
    ) ?? [];
  if (year === undefined || month === undefined || day === undefined) return found;
  const date = `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`;
  return as === "day" ? date : (instantInChina(date, time ?? "00:00:00") ?? found);
}
