import type { Bilingual } from "../bilingual.ts";
import { bad, parameter, type Reading } from "./reading.ts";

/** A year from 1000 to 2999. */
export function year(description: Bilingual) {
  return parameter(description, { pattern: "^[12][0-9]{3}$" }, readYear);
}

function readYear(raw: string): Reading<string> {
  const value = /^([12]\d{3})年?$/.exec(raw.length > 20 ? "" : raw.normalize("NFKC").trim())?.[1];
  if (value === undefined)
    return bad("format", "must be a year", "send four digits, such as 2018", "请发送四位数字，如 2018");
  return { value };
}
