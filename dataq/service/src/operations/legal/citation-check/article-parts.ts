import { readNumber } from "../question/chinese-number.ts";

/** The paragraphs (款) of an article. Its items (项) belong to the paragraph before them. */
export function paragraphsOf(content: string): string[] {
  const paragraphs: string[] = [];
  for (const line of content.split(/\n+/)) {
    if (line.trim() === "") continue;
    if (paragraphs.length > 0 && /^\s*[(（][一二三四五六七八九十百]+[)）]/.test(line))
      paragraphs[paragraphs.length - 1] += `\n${line}`;
    else paragraphs.push(line);
  }
  return paragraphs;
}

/** Whether a text has an item with this number. */
export function hasItem(text: string, item: number): boolean {
  for (const [, number = ""] of text.matchAll(/[(（]([一二三四五六七八九十百]+)[)）]/g))
    if (readNumber(number) === item) return true;
  return false;
}

/** An item with the words that lead to all items. The whole text if it has no such item. */
export function withItem(text: string, item: number): string {
  const places = [...text.matchAll(/[(（]([一二三四五六七八九十百]+)[)）]/g)];
  const place = places.findIndex(([, number = ""]) => readNumber(number) === item);
  if (place === -1) return text;
  return `${text.slice(0, places[0]?.index)}\n${text.slice(places[place]?.index, places[place + 1]?.index)}`;
}
