import { type Words, word } from "./word.ts";

/** Judgments and laws. */
export const legal: Words = {
  law_name: word("Name of the law", "法律名称"),
  article_no: word("Article", "条号"),
  law_id: word("Identifier of the law", "法律编号"),
  level: word("Rank of the law", "效力级别"),
  level_text: word("Rank of the law in Chinese", "效力级别（中文）"),
  issuing_body: word("Issuing body", "制定机关"),
  promulgated_date: word("Day of promulgation", "公布日期"),
  effective_date: word("In force from", "施行日期"),
  status: word("Whether it is in force", "时效性"),
  status_text: word("Whether it is in force, in Chinese", "时效性（中文）"),
};
