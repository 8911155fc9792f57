import type { Postings } from "../blocks/codec.ts";
import { PlaceReader } from "../blocks/places.ts";
import { lowerBound, ordinalsOf } from "../blocks/sets.ts";

/** A word of a phrase, with its positions in the phrase and in the documents. */
export interface PhraseWord {
  readonly at: number;
  readonly postings: Postings;
  readonly places: Uint8Array;
}

/** Returns the candidates in which the words have the right distances. All candidates contain every word. */
export function withPhrase(candidates: Uint32Array, words: readonly PhraseWord[]): Uint32Array {
  let left = candidates;
  /** For each remaining document, where the phrase may start. */
  let starts: number[][] = [];
  for (const [turn, word] of words.entries()) {
    const kept = new Uint32Array(left.length);
    const keptStarts: number[][] = [];
    eachPlaces(left, word, (ordinal, places, i) => {
      const begins = places.map((place) => place - word.at).filter((begin) => begin >= 0);
      const common = turn === 0 ? begins : inBoth(starts[i] as number[], begins);
      if (common.length === 0) return;
      kept[keptStarts.length] = ordinal;
      keptStarts.push(common);
    });
    left = kept.subarray(0, keptStarts.length);
    starts = keptStarts;
  }
  return left;
}

function eachPlaces(
  documents: Uint32Array,
  { postings, places }: PhraseWord,
  visit: (ordinal: number, places: number[], index: number) => void,
): void {
  const reader = new PlaceReader(places);
  const all = ordinalsOf(postings);
  let read = 0;
  for (let i = 0; i < documents.length; i++) {
    const ordinal = documents[i] as number;
    const at = lowerBound(all, ordinal, read);
    reader.skipDocuments(at - read);
    visit(ordinal, reader.nextDocument(), i);
    read = at + 1;
  }
}

function inBoth(a: readonly number[], b: readonly number[]): number[] {
  const out: number[] = [];
  let j = 0;
  for (const value of a) {
    while (j < b.length && (b[j] as number) < value) j++;
    if (b[j] === value) out.push(value);
  }
  return out;
}
