/** A part of a page below its own heading. */
export interface Section {
  readonly address: string;
  readonly page: string;
  readonly heading: string;
  readonly text: string;
}

export interface Hit {
  readonly section: Section;
  /** The passage around the first word that was found, in pieces; every second piece is such a word. */
  readonly passage: readonly string[];
}

/** The whole text is a few hundred kilobytes: looking through it takes less time than an index would take to load. */
export function find(sections: readonly Section[], question: string, most = 24): Hit[] {
  const asked = question.trim().toLowerCase();
  if (asked === "") return [];
  const words = wordsOf(asked);
  const ranked = sections.flatMap((section) => {
    const score = scoreOf(section, asked, words);
    return score === 0 ? [] : { section, score };
  });
  ranked.sort((one, other) => other.score - one.score);
  return ranked.slice(0, most).map(({ section }) => ({ section, passage: passageOf(section.text, words) }));
}

/**
 * Words of Latin script are what stands between spaces; Chinese is cut into words by the browser's dictionary. A word that
 * no dictionary has is found by its characters, because every word is searched as a part of the text.
 */
export function wordsOf(asked: string): string[] {
  const cut = new Intl.Segmenter("zh", { granularity: "word" });
  const words = asked
    .split(/\s+/)
    .flatMap((part) =>
      /[\u4e00-\u9fff]/.test(part)
        ? [...cut.segment(part)].filter((each) => each.isWordLike).map(({ segment }) => segment)
        : part,
    )
    .filter((word) => word !== "");
  return [...new Set(words)];
}

/** All words must be there. A heading counts more than a text, the question as it was typed more than its words. */
function scoreOf({ page, heading, text }: Section, asked: string, words: readonly string[]): number {
  const [title, head, body] = [page.toLowerCase(), heading.toLowerCase(), text.toLowerCase()];
  let score = 0;
  for (const word of words) {
    const inHead = head.includes(word);
    const inTitle = title.includes(word);
    const count = Math.min(body.split(word).length - 1, 5);
    if (!inHead && !inTitle && count === 0) return 0;
    score += (inHead ? 12 : 0) + (inTitle ? (heading === "" ? 14 : 3) : 0) + count;
  }
  if (head.includes(asked)) score += 20 + (head === asked ? 20 : 0);
  if (heading === "" && title.includes(asked)) score += 25;
  return score + (body.includes(asked) ? (words.length > 1 ? 20 : 6) : 0);
}

function passageOf(text: string, words: readonly string[]): string[] {
  const lower = text.toLowerCase();
  const places = words.map((word) => lower.indexOf(word)).filter((place) => place !== -1);
  const first = places.length === 0 ? 0 : Math.min(...places);
  const start = wordStart(text, Math.max(0, first - 40), first);
  const end = wordEnd(text, start + 140, first);
  const passage = text.slice(start, end);
  const pattern = new RegExp(
    `(${words.map((word) => word.replaceAll(/[^\p{L}\p{N}]/gu, "\\$&")).join("|")})`,
    "i",
  );
  return `${start > 0 ? "…" : ""}${passage}${end < text.length ? "…" : ""}`.split(new RegExp(pattern, "gi"));
}

/** A word of Latin script is not cut; in Chinese any place will do. Words without an end are cut all the same. */
const inWord = /[\p{Script=Latin}\p{N}_'’-]/u;

function wordStart(text: string, at: number, most: number): number {
  for (let place = at; place > 0 && place < most; place++)
    if (!inWord.test(text[place - 1]!) || !inWord.test(text[place]!)) return trimmed(text, place, most);
  return at;
}

function trimmed(text: string, at: number, most: number): number {
  return at < most && text[at] === " " ? at + 1 : at;
}

function wordEnd(text: string, at: number, least: number): number {
  if (at >= text.length) return text.length;
  for (let place = at; place > least; place--)
    if (!inWord.test(text[place - 1]!) || !inWord.test(text[place]!))
      return text.slice(0, place).trimEnd().length;
  return at;
}
