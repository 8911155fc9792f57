import type { ParameterProblem } from "@dataq/contract";
import type { z } from "zod";

type Issue = z.core.$ZodIssue;
/** What to send instead, in English and Chinese. */
type Fix = readonly [en: string, zh: string];

/** A problem that a schema found, as a message and a fix. A custom check puts its fix into `params`. */
export function problemOf(issue: Issue): ParameterProblem {
  const unknown =
    issue.code === "unrecognized_keys" ? issue.keys.map(shown).join(", ").slice(0, 100) : undefined;
  const param = unknown ?? (issue.path.join(".") || "body");
  const [fix, fixZh] = fixOf(issue);
  const wrong = issue.code === "custom" ? issue.message : (messages[issue.code] ?? "is invalid");
  return { param, code: issue.code, message: `${param} ${wrong}`, fix, fixZh };
}

function shown(name: string): string {
  return name === "" ? '""' : name;
}

const messages: Readonly<Partial<Record<Issue["code"], string>>> = {
  invalid_type: "is missing or has the wrong type",
  invalid_value: "is not one of the allowed values",
  invalid_union: "is not one of the allowed values",
  invalid_format: "has an invalid format",
  too_small: "is too small or too short",
  too_big: "is too large or too long",
  unrecognized_keys: "is not a known field",
};

function fixOf(issue: Issue): Fix {
  switch (issue.code) {
    case "invalid_type":
      return types[issue.expected] ?? ["send another type", "请更换类型"];
    case "invalid_value": {
      const known = issue.values.map(String).join(", ");
      return [`send one of ${known}`, `可选：${known}`];
    }
    case "invalid_union": {
      // Of a union by one field, the values of that field.
      const known = "options" in issue && Array.isArray(issue.options) ? issue.options.map(String) : [];
      return known.length === 0
        ? ["send one of the forms that /docs shows", "请按 /docs 中的任一形式发送"]
        : [`send one of ${known.join(", ")}`, `可选：${known.join("、")}`];
    }
    case "invalid_format":
      return formats[issue.format] ?? ["send the format that /docs shows", "请按 /docs 的格式发送"];
    case "too_small":
    case "too_big": {
      const isLow = issue.code === "too_small";
      const bound = issue.code === "too_small" ? issue.minimum : issue.maximum;
      const [unit, unitZh] = units[issue.origin] ?? ["", ""];
      const plural = unit === "" || bound === 1 ? "" : "s";
      return [
        `send ${isLow ? "at least" : "at most"} ${bound}${unit}${plural}`,
        `${isLow ? "至少" : "至多"} ${bound}${unitZh}`,
      ];
    }
    case "unrecognized_keys":
      return ["omit it", "请去掉"];
    case "custom": {
      const { fix = "", fixZh = fix } = (issue.params ?? {}) as { fix?: string; fixZh?: string };
      return [fix, fixZh];
    }
    default:
      return ["", ""];
  }
}

const types: Readonly<Record<string, Fix>> = {
  string: ["send a string", "请发送字符串"],
  number: ["send a number", "请发送数字"],
  int: ["send a whole number", "请发送整数"],
  boolean: ["send true or false", "请发送 true 或 false"],
  array: ["send a list", "请发送列表"],
  object: ["send a JSON object", "请发送 JSON 对象"],
};

const formats: Readonly<Record<string, Fix>> = {
  datetime: ["send a time such as 2026-01-31T08:00:00+08:00", "请发送时间，例如 2026-01-31T08:00:00+08:00"],
  date: ["send a date such as 2026-01-31", "请发送日期，例如 2026-01-31"],
  email: ["send an email address", "请发送邮箱地址"],
};

const units: Readonly<Record<string, Fix>> = {
  string: [" character", " 个字符"],
  array: [" item", " 项"],
};
