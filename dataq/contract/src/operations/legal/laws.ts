import { z } from "zod";
import { meaning } from "../../bilingual.ts";
import { defineOperation } from "../../operation.ts";
import { date, record } from "../../provenance.ts";
import { articleNumber } from "../../values/article-number.ts";
import { query, text } from "../../values/text.ts";
import { year } from "../../values/year.ts";
import { word } from "../../words/word.ts";
import { lawLevels, lawStatuses, statusBasis, statusBasisZh } from "./law-catalog.ts";

export const legalLaws = defineOperation({
  name: "legal_laws",
  domain: "legal",
  olderType: "law_article",
  title: { en: "Law articles", zh: "法律条文" },
  description: {
    en: "Articles of laws with their revision history, by law name and article number (Chinese or Arabic numerals) or by keywords. A year selects an older version.",
    zh: "按法律名称和条号（中文或阿拉伯数字）或关键词查询法律条文及其修订历史；写明年份或版本的，给出该版本的条文。",
  },
  needs: { en: "the texts of laws", zh: "法律法规全文" },
  params: z.object({
    query: query({
      en: "Law and article (民法典 第五百七十七条, 民法典577), with a year for an older version (公司法（2018修正） 第二十条), or keywords. May be empty if there is a filter",
      zh: "法律及条号（民法典 第五百七十七条、民法典577），查旧版本时加年份（公司法（2018修正） 第二十条），或关键词；有筛选条件时可为空",
    }),
    law: text({ en: "Filter: name of the law, such as 民法典", zh: "筛选：法律名称，如民法典" }).optional(),
    article: articleNumber({
      en: "Filter: article number, such as 577 or 第五百七十七条",
      zh: "筛选：条号，如 577 或第五百七十七条",
    }).optional(),
    year: year({
      en: "Filter: the version of this year. The law is named by law or query",
      zh: "筛选：该年的版本；法律由 law 或 query 指明",
    }).optional(),
  }),
  filters: ["law", "article", "year"],
  record: record({
    law_id: z.string(),
    law_name: z.string(),
    article_no: z.string().meta(meaning({ en: "Such as 第五百七十七条", zh: "如第五百七十七条" })),
    article_no_arabic: z.number().int().nullable(),
    article_sub: z
      .string()
      .nullable()
      .meta(meaning({ en: "Such as 之一", zh: "如之一" })),
    chapter: z.string().nullable(),
    section: z.string().nullable(),
    content: z.string(),
    level: z.enum(lawLevels),
    level_text: z.string(),
    issuing_body: z.string().nullable(),
    promulgated_date: date.nullable(),
    version_date: date.nullable().meta(
      meaning({
        en: "Date when this version of the law was passed or amended",
        zh: "条文所属版本的通过或修改日期",
      }),
    ),
    as_of: z
      .string()
      .nullable()
      .meta(
        meaning({
          en: "The year in the query, if any; the text is the one valid then. Null for the current text",
          zh: "提问所指的年份，条文为当时的文本；未指明年份时为 null，给出现行文本",
        }),
      ),
    law_effective_date: date.nullable().meta(
      meaning({
        en: "Date when this law took effect: its first text, or the last that replaced it as a whole. Null if unknown",
        zh: "该法开始施行的日期：以首次施行为准，其后全面修订另定施行日期的，以修订后为准；不详时为 null",
      }),
    ),
    wording_since: date.nullable().meta(
      meaning({
        en: "Date since which these words are in force: the article's last change, or else the law's last complete text. Null if an amendment that is not in the data may have changed them",
        zh: "本条现有文字开始施行的日期：以本条最近一次变动为准，未变动过的以该法最近一次全文通过或修订为准；其间有未收录的修改、无从确定时为 null",
      }),
    ),
    effective_date: date.nullable().meta(
      meaning({
        en: "The same as wording_since, under its older name",
        zh: "与 wording_since 相同，为沿用的旧名",
      }),
    ),
    expired_date: date.nullable().meta(
      meaning({
        en: "Date since which this text no longer applies",
        zh: "本条文字停止施行的日期",
      }),
    ),
    status: z.enum(lawStatuses),
    status_text: z.string(),
    status_basis: statusBasis,
    status_basis_zh: statusBasisZh,
    revisions: z
      .array(
        z.object({
          version_date: date,
          effective_date: date.nullable(),
          content: z
            .string()
            .nullable()
            .meta(
              meaning({
                en: "Null if this version does not contain the article, or its text is not available",
                zh: "该版本中没有本条，或者未收录当时的文本时为 null",
              }),
            ),
          change: z
            .enum(["original", "added", "amended", "repealed", "renumbered", "unchanged", "unknown"])
            .meta(
              meaning({
                en: "How this version changed the article; unknown for the oldest version available",
                zh: "该版本对本条文字的变动；已收录的最早版本无从得知时为 unknown",
              }),
            ),
          former_article_no: z
            .string()
            .nullable()
            .meta(
              meaning({
                en: "Article number in the previous version, if it was different",
                zh: "上一版本中的条号（条号有变动时）",
              }),
            ),
          by: z.string().nullable(),
        }),
      )
      .meta(
        meaning({
          en: "Oldest first, from the imported versions and amendments",
          zh: "由旧到新，依据已导入的版本与修正案",
        }),
      ),
    revisions_basis: z.enum(["compared_versions", "law_pack"]).meta(
      meaning({
        en: "Whether versions were compared, or only the dates of the law pack are known",
        zh: "由版本比对得出，或仅知数据包自带的日期",
      }),
    ),
    law_history: z.array(z.object({ date, text: z.string() })).meta(
      meaning({
        en: "How the law was passed and amended, from the law pack, oldest first; empty if unknown",
        zh: "数据包所载该法的通过与修改经过，由旧到新；没有则为空",
      }),
    ),
    highlights: z.array(z.string()),
    score: z.number().nullable(),
  }),
  words: {
    article_no_arabic: word("Article number in digits", "条号（阿拉伯数字）"),
    chapter: word("Chapter", "章"),
    section: word("Section", "节"),
    content: word("Text", "条文内容"),
    version_date: word("Version date", "该版本日期"),
    by: word("Amending decision", "修改所依据的决定"),
    "law_history.text": word("What happened to the law on that date", "该日对法律的通过或修改"),
  },
  kind: "list",
  paged: true,
  priceGroup: "standard",
  cacheS: 86_400,
  example: { query: "民法典 第五百七十七条" },
});
