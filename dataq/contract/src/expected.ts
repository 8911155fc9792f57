import type { z } from "zod";
import type { Bilingual } from "./bilingual.ts";

/** Describes in our own words what a schema expects. */
export function expectedOf(issue: z.core.$ZodIssue): Bilingual {
  switch (issue.code) {
    case "invalid_type":
      return types[issue.expected] ?? other;
    case "invalid_value": {
      const values = issue.values.map(String).join(", ");
      return { en: `one of ${values}`, zh: `以下之一：${values}` };
    }
    case "invalid_format":
      return formats[issue.format] ?? other;
    case "too_small":
      return { en: `at least ${issue.minimum}`, zh: `至少 ${issue.minimum}` };
    case "too_big":
      return { en: `at most ${issue.maximum}`, zh: `至多 ${issue.maximum}` };
    case "invalid_union":
      return { en: "a known kind", zh: "已知的类型" };
    case "unrecognized_keys":
      return { en: `no field ${issue.keys.join(", ")}`, zh: `没有字段 ${issue.keys.join("、")}` };
    default:
      return other;
  }
}

const other = {
  en: "another form; see docs/dataq/operations.md",
  zh: "其他格式，见 docs/dataq/operations.md",
};

const types: Readonly<Record<string, Bilingual>> = {
  string: { en: "text", zh: "文本" },
  number: { en: "a number", zh: "数字" },
  int: { en: "a whole number", zh: "整数" },
  boolean: { en: "true or false", zh: "true 或 false" },
  array: { en: "a list", zh: "列表" },
  object: { en: "an object", zh: "对象" },
};

const formats: Readonly<Record<string, Bilingual>> = {
  date: { en: "a date such as 2026-01-31", zh: "日期，例如 2026-01-31" },
  datetime: { en: "a time such as 2026-01-31T08:00:00+08:00", zh: "时间，例如 2026-01-31T08:00:00+08:00" },
  url: { en: "an address such as https://example.com/", zh: "网址，例如 https://example.com/" },
  regex: { en: "digits such as 1200 or 12.5", zh: "数字，例如 1200 或 12.5" },
};
