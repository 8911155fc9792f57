import { z } from "zod";
import { meaning } from "../../bilingual.ts";
import { defineOperation } from "../../operation.ts";
import { date, record } from "../../provenance.ts";
import { word } from "../../words/word.ts";

export const lawLevels = [
  "constitution",
  "law",
  "administrative_regulation",
  "judicial_interpretation",
  "local",
  "departmental_rule",
  "other",
] as const;

/**
 * `unknown` means that no source states the status. A law is not in force merely because nothing else is
 * known.
 */
export const lawStatuses = ["in_force", "amended", "repealed", "not_yet_effective", "unknown"] as const;

/** A law is said not to be in force only with evidence; a pack's word alone makes the status `unknown`. */
export const statusBasis = z.string().meta(
  meaning({
    en: "The evidence for the status: the official list and its day, the repealing act, the newer version, the date, or what the data pack says",
    zh: "时效性的依据（英文）：官方目录及其日期、废止该法的文件、新版本、日期，或数据包的注明",
  }),
);

export const statusBasisZh = z.string().meta(
  meaning({
    en: "The same evidence in Chinese",
    zh: "时效性的依据（中文）：官方目录及其日期、废止该法的文件、新版本、日期，或数据包的注明",
  }),
);

export const legalLawCatalog = defineOperation({
  name: "legal_law_catalog",
  domain: "legal",
  olderType: "law_catalog",
  title: { en: "Catalogue of laws", zh: "法律目录" },
  description: {
    en: "Catalogue of laws and regulations by legal domain.",
    zh: "按法律部门列出的法律法规目录。",
  },
  needs: { en: "a catalogue of laws", zh: "法律目录" },
  params: z.object({}),
  record: record({
    domain_code: z.string(),
    domain_name: z.string().meta(meaning({ en: "Such as 民法商法", zh: "如民法商法" })),
    count: z.number().int(),
    laws: z.array(
      z.object({
        law_id: z.string(),
        law_name: z.string(),
        level: z.enum(lawLevels),
        level_text: z.string(),
        issuing_body: z.string().nullable(),
        promulgated_date: date.nullable(),
        effective_date: date.nullable().meta(
          meaning({
            en: "Date when this version took effect. Null if unknown",
            zh: "该版本开始施行的日期，不详时为 null",
          }),
        ),
        law_effective_date: date.nullable().meta(
          meaning({
            en: "Date when this law took effect: its first text, or the last that replaced it as a whole. Null if unknown",
            zh: "该法开始施行的日期：以首次施行为准，其后全面修订另定施行日期的，以修订后为准；不详时为 null",
          }),
        ),
        status: z.enum(lawStatuses),
        status_text: z.string(),
        status_basis: statusBasis,
        status_basis_zh: statusBasisZh,
        article_count: z.number().int(),
        text_held: z.boolean().meta(
          meaning({
            en: "False if the law is listed, but the text of this version is not held",
            zh: "false 表示只在目录中列出，未收录该版本的正文",
          }),
        ),
      }),
    ),
  }),
  words: {
    domain_code: word("Legal domain code", "法律部门代码"),
    count: word("Number of laws", "法律数量"),
    laws: word("Laws of this domain", "该部门的法律"),
    article_count: word("Number of articles", "条文数"),
  },
  kind: "list",
  paged: false,
  priceGroup: "standard",
  cacheS: 86_400,
  example: {},
});
