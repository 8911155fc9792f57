import { keyedImport } from "../../../importer/keyed-import.ts";

export const wechatImport = keyedImport(
  "content_wechat_index",
  ({ keyword, date }) => `${keyword}|${date}`,
  ({ keyword, date }) => [`${keyword}|${date}`],
  ({ date }) => date,
);
