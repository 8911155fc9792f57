import { type Words, word } from "./word.ts";

/** Indexes and hot lists. */
export const content: Words = {
  index: word("Index of the day", "当日指数"),
  trend: word("Days before it, oldest first", "此前各日，由旧到新"),
  disclaimer: word("What the values are not", "数据说明"),
};
