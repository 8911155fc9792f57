import assert from "node:assert/strict";
import type { Target } from "../../../fuzz/target.ts";
import { readArticles } from "../src/operations/legal/question/article-list.ts";
import { readNumber, writeNumber } from "../src/operations/legal/question/chinese-number.ts";
import { citationsInEnglish, inChinese } from "../src/operations/legal/question/foreign-names.ts";
import {
  isLawName,
  lawKey,
  readArticleNumber,
  readLawReference,
} from "../src/operations/legal/question/law-reference.ts";
import { readLawVersionYear } from "../src/operations/legal/question/law-version-year.ts";
import {
  articleMeanings,
  asksNothing,
  causesNamed,
  judgmentMeanings,
} from "../src/operations/legal/question/meanings.ts";

/** What people ask about laws and judgments, at most as long as a query may be. */
export const target: Target = {
  covers: ["dataq/service/src/operations/legal/question", "dataq/service/src/operations/legal/lexicon"],
  seeds: [
    "民法典第五百七十七条 违约责任",
    "《中华人民共和国刑法》第133条之一第2款第(三)项",
    "民诉法 122、124至126条",
    "Civil Code article 577 and Art. 12(3) of the Criminal Law",
    "请问公司法（2018年修正）第二十条怎么规定的？",
    "借款不还怎么办 利息太高",
    "中華人民共和國刑法第二百六十四條",
    "刑法修正案十一 两千零二",
  ],
  words: [
    "第",
    "条",
    "之",
    "款",
    "项",
    "十",
    "百",
    "千",
    "零",
    "至",
    "、",
    "《",
    "》",
    "(",
    ")",
    "　",
    "民法典",
    "article ",
    "法",
  ],
  longest: 800,
  // The first call reads the lists of words.
  bounds: { ms: 400 },
  read(input) {
    const text = input.toString().toWellFormed().normalize("NFKC").slice(0, 200);
    const { law, article } = readLawReference(text);
    assert.equal(law === null || lawKey(law) === law, true, `${law} is not in its normal form`);
    if (article !== null && article.number <= 9_999 && article.sub === null && article.number > 0)
      assert.equal(readNumber(writeNumber(article.number)), article.number);
    readArticles(text, true);
    readArticles(text, false);
    readArticleNumber(text);
    readLawVersionYear(text);
    isLawName(text);
    inChinese(text);
    citationsInEnglish(text);
    articleMeanings(text);
    judgmentMeanings(text);
    asksNothing(text);
    causesNamed(text);
  },
};
