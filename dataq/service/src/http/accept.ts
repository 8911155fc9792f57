import { Failure } from "@dataq/contract";
import { type AnswerType, answerTypes } from "@dataq/contract/wire";

/** The type that an answer gets. */
export interface Accepted {
  readonly type: AnswerType;
  /** `text/csv; bom=1`: a byte order mark comes first, which Excel needs to recognise UTF-8. */
  readonly hasMark: boolean;
}

interface Range {
  /** Such as text/csv, text/* or *\/*. */
  readonly name: string;
  readonly weight: number;
  readonly hasMark: boolean;
}

const LONGEST_HEADER = 2_000;

/**
 * Which of the offered types the caller prefers (RFC 9110, 12.5.1); the first one if several are equal, or if the header
 * is absent or names no media type. Throws `not_acceptable` if the caller accepts none.
 */
export function acceptedType(header: string | undefined, offered: readonly AnswerType[]): Accepted {
  const ranges = rangesOf(header ?? "");
  const [first] = offered;
  if (ranges.length === 0) return { type: first!, hasMark: false };
  const found = offered
    .map((type) => ({ type, range: rangeOf(type, ranges) }))
    .sort((a, b) => (b.range?.weight ?? 0) - (a.range?.weight ?? 0))[0]!;
  if (found.range === undefined || found.range.weight === 0)
    throw new Failure("not_acceptable", { offered: offered.map((type) => answerTypes[type][0]).join(", ") });
  return { type: found.type, hasMark: found.range.hasMark };
}

/** The most specific range that a type matches. */
function rangeOf(type: AnswerType, ranges: readonly Range[]): Range | undefined {
  const names: readonly string[] = answerTypes[type];
  const group = `${names[0]!.split("/")[0]}/*`;
  const exact = ranges.filter(({ name }) => names.includes(name)).sort((a, b) => b.weight - a.weight)[0];
  return exact ?? ranges.find(({ name }) => name === group) ?? ranges.find(({ name }) => name === "*/*");
}

function rangesOf(header: string): Range[] {
  return header
    .slice(0, LONGEST_HEADER)
    .split(",")
    .flatMap((part) => {
      const [name = "", ...params] = part.split(";").map((text) => text.trim().toLowerCase());
      if (!/^[\w!#$&^.+*-]+\/[\w!#$&^.+*-]+$/.test(name)) return [];
      const weight = params.find((text) => text.startsWith("q="))?.slice(2) ?? "1";
      if (!/^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(weight)) return [];
      return [{ name, weight: Number(weight), hasMark: params.includes("bom=1") }];
    });
}
