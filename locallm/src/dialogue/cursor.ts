/**
 * The text of an answer as it arrives. Readers are generators that look at `text` and yield `undefined` when
 * they need more. They give the same results however the text is split.
 */
export class Cursor {
  text = "";
  ended = false;
  /** Set while the reader holds nothing back and passes on all text that these markers cannot begin in. */
  plain: { readonly piece: (text: string) => unknown; readonly markers: readonly string[] } | null = null;

  take(length: number): string {
    const taken = this.text.slice(0, length);
    this.text = this.text.slice(length);
    return taken;
  }
}

/** Waits until the text is not empty. Returns false if the answer ends first. */
export function* more(cursor: Cursor): Generator<undefined, boolean> {
  while (cursor.text === "") {
    if (cursor.ended) return false;
    yield undefined;
  }
  return true;
}

export function* skipSpace(cursor: Cursor): Generator<undefined, void> {
  while (true) {
    cursor.text = cursor.text.trimStart();
    if (cursor.text !== "" || cursor.ended) return;
    yield undefined;
  }
}

/**
 * Takes the longest of several markers at the start of the text. Returns null and takes nothing if there is
 * none.
 */
export function* takeMarker(cursor: Cursor, markers: readonly string[]): Generator<undefined, string | null> {
  while (true) {
    // Take the longest marker, because one marker may begin with another.
    const found = markers
      .filter((marker) => cursor.text.startsWith(marker))
      .sort((a, b) => b.length - a.length)[0];
    const undecided =
      !cursor.ended &&
      markers.some((marker) => marker.length > cursor.text.length && marker.startsWith(cursor.text));
    if (!undecided) {
      if (found === undefined) return null;
      cursor.take(found.length);
      return found;
    }
    yield undefined;
  }
}

export interface Found {
  readonly marker: string;
  /** The white space before the marker, which was not passed on. */
  readonly space: string;
}

/**
 * Passes on all text before the first of these markers, as soon as the text cannot be part of a marker, and
 * takes the marker. Also holds back white space before a marker. Returns null at the end of the answer.
 */
export function* upTo<Piece>(
  cursor: Cursor,
  markers: readonly string[],
  piece: (text: string) => Piece,
): Generator<Piece | undefined, Found | null> {
  while (true) {
    let first = -1;
    let found: string | null = null;
    for (const marker of markers) {
      const at = cursor.text.indexOf(marker);
      if (at !== -1 && (first === -1 || at < first || (at === first && marker.length > found!.length))) {
        first = at;
        found = marker;
      }
    }
    const longer =
      found !== null &&
      !cursor.ended &&
      markers.some((marker) => waitsFor(marker, cursor.text.slice(first), found!));
    if (found !== null && !longer) {
      const before = cursor.take(first);
      const text = before.trimEnd();
      cursor.take(found.length);
      if (text !== "") yield piece(text);
      return { marker: found, space: before.slice(text.length) };
    }
    const free = cursor.ended ? cursor.text.length : first === -1 ? freeLength(cursor.text, markers) : 0;
    const text = cursor.take(free);
    if (text !== "") yield piece(text);
    if (cursor.ended) return null;
    if (cursor.text === "") cursor.plain = { piece, markers };
    yield undefined;
    cursor.plain = null;
  }
}

/** Whether `marker` is longer than the one found and could still match. */
function waitsFor(marker: string, text: string, found: string): boolean {
  return marker.length > found.length && marker.length > text.length && marker.startsWith(text);
}

/** The length of the text that can be neither part of a marker nor white space before one. */
function freeLength(text: string, markers: readonly string[]): number {
  if (markers.length === 0) return text.length;
  let free = text.length;
  for (const marker of markers) {
    const start = Math.max(0, text.length - marker.length + 1);
    for (let at = start; at < free; at += 1) {
      if (marker.startsWith(text.slice(at))) free = at;
    }
  }
  return text.slice(0, free).trimEnd().length;
}
