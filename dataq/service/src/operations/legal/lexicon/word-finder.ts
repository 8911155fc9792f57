/** A word of the lexicon that occurs in a question, and where it starts, in UTF-16 units. */
export interface FoundAt {
  readonly word: string;
  readonly at: number;
}

/**
 * Finds the words of the lexicon in questions. A found word hides shorter words inside it. `A+B` is found if
 * both words occur, in any order and at any distance; `@name` stands for any word of that group.
 */
export class WordFinder {
  readonly #pieces: WordsByStart;
  /** The words of combinations and of their groups. */
  readonly #partWords: WordsByStart;
  /** The parts of combinations that a word can fill. */
  readonly #partsOf = new Map<string, string[]>();
  readonly #byFirstPart = new Map<string, Combination[]>();
  readonly #isMeaningless: (word: string) => boolean;

  /** `wholeWords` hide shorter words inside them and are not found themselves. */
  constructor(
    words: Iterable<string>,
    groups: ReadonlyMap<string, readonly string[]>,
    wholeWords: readonly string[],
  ) {
    const all = new Set(words);
    const meaningless = new Set(wholeWords.filter((word) => !all.has(word)));
    this.#isMeaningless = (word) => meaningless.has(word);
    this.#pieces = byStart([...[...all].filter((word) => !isCombination(word)), ...meaningless]);
    const combinations = [...all].filter(isCombination).map((word) => ({ word, parts: word.split("+") }));
    for (const each of combinations) addTo(this.#byFirstPart, each.parts[0] as string, each);
    for (const part of new Set(combinations.flatMap(({ parts }) => parts)))
      for (const word of groups.get(part) ?? [part]) addTo(this.#partsOf, word, part);
    this.#partWords = byStart(this.#partsOf.keys());
  }

  /** Returns single words first, by position, then combinations. */
  find(text: string): FoundAt[] {
    const pieces = this.#findPieces(text);
    const places = this.#placesOfParts(text, pieces);
    const found = pieces.filter(({ word }) => !this.#isMeaningless(word));
    for (const [part, at] of places)
      for (const { word, parts } of this.#byFirstPart.get(part) ?? [])
        if (parts.every((each) => places.has(each))) found.push({ word, at });
    return found;
  }

  #findPieces(text: string): FoundAt[] {
    const found: FoundAt[] = [];
    let end = 0;
    for (let at = 0; at < text.length; at++) {
      const word = this.#pieces.get(text.charAt(at))?.find((each) => text.startsWith(each, at));
      if (word === undefined || at + word.length <= end) continue;
      found.push({ word, at });
      end = at + word.length;
    }
    return found;
  }

  /** The parts that occur in the text, and where each first occurs. */
  #placesOfParts(text: string, pieces: readonly FoundAt[]): Map<string, number> {
    const isInside = new Uint8Array(text.length);
    for (const { word, at } of pieces) isInside.fill(1, at, at + word.length);
    const places = new Map<string, number>();
    for (let at = 0; at < text.length; at++)
      for (const word of this.#partWords.get(text.charAt(at)) ?? []) {
        // A single character counts only outside longer words: 打 in 打工 does not mean "hit".
        if (word.length === 1 ? isInside[at] === 1 : !text.startsWith(word, at)) continue;
        for (const part of this.#partsOf.get(word) ?? []) if (!places.has(part)) places.set(part, at);
      }
    return places;
  }
}

interface Combination {
  readonly word: string;
  readonly parts: readonly string[];
}

/** Words by their first character, longest first. */
type WordsByStart = ReadonlyMap<string, readonly string[]>;

function byStart(words: Iterable<string>): WordsByStart {
  const starts = new Map<string, string[]>();
  for (const word of words) addTo(starts, word.charAt(0), word);
  for (const list of starts.values()) list.sort((a, b) => b.length - a.length);
  return starts;
}

function addTo<Key, Item>(lists: Map<Key, Item[]>, key: Key, item: Item): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [item]);
  else list.push(item);
}

function isCombination(word: string): boolean {
  return word.includes("+") || word.startsWith("@");
}
