import { type Words, word } from "./word.ts";

/** Judgments and laws. */
export const legal: Words = {
  law_name: word("Law name", "法律名称"),
  article_no: word("Article", "条号"),
  law_id: word("Law ID", "法律编号"),
  level: word("Level of the law", "效力级别"),
  level_text: word("Level of the law in Chinese", "效力级别（中文）"),
  issuing_body: word("Issuing body", "制定机关"),
  promulgated_date: word("Promulgation date", "公布日期"),
  effective_date: word("Effective date", "施行日期"),
  status: word("Validity status", "时效性"),
  status_text: word("Validity status in Chinese", "时效性（中文）"),
};
