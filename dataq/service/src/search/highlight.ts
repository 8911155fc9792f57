/**
 * The part of a text that shows the most of the words, with each marked by `<em>`. The text itself is escaped, so
 * that the only markup in a highlight is ours. Null when none of the words stands in it.
 */
export function highlight(
  text: string,
  words: readonly string[],
  options: { readonly width?: number; readonly prefer?: string } = {},
): string | null {
  const width = options.width ?? 120;
  const places = findAll(text, words);
  if (places.length === 0) return null;
  const preferred = options.prefer === undefined ? -1 : text.indexOf(options.prefer);
  const start = bestStart(places, width, preferred);
  const from = Math.max(0, start - margin);
  const to = Math.min(text.length, from + width);
  const shown = places.filter((place) => place.at >= from && place.at + place.length <= to);
  let out = "";
  let at = from;
  for (const place of shown) {
    if (place.at < at) continue;
    out += `${escaped(text.slice(at, place.at))}<em>${escaped(text.slice(place.at, place.at + place.length))}</em>`;
    at = place.at + place.length;
  }
  out += escaped(text.slice(at, to));
  out = out.replaceAll("</em><em>", "");
  return `${from > 0 ? "…" : ""}${out.replace(/\s+/g, " ").trim()}${to < text.length ? "…" : ""}`;
}

const margin = 20;
const mostPlaces = 500;

interface Place {
  readonly at: number;
  readonly length: number;
  readonly word: number;
}

function findAll(text: string, words: readonly string[]): Place[] {
  const form = text.toLowerCase();
  // Lower case changes the length of a few letters; then places would not fit the text.
  const searched = form.length === text.length ? form : text;
  const places: Place[] = [];
  for (const [index, word] of words.entries()) {
    if (word === "") continue;
    for (let at = searched.indexOf(word); at !== -1; at = searched.indexOf(word, at + word.length)) {
      places.push({ at, length: word.length, word: index });
      if (places.length === mostPlaces) break;
    }
  }
  return places.sort((a, b) => a.at - b.at || b.length - a.length);
}

function bestStart(places: readonly Place[], width: number, preferred: number): number {
  let best = { start: places[0]?.at ?? 0, worth: -1 };
  for (const [first, { at }] of places.entries()) {
    const seen = new Set<number>();
    for (let i = first; i < places.length; i++) {
      const place = places[i] as Place;
      if (place.at + place.length > at + width - margin) break;
      seen.add(place.word);
    }
    const worth = seen.size + (preferred !== -1 && at >= preferred ? 0.5 : 0);
    if (worth > best.worth) best = { start: at, worth };
  }
  return best.start;
}

function escaped(text: string): string {
  return text.replace(/[&<>]/g, (character) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[character] ?? "");
}
