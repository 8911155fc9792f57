import { type ArticleNumber, lawKey, readArticleNumber } from "../../question/law-reference.ts";
import { decisionsOn, effectiveDateOfDecision } from "./decisions.ts";
import { effectiveDateInText, isEffectiveAtOnce } from "./law-history.ts";
import type { LawVersion } from "./law-version.ts";

/** The changes of an amending act to another law. Articles have the numbers that the act gives them. */
export interface AmendingAct {
  readonly date: string;
  readonly effectiveDate: string | null;
  /** Name of the act, such as 刑法修正案（八）; null if only its date is known. */
  readonly by: string | null;
  readonly articles: ReadonlyMap<string, "added" | "amended" | "repealed">;
}

/** Key of the law that an act amends: 刑法 for 中华人民共和国刑法修正案（八）. Null if the title is not that of an amending act. */
export function amendedLaw(title: string): string | null {
  const plain = title.normalize("NFKC").replace(/\s/g, "");
  const found =
    /^(.+?)修正案(?:\([^()]*\))*$/.exec(plain) ?? /关于修改[《<〈]([^《》]+)[》>〉]的决定$/.exec(plain);
  return found === null ? null : lawKey(found[1] as string);
}

/**
 * Reads an amending act. Undefined for an act without a date, because its position in the law's history is
 * unknown.
 */
export function readAmendingAct(version: LawVersion): AmendingAct | undefined {
  const { version_date: date, law_name: title, effective_date: stated } = version.facts;
  const law = amendedLaw(title);
  if (date === null || law === null) return undefined;
  const items = version.articles.flatMap(({ content }) => content.split(itemStart));
  const all = items.join("\n");
  const told = stated ?? effectiveDateInText(all, date);
  const atOnce = isEffectiveAtOnce(all) ? date : null;
  return {
    date,
    effectiveDate: effectiveDateOfDecision({ law, level: null, passed: date, line: null }) ?? told ?? atOnce,
    by: title.replace(/^中华人民共和国/, ""),
    articles: new Map(items.flatMap(changesIn)),
  };
}

/** Acts that are known even if no pack contains them. */
export function knownActs(law: string): AmendingAct[] {
  return decisionsOn(law).map(({ passed, effective, articles = [] }) => ({
    date: passed,
    effectiveDate: effective,
    by: null,
    articles: new Map(articles.map((label) => [label, "amended"])),
  }));
}

/** Returns the label of an article: 577, or 20-1 for 第二十条之一. */
export function labelOf({ number, sub }: ArticleNumber): string {
  return `${number}${sub === null ? "" : `-${sub}`}`;
}

const count = "[零〇一二三四五六七八九十百千]+";
const itemStart = new RegExp(`\\n(?=${count}、)`);
const article = new RegExp(`第${count}条(?:之${count})?`, "g");

/** Reads one item of an act, such as 在刑法第十七条后增加一条，作为第十七条之一：“…”. The quoted words are the new text. */
function changesIn(item: string): [string, "added" | "amended" | "repealed"][] {
  const told = item.replace(/“[^”]*”|"[^"]*"/g, "").split(/[“"：:]/)[0] ?? "";
  const added = /增加[一二三四五六七八九十]*条.*?作为(.*)$/s.exec(told);
  if (added !== null) return labelsIn(added[1] as string).map((label) => [label, "added"]);
  if (!/修改|增加|增写|删去|删除|改为/.test(told)) return [];
  const renumbered = new RegExp(`改为(第${count}条(?:之${count})?)`).exec(told);
  if (renumbered !== null) {
    const isChanged = /修改|增加|删去|删除/.test(told);
    return isChanged ? labelsIn(renumbered[1] as string).map((label) => [label, "amended"]) : [];
  }
  const isRepealed = new RegExp(`删[去除][^款项]*条(?:之${count})?[。]?\\s*$`).test(told);
  return labelsIn(told).map((label) => [label, isRepealed ? "repealed" : "amended"]);
}

/** 第一百二十三条至第一百二十七条 are five articles. */
function labelsIn(text: string): string[] {
  const numbers = [...text.matchAll(article)]
    .map(([found]) => readArticleNumber(found))
    .filter((n) => n !== undefined);
  const [first, last] = numbers;
  if (numbers.length === 2 && first && last && /至/.test(text)) {
    const length = last.number - first.number + 1;
    if (length > 1 && length < 100) return Array.from({ length }, (_, at) => String(first.number + at));
  }
  return numbers.map(labelOf);
}
