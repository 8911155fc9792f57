import type { Bilingual } from "@dataq/contract";
import { z } from "zod";
import { day } from "../field.ts";
import { ImportError } from "../import-error.ts";

/**
 * The calls of the national database of laws and regulations, as its pages make them. Read on 2026-11-27 from what
 * others wrote about them; never run against the publisher from here.
 */
export const listPath = "/law-search/search/list";
export const pageSize = 50;
/** More documents than this of one question are not shown. */
export const mostOfQuestion = 10_000;

/** 1 repealed, 2 amended since, 3 in force, 4 not yet in force; null where the publisher states none of these. */
export type OfficialState = 1 | 2 | 3 | 4;

/** A document of the official list. */
export interface ListedLaw {
  readonly id: string;
  readonly title: string;
  /** 法律, 行政法规, 司法解释, 地方性法规 … */
  readonly kind: string | null;
  readonly issuer: string | null;
  readonly promulgated: string | null;
  readonly inForceFrom: string | null;
  readonly state: OfficialState | null;
}

export interface ListPage {
  readonly total: number;
  readonly laws: readonly ListedLaw[];
}

/** A part of the list: all of it, or what these filters leave. */
export interface ListQuestion {
  readonly kinds?: readonly number[];
  readonly states?: readonly number[];
  readonly promulgated?: readonly [from: string, to: string];
}

/** The publisher's numbers of kinds. The last are local regulations, most of all documents. */
export const kindGroups: readonly (readonly number[])[] = [
  [100, 101, 102, 110, 120, 130, 140, 150, 155, 160, 170, 180, 190, 195, 200],
  [201, 210, 215],
  [220],
  [311, 320, 330, 340, 350],
  [221, 222, 230, 260, 270, 290, 295, 300, 305, 310],
];

export function listBody(question: ListQuestion, page: number): object {
  return {
    searchRange: 1,
    searchType: 2,
    searchContent: "",
    sxx: question.states ?? [],
    gbrq: question.promulgated ?? [],
    sxrq: [],
    gbrqYear: [],
    flfgCodeId: question.kinds ?? [],
    zdjgCodeId: [],
    xgzlSearch: false,
    orderByParam: { order: "-1", sort: "" },
    pageNum: page,
    pageSize,
  };
}

const text = z.string().max(2_000).nullish();
const date = z
  .string()
  .nullish()
  .refine((value) => !value?.trim() || day({ value }, "value") !== null, "a day such as 2020-05-28");
const answer = z.object({
  code: z.literal(200),
  total: z.number().int().nonnegative(),
  rows: z
    .array(
      z.object({
        // It becomes the name of a file.
        bbbs: z.string().regex(/^[A-Za-z0-9_-]{1,100}$/),
        title: z.string().min(1).max(2_000),
        flxz: text,
        zdjgName: text,
        gbrq: date,
        sxrq: date,
        sxx: z.union([
          z.number().int(),
          z
            .string()
            .regex(/^\d{1,3}$/)
            .transform(Number),
          z.null(),
        ]),
      }),
    )
    .max(1_000),
});

/** Reads an answer. Throws an error that names the field if it is not as documented. */
export function readListPage(publisher: Bilingual, what: Bilingual, given: unknown): ListPage {
  const { total, rows } = readAnswer(answer, publisher, what, given);
  return {
    total,
    laws: rows.map((row) => ({
      id: row.bbbs,
      // Words that a search found are marked.
      title: row.title.replace(/<[^<>]{0,100}>/g, "").trim(),
      kind: row.flxz?.trim() || null,
      issuer: row.zdjgName?.trim() || null,
      promulgated: day({ ...row }, "gbrq"),
      inForceFrom: day({ ...row }, "sxrq"),
      state: isState(row.sxx) ? row.sxx : null,
    })),
  };
}

/** Checks an answer's shape. The error names the first field that differs, and what was expected there. */
export function readAnswer<Schema extends z.ZodType>(
  schema: Schema,
  publisher: Bilingual,
  what: Bilingual,
  given: unknown,
): z.infer<Schema> {
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = issue?.path
    .map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`))
    .join("");
  throw new ImportError("publisher_other_shape", {
    publisher,
    what,
    field: field?.replace(/^\./, "") || "the answer",
    problem: issue?.message ?? "",
  });
}

function isState(value: number | null): value is OfficialState {
  return value !== null && value >= 1 && value <= 4;
}
