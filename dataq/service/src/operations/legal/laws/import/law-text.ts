import type { LawText } from "./law-version.ts";

const number = "[零〇一二三四五六七八九十百千]+";
const articleStart = new RegExp(`^\\**(第${number}条(?:之${number})?)\\**[\\s　]*(.*)$`);
const chapterLine = new RegExp(`^#*\\s*\\**(第${number}(?:编|章|分编)[\\s　]*.*?)\\**$`);
const sectionLine = new RegExp(`^#*\\s*\\**(第${number}节[\\s　]*.*?)\\**$`);
/** Settings of the website that a text was written for. */
const frontMatter = /^(?:sidebar|prev|next|title): /;
const annex = /^[#\s*]*(?:附件|附表|附录|附图|附)[\s　]*(?:[一二三四五六七八九十0-9]+|[:：]|\**$)/;

/** Splits a law's text in Markdown into articles. The lines before the first article are its head. */
export function readLawText(markdown: string): { head: string[]; articles: LawText[] } {
  const head: string[] = [];
  const articles: { articleNo: string; chapter: string | null; section: string | null; lines: string[] }[] =
    [];
  let chapter: string | null = null;
  let section: string | null = null;
  for (const raw of markdown.split("\n")) {
    const line = raw.replace(/\u200b/g, "").trim();
    if (line === "" || line === "---" || frontMatter.test(line)) continue;
    // Annexes follow the articles and have their own numbering.
    if (articles.length > 0 && annex.test(line)) break;
    const start = articleStart.exec(line);
    if (start !== null) {
      articles.push({ articleNo: start[1] as string, chapter, section, lines: [start[2] as string] });
      continue;
    }
    const heading = line.startsWith("#") || line.length < 40;
    const newSection = heading ? sectionLine.exec(line) : null;
    const newChapter = heading ? chapterLine.exec(line) : null;
    if (newSection !== null) section = plain(newSection[1] as string);
    else if (newChapter !== null) {
      chapter = plain(newChapter[1] as string);
      section = null;
    } else if (articles.length === 0) head.push(line);
    else if (!line.startsWith("#")) articles[articles.length - 1]?.lines.push(line.replaceAll("**", ""));
  }
  return {
    head,
    articles: articles
      .map(({ lines, ...rest }) => ({ ...rest, content: lines.join("\n").trim() }))
      .filter(({ content }) => content !== ""),
  };
}

function plain(heading: string): string {
  return heading.replace(/[\s　]+/g, " ").trim();
}
