/**
 * The paragraphs of a Word file as the reader of laws expects them, which is told apart by marks what is a heading: a Word
 * file has headings such as 二、合同的效力 as plain paragraphs, and they would end the article before them.
 */
export function lawLines(paragraphs: readonly string[]): string {
  return paragraphs
    .map((line, place) => (isHeading(line, paragraphs[place + 1]) ? `# ${line}` : line))
    .join("\n");
}

/** Headings stand before an article and end without a mark. An item of a list has one: 二、其他情形。 */
function isHeading(line: string, next: string | undefined): boolean {
  return next !== undefined && articleStart.test(next) && heading.test(line);
}

const count = "[零〇一二三四五六七八九十百]+";
const articleStart = new RegExp(`^第${count}条`);
const heading = new RegExp(`^(?:${count}、[^。；;：:！？]{1,40}|[总分附][\\s　]*则)$`);
