import { type Message, say } from "../../../../importer/message.ts";
import type { LawText } from "./law-version.ts";

/** The facts that decide whether a text is a law. */
export interface Titled {
  readonly title: string;
  /** The pack's category for the text, such as 司法解释 or 案例/民法典. */
  readonly category: string;
  readonly articles: readonly LawText[];
}

/**
 * Returns the reason why a text is not a whole law; null if it is one. Amending acts count as separate laws.
 */
export function whyNotLaw({ title, category, articles }: Titled): Message | null {
  const name = plainTitle(title);
  if (category.startsWith("案例") || cases.test(name)) return say("law_case", { title });
  if (isPart(name)) return say("law_part", { title });
  if (annexes.test(name)) return say("law_annex", { title });
  if (guides.test(name)) return say("law_guide", { title });
  if (forms.test(name)) return say("law_form", { title });
  if (isCutOff(articles)) return say("law_cut_off", { title });
  return lawEndings.test(name) || isNumbered(articles) ? null : say("not_a_law", { title });
}

/** Whether a title names a part of a law, such as 第三编 合同 or 附则. */
export function isPart(title: string): boolean {
  return parts.test(plainTitle(title));
}

function plainTitle(title: string): string {
  return title
    .normalize("NFKC")
    .replace(/\s/g, "")
    .replace(/(?:\([^()]*\))+$/, "");
}

/** Whether a text is truncated: no law has only one chapter, and every law ends with its effective date. */
function isCutOff(articles: readonly LawText[]): boolean {
  const isFirstChapter =
    articles.length > 0 && articles.every(({ chapter }) => chapter?.startsWith("第一章"));
  return isFirstChapter && !/施行|实施|生效|废止/.test(articles.at(-1)?.content ?? "");
}

/** A text with an unusual title is a law if its articles start at 第一条. */
function isNumbered(articles: readonly LawText[]): boolean {
  return articles.length >= 3 && articles[0]?.articleNo === "第一条";
}

const count = "[零〇一二三四五六七八九十百千0-9]+";
const parts = new RegExp(
  `^(?:第${count}(?:编|分编|章|节).*|(?:总则|分则|附则|总纲|序言|前言|修正案|目录)(?:编|部分)?|[^法令例定]{1,8}[编章])$`,
);
const annexes = /^(?:附件|附表|附录|附图|附:)|(?:附件|附表|附录|附图)[零〇一二三四五六七八九十0-9]*$/;
const guides = /(?:攻略|指南|指引|手册|问答|解读|释义|须知|教程|导读|汇编)$/;
const forms = /(?:样式|式样|格式|文书|表格|登记表|申请表|一览表|范本|模板|申请书|委托书|清单|示范文本)$/;
const cases = /(?:典型案例|指导性?案例|案例选?|公报案例)$/;
const lawEndings =
  /(?:法|法典|条例|规定|办法|规则|细则|解释|批复|决定|决议|意见|通知|答复|复函|解答|安排|命令|令|方案|规范|规程|通则|纲要|章程|公告|修正案)$/;
