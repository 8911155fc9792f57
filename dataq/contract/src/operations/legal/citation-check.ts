import { z } from "zod";
import { meaning } from "../../bilingual.ts";
import { type Completed, defineOperation, type Params } from "../../operation.ts";
import { date, record } from "../../provenance.ts";
import { calendarDate } from "../../values/calendar-date.ts";
import { longText } from "../../values/long-text.ts";
import { word } from "../../words/word.ts";
import { lawStatuses, statusBasis, statusBasisZh } from "./law-catalog.ts";

export const citationVerdicts = [
  "exists",
  "no_such_article",
  "no_such_paragraph",
  "no_such_item",
  "unknown_law",
  "not_held",
  "version_not_held",
  "unresolved",
] as const;

export const citationProblems = [
  "no_such_article",
  "no_such_paragraph",
  "no_such_item",
  "unknown_law",
  "not_in_force",
  "quotation_differs",
  "fits_other_article",
] as const;

const otherPlace = z.object({
  law_name: z.string(),
  article_no: z.string().nullable(),
  paragraph: z.number().int().nullable(),
});

export const legalCitationCheck = defineOperation({
  name: "legal_citation_check",
  domain: "legal",
  olderType: "citation_check",
  title: { en: "Citation check", zh: "引注核查" },
  description: {
    en: "Checks every citation in a text: whether the law and the article exist and are in force on a date, whether the quoted words agree with the article, and whether a cited judgment is in the data. No language model is involved.",
    zh: "核查文中每一处法律引注：法律和条文是否存在、指定日期是否有效、引文与条文是否一字不差，以及所引案号是否已收录。不使用大模型。",
  },
  needs: { en: "the texts of laws", zh: "法律法规全文" },
  params: z.object({
    text: longText({
      en: "The text to check, such as a legal opinion or a chatbot's answer; up to 20,000 characters",
      zh: "待核查的文字，如法律意见书、判决书或聊天机器人的回答，最多 20000 字",
    }),
    date: calendarDate({
      en: "The laws in force on this date are used; default: today in China",
      zh: "以该日期有效的法律为准，留空为北京时间今日",
    }).optional(),
  }),
  complete: fillDate,
  record: record({
    kind: z.enum(["article", "law", "case"]).meta(
      meaning({
        en: "An article, a law without an article, or a judgment",
        zh: "引用的是条文、整部法律还是案例",
      }),
    ),
    start: z
      .number()
      .int()
      .meta(
        meaning({
          en: "Start in the text, in Unicode code points (Python string index)",
          zh: "在文中的起点，按 Unicode 码点计（即 Python 字符串下标）",
        }),
      ),
    end: z
      .number()
      .int()
      .meta(meaning({ en: "End, exclusive, in Unicode code points", zh: "终点（不含），按 Unicode 码点计" })),
    start_utf16: z
      .number()
      .int()
      .meta(
        meaning({
          en: "Start in UTF-16 code units (JavaScript and Java string index)",
          zh: "起点，按 UTF-16 编码单元计（即 JavaScript、Java 字符串下标）",
        }),
      ),
    end_utf16: z
      .number()
      .int()
      .meta(
        meaning({ en: "End, exclusive, in UTF-16 code units", zh: "终点（不含），按 UTF-16 编码单元计" }),
      ),
    cited: z.string().meta(meaning({ en: "The citation as written", zh: "引注原文" })),
    law_name: z
      .string()
      .nullable()
      .meta(meaning({ en: "The law as understood", zh: "识别出的法律名称" })),
    law_as_written: z
      .string()
      .nullable()
      .meta(
        meaning({
          en: "The name of the law as written in the text",
          zh: "文中据以识别的法律名称",
        }),
      ),
    article_no: z.string().nullable(),
    paragraph: z
      .number()
      .int()
      .nullable()
      .meta(meaning({ en: "Cited paragraph (款)", zh: "引用的款" })),
    item: z
      .number()
      .int()
      .nullable()
      .meta(meaning({ en: "Cited item (项)", zh: "引用的项" })),
    as_of: z
      .string()
      .nullable()
      .meta(
        meaning({
          en: "The version that the citation names, such as 2018修正; null: the version of the date",
          zh: "引注自带的版本，如 2018修正；没有则为 null，以日期为准",
        }),
      ),
    case_no: z.string().nullable(),
    verdict: z.enum(citationVerdicts).meta(
      meaning({
        en: "exists; no_such_article, no_such_paragraph, no_such_item: the law is in the data, without this article, paragraph or item; unknown_law: no law of this name is known; not_held: the law or judgment is not in the data, which says nothing about whether it exists; version_not_held: the text of that version or date is not in the data; unresolved: the law that 该法 or 本法 means cannot be determined",
        zh: "exists：存在；no_such_article、no_such_paragraph、no_such_item：已收录该法，其中没有该条、款、项；unknown_law：未见过此名称的法律；not_held：未收录该法律或案例，不代表其不存在；version_not_held：未收录该版本或该日期的文本；unresolved：无法确定“该法”“本法”所指",
      }),
    ),
    problems: z.array(z.enum(citationProblems)).meta(
      meaning({
        en: "What is wrong with the citation; empty if nothing was found",
        zh: "发现的问题，没有则为空",
      }),
    ),
    in_force: z
      .boolean()
      .nullable()
      .meta(
        meaning({
          en: "Whether it is in force on the date; null if unknown",
          zh: "该日期是否有效，未知为 null",
        }),
      ),
    status: z.enum(lawStatuses).nullable(),
    status_text: z.string().nullable(),
    status_basis: statusBasis.nullable(),
    status_basis_zh: statusBasisZh.nullable(),
    effective_date: date.nullable(),
    expired_date: date.nullable(),
    replaced_by: z
      .string()
      .nullable()
      .meta(
        meaning({
          en: "The law or article that took its place, if known",
          zh: "取而代之的法律或条文（已知时）",
        }),
      ),
    version_date: date.nullable(),
    content: z
      .string()
      .nullable()
      .meta(meaning({ en: "Text of the article on the date", zh: "该日期的条文" })),
    quotations: z
      .array(
        z.object({
          text: z.string().meta(meaning({ en: "The quoted words", zh: "引文" })),
          start: z.number().int(),
          end: z.number().int(),
          start_utf16: z.number().int(),
          end_utf16: z.number().int(),
          marked: z
            .boolean()
            .meta(meaning({ en: "Whether it is in quotation marks in the text", zh: "文中是否加了引号" })),
          agrees: z
            .boolean()
            .nullable()
            .meta(
              meaning({
                en: "Whether the words agree with the cited article or paragraph; punctuation, spaces and script are ignored; null if its text is not in the data",
                zh: "与所引条款是否一字不差（不计标点、空格和繁简）；未收录条文时为 null",
              }),
            ),
          differences: z
            .array(
              z.object({
                kind: z.enum(["same", "added", "missing"]).meta(
                  meaning({
                    en: "same: in both; added: only in the quotation; missing: only in the article",
                    zh: "same：两者都有；added：仅引文有；missing：仅条文有",
                  }),
                ),
                text: z.string(),
              }),
            )
            .meta(meaning({ en: "Empty if the words agree", zh: "一致时为空" })),
          agrees_with_version: date.nullable().meta(
            meaning({
              en: "Date of another version of the article that has these words",
              zh: "与本条另一版本一致时，该版本的日期",
            }),
          ),
          found_in: otherPlace
            .nullable()
            .meta(meaning({ en: "Another place that has these words", zh: "引文实际所在的条款" })),
        }),
      )
      .meta(meaning({ en: "Quotations of the article beside the citation", zh: "引注旁的引文" })),
    nearest: z
      .object({
        law_name: z.string(),
        article_no: z.string().nullable(),
        content: z.string().nullable(),
      })
      .nullable()
      .meta(
        meaning({
          en: "The nearest real law or article, if the cited one does not exist",
          zh: "所引不存在时，最接近的真实法律或条文",
        }),
      ),
    fits_article: z
      .object({
        law_name: z.string(),
        article_no: z.string().nullable(),
        content: z.string().nullable(),
      })
      .nullable()
      .meta(
        meaning({
          en: "The article of the law in force whose words the sentence around the citation has, if it is clearly not the cited one: the number may be that of an older version",
          zh: "引注所在句子的内容明显出自现行法另一条时的该条（所引条号可能是旧版的）",
        }),
      ),
    judgment: z
      .object({
        id: z.string(),
        title: z.string(),
        court_name: z.string(),
        judgment_date: date.nullable(),
      })
      .nullable()
      .meta(meaning({ en: "The cited judgment, if it is in the data", zh: "所引裁判文书（已收录时）" })),
  }),
  summary: z.object({
    date: date.meta(meaning({ en: "The date that was used", zh: "核查所依据的日期" })),
    citations: z
      .number()
      .int()
      .meta(meaning({ en: "Number of citations", zh: "引注数" })),
    with_problems: z
      .number()
      .int()
      .meta(meaning({ en: "Citations with a problem", zh: "有问题的引注数" })),
    not_checked: z
      .number()
      .int()
      .meta(
        meaning({
          en: "Citations that could not be checked, because the law or judgment is not in the data; those with a problem are not counted again",
          zh: "因未收录而无法核查的引注数，不含已计入有问题的引注",
        }),
      ),
  }),
  words: {
    case_no: word("Cited case number", "所引案号"),
    "quotations.start": word("Start in Unicode code points", "起点，按 Unicode 码点计"),
    "quotations.end": word("End in Unicode code points", "终点，按 Unicode 码点计"),
    "quotations.start_utf16": word("Start in UTF-16 code units", "起点，按 UTF-16 编码单元计"),
    "quotations.end_utf16": word("End in UTF-16 code units", "终点，按 UTF-16 编码单元计"),
    "differences.text": word("The words", "文字"),
    "found_in.paragraph": word("Paragraph (款)", "款"),
    effective_date: word("Date since which the text applies", "条文开始施行的日期"),
    expired_date: word("Date since which the text no longer applies", "条文停止施行的日期"),
    version_date: word("Version date", "该版本日期"),
    content: word("Text", "条文内容"),
    court_name: word("Court", "法院"),
    judgment_date: word("Judgment date", "裁判日期"),
  },
  kind: "list",
  paged: false,
  priceGroup: "standard",
  pricedPer: { count: 10, what: { en: "citations", zh: "处引注" } },
  bodyBytes: 262_144,
  cacheS: 86_400,
  example: {
    text: "《民法典》第五百七十七条规定：“当事人一方不履行合同义务或者履行合同义务不符合约定的，应当承担继续履行、采取补救措施或者赔偿损失等违约责任。”",
  },
});

/** The default date is today in China. Later dates are accepted: laws are published before they take effect. */
function fillDate(params: Params, today: string): Completed {
  return { params: { ...params, date: params["date"] ?? today } };
}
