import { type Words, word } from "./word.ts";

/** Indexes and hot lists. */
export const content: Words = {
  index: word("Index on that day", "当日指数"),
  trend: word("Previous days, oldest first", "此前各日，由旧到新"),
  disclaimer: word("Note about the values", "数据说明"),
};
