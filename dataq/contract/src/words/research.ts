import { type Words, word } from "./word.ts";

/** Papers, patents, journals and scholars. */
export const research: Words = {
  paper_id: word("Paper ID", "论文编号"),
  scholar_id: word("Scholar ID", "学者编号"),
  orcid: word("ORCID", "ORCID"),
  abstract: word("Abstract", "摘要"),
  publication_date: word("Publication date", "发表或公布日期"),
  issn: word("ISSN", "ISSN"),
  citation_count: word("Citation count", "被引次数"),
  indexed_in: word("Indexes that list it", "收录数据库"),
  is_oa: word("Whether it is open access", "是否开放获取"),
  works_count: word("Number of papers", "论文数"),
};
