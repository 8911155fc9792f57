import assert from "node:assert/strict";
import type { Target } from "../../../fuzz/target.ts";
import { checkCitations } from "../src/operations/legal/citation-check/check-citations.ts";
import { findCitations } from "../src/operations/legal/citation-check/find-citations.ts";
import { LawRegister } from "../src/operations/legal/citation-check/law-register.ts";
import { PlainText } from "../src/operations/legal/citation-check/plain-text.ts";
import type { StoredArticle } from "../src/operations/legal/laws/corpus.ts";
import { lawKey, readArticleNumber } from "../src/operations/legal/question/law-reference.ts";
import { HeldArticles } from "../test/held-articles.ts";

const source = {
  name: "fuzz",
  kind: "third_party" as const,
  retrieved_at: "2026-01-01T08:00:00+08:00",
  content_sha256: "",
};

function article(
  law: string,
  number: string,
  versions: readonly (readonly [string, string | null])[],
): StoredArticle {
  return {
    id: `${lawKey(law)}:${number}`,
    law_name: law,
    article_no: number,
    article: readArticleNumber(number) ?? null,
    versions: versions.map(([day, content], place) => ({
      ...{
        law_id: `${law}@${day}`,
        law_name: law,
        level_text: "法律",
        issuing_body: null,
        status_text: "现行有效",
      },
      ...{ promulgated_date: day, effective_date: day, version_date: day, since: day },
      ...{ department: null, chapter: null, section: null, content, source },
      change: place === 0 ? ("original" as const) : ("amended" as const),
    })),
  };
}

const held = new HeldArticles([
  article("中华人民共和国民法典", "第五百七十七条", [
    [
      "2021-01-01",
      "当事人一方不履行合同义务或者履行合同义务不符合约定的，应当承担继续履行、采取补救措施或者赔偿损失等违约责任。",
    ],
  ]),
  article("中华人民共和国民法典", "第五百六十三条", [
    [
      "2021-01-01",
      "有下列情形之一的，当事人可以解除合同：\n（一）因不可抗力致使不能实现合同目的；\n（二）当事人一方迟延履行主要债务。\n不定期合同可以随时解除。",
    ],
  ]),
  article("中华人民共和国公司法", "第二十条", [
    ["2018-10-26", "公司股东应当遵守法律、行政法规和公司章程。"],
    ["2024-07-01", "公司从事经营活动，应当充分考虑公司职工、消费者的利益。"],
  ]),
]);
const register = new LawRegister(held.names);

/** Every citation lies in the text where its record says, and its words are those of the text. */
export const target: Target = {
  covers: ["dataq/service/src/operations/legal/citation-check"],
  seeds: [
    "根据《民法典》第五百七十七条，当事人一方不履行合同义务的，应当承担“继续履行、采取补救措施”的违约责任。",
    "依照公司法（2018修正）第二十条第一款、第21条之一第（二）项，股东应当守法。同法第22条亦同，该条第二款规定……",
    "《中华人民共和国民法典》（以下简称“本法”）第563条第1款第(三)项规定：「因不可抗力…可以解除合同」。（2023）京01民终123号",
    "Under Article 577 of the Civil Code, the party shall bear liability. 刑法264、266条 至第300条；**民诉法**第122条\n\n> 引用",
    "第五百\n七十七条 當事人一方不履行合同義務 民法典第1条至第900条",
  ],
  words: [
    "《",
    "》",
    "“",
    "”",
    "「",
    "」",
    "第",
    "条",
    "款",
    "项",
    "（",
    "）",
    "、",
    "。",
    "\n",
    "民法典",
    "同法",
    "该条",
    "前款",
    "本法",
    "以下简称",
    "公司法",
  ],
  longest: 3_000,
  bounds: { ms: 500, msPerKib: 200, mib: 64, mibPerKib: 32 },
  async read(input) {
    const text = input.toString().toWellFormed();
    const plain = new PlainText(text);
    const citations = findCitations(plain, register, 500);
    const now = new Date("2026-01-01T00:00:00Z");
    const records = await checkCitations({ plain, citations, register, held, date: "2026-01-01", now });
    assert.equal(records.length, citations.length);
    const characters = [...text];
    for (const { start, end, start_utf16, end_utf16, cited } of records) {
      assert(start < end && end <= characters.length, `A citation is at ${start} to ${end}.`);
      assert.equal(text.slice(start_utf16, end_utf16), characters.slice(start, end).join(""));
      assert(cited !== "");
    }
    for (const { quotations } of records)
      for (const { start, end, text: quoted } of quotations)
        assert(start <= end && end <= characters.length, quoted);
  },
};
