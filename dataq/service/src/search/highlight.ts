/** A text in which words can be marked. */
export interface MarkedText {
  readonly text: string;
  /** The text to search: in lower case, if that has the same length. */
  readonly form: string;
}

export function markable(text: string): MarkedText {
  const form = text.toLowerCase();
  // Lower case changes the length of a few letters. Positions would then not match the text.
  return { text, form: form.length === text.length && form !== text ? form : text };
}

/**
 * The part of a text that contains the most of the words, each marked with `<em>`. The text itself is escaped, so the
 * only markup in a highlight is ours. Null if it contains none of the words.
 */
export function highlight(
  { text, form }: MarkedText,
  words: readonly string[],
  options: { readonly width?: number; readonly prefer?: string } = {},
): string | null {
  const width = options.width ?? 120;
  const places = findAll(form, words);
  if (places.length === 0) return null;
  const preferred = options.prefer === undefined ? -1 : text.indexOf(options.prefer);
  const start = bestStart(places, words.length, width, preferred);
  const from = Math.max(0, start - margin);
  const to = Math.min(text.length, from + width);
  let out = "";
  let at = from;
  for (const place of places) {
    if (place.at < at || place.at + place.length > to) continue;
    out += `${escaped(text.slice(at, place.at))}<em>${escaped(text.slice(place.at, place.at + place.length))}</em>`;
    at = place.at + place.length;
  }
  out += escaped(text.slice(at, to));
  out = out.replaceAll("</em><em>", "");
  return `${from > 0 ? "…" : ""}${out.replace(/\s+/g, " ").trim()}${to < text.length ? "…" : ""}`;
}

const margin = 20;
/** Limits the work on a long text. The limit applies per word, so that a frequent word does not hide the others. */
const mostPlacesOfWord = 500;

interface Place {
  readonly at: number;
  readonly length: number;
  readonly word: number;
}

function findAll(form: string, words: readonly string[]): Place[] {
  const places: Place[] = [];
  for (const [index, word] of words.entries()) {
    if (word === "") continue;
    const most = places.length + mostPlacesOfWord;
    for (let at = form.indexOf(word); at !== -1; at = form.indexOf(word, at + word.length)) {
      places.push({ at, length: word.length, word: index });
      if (places.length === most) break;
    }
  }
  return places.sort((a, b) => a.at - b.at || b.length - a.length);
}

/** Start of the window with the most different words; in case of a tie, the first one after `preferred`. */
function bestStart(places: readonly Place[], words: number, width: number, preferred: number): number {
  let best = { start: places[0]?.at ?? 0, worth: -1 };
  const times = new Uint16Array(words);
  let different = 0;
  let end = 0;
  for (const [first, { at, word }] of places.entries()) {
    for (; end < places.length; end++) {
      const place = places[end] as Place;
      if (place.at + place.length > at + width - margin) break;
      const before = times[place.word] as number;
      times[place.word] = before + 1;
      if (before === 0) different++;
    }
    const worth = different + (preferred !== -1 && at >= preferred ? 0.5 : 0);
    if (worth > best.worth) best = { start: at, worth };
    // A word longer than the window was never counted.
    if (end === first) end++;
    else {
      const before = times[word] as number;
      times[word] = before - 1;
      if (before === 1) different--;
    }
  }
  return best.start;
}

function escaped(text: string): string {
  return text.replace(/[&<>]/g, (character) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[character] ?? "");
}
