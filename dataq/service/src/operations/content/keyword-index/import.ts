import { keyedImport } from "../../../importer/keyed-import.ts";

export const keywordImport = keyedImport(
  "content_keyword_index",
  ({ keyword, date }) => `${keyword}|${date}`,
  ({ keyword, date }) => [`${keyword}|${date}`],
  ({ date }) => date,
);
