import { z } from "zod";
import { meaning } from "../../bilingual.ts";
import { defineOperation } from "../../operation.ts";
import { date, record } from "../../provenance.ts";
import { text } from "../../values/text.ts";
import { word } from "../../words/word.ts";
import { lawLevels, lawStatuses } from "./law-catalog.ts";

export const legalLaws = defineOperation({
  name: "legal_laws",
  domain: "legal",
  olderType: "law_article",
  title: { en: "Law articles", zh: "法律条文" },
  description: {
    en: "Text of law articles by law name and article number (Chinese or Arabic numerals) or by words, with revision history.",
    zh: "按法律名称和条号（中文或阿拉伯数字）或关键词查询法律条文及其修订历史。",
  },
  needs: { en: "the texts of laws", zh: "法律法规全文" },
  params: z.object({
    query: text({
      en: "Law and article (民法典 第五百七十七条, 民法典577) or words to find",
      zh: "法律及条号（民法典 第五百七十七条、民法典577），或关键词",
    }),
  }),
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
    effective_date: date.nullable(),
    expired_date: date.nullable(),
    status: z.enum(lawStatuses),
    status_text: z.string(),
    revisions: z
      .array(
        z.object({
          version_date: date,
          effective_date: date.nullable(),
          content: z.string().nullable(),
          change: z.enum(["original", "added", "amended", "repealed", "unchanged"]),
          by: z.string().nullable(),
        }),
      )
      .meta(
        meaning({
          en: "Oldest first; only what the imported versions show",
          zh: "由旧到新，仅含已导入版本所示",
        }),
      ),
    revisions_basis: z.enum(["compared_versions", "law_pack"]).meta(
      meaning({
        en: "Whether versions were compared, or only the pack's own dates are known",
        zh: "由版本比对得出，或仅知数据包自带的日期",
      }),
    ),
    law_history: z.array(z.object({ date, text: z.string() })).meta(
      meaning({
        en: "How the whole law was passed and amended, as a law pack tells it, oldest first; empty where none does",
        zh: "数据包所载该法的通过与修改经过，由旧到新；没有则为空",
      }),
    ),
    highlights: z.array(z.string()),
    score: z.number().nullable(),
  }),
  words: {
    article_no_arabic: word("Article as a number", "条号（阿拉伯数字）"),
    chapter: word("Chapter", "章"),
    section: word("Section", "节"),
    content: word("Text", "条文内容"),
    expired_date: word("No longer in force from", "失效日期"),
    version_date: word("Day of this version", "该版本日期"),
    change: word("What this version did to the article", "该版本对本条的变动"),
    by: word("Decision that changed it", "修改所依据的决定"),
    "law_history.text": word("What happened to the law that day", "该日对法律的通过或修改"),
  },
  kind: "list",
  paged: true,
  priceGroup: "standard",
  cacheS: 86_400,
  example: { query: "民法典 第五百七十七条" },
});
