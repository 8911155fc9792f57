/** A long text without special tokens, and how to tokenize a part of it. */
export interface LongText {
  /** The text as UTF-8. */
  readonly bytes: Buffer;
  tokenize(part: Buffer): Promise<readonly number[]>;
  /** The number of bytes of text that a token represents. */
  length(token: number): number;
  /**
   * Whether the text must be cut even where the tokens of two parts do not match, because the engine cannot
   * tokenize it whole.
   */
  readonly mustCut: boolean;
}

/**
 * The engine tokenizes a part of this size in at most 50 ms, and its stack is large enough for a word of this
 * length (see `stackBytes`).
 */
const partBytes = 16_384;
/**
 * Neighbouring parts overlap by this many bytes. They are joined where `agreeing` tokens in a row are equal.
 */
const overlapBytes = 2048;
const agreeing = 24;

/**
 * Tokenizes a text in parts, so that the work can be stopped between them. A tokenizer considers more than
 * one word, so neighbouring parts overlap and are joined where many tokens in a row are equal. Returns null
 * if no such place exists, or if tokens do not represent the text's own bytes. Stops early when it has more
 * than `limit` tokens. Throws the signal's reason.
 */
export async function joinParts(
  text: LongText,
  limit: number,
  signal?: AbortSignal,
): Promise<readonly number[] | null> {
  const { bytes } = text;
  const joined: (readonly number[])[] = [];
  let part = await readPart(text, 0);
  let begin = 0;
  let count = 0;
  while (part !== null) {
    signal?.throwIfAborted();
    if (part.to >= bytes.length || count + part.ids.length - begin > limit) {
      joined.push(part.ids.slice(begin));
      return joined.flat();
    }
    const restart = part.starts.findIndex((start) => start >= part!.to - overlapBytes);
    const next: Part | null = restart <= begin ? null : await readPart(text, part.starts[restart]!);
    const atRestart = text.mustCut ? { before: restart, after: 0 } : null;
    const meeting = next === null ? null : (meetingOf(part, restart, next) ?? atRestart);
    if (next === null || meeting === null) return null;
    joined.push(part.ids.slice(begin, meeting.before));
    count += meeting.before - begin;
    begin = meeting.after;
    part = next;
  }
  return null;
}

interface Part {
  readonly ids: readonly number[];
  /** Where each token starts in the whole text. */
  readonly starts: readonly number[];
  readonly to: number;
}

/** Returns null if the tokens do not add up to the part's bytes. */
async function readPart({ bytes, tokenize, length }: LongText, from: number): Promise<Part | null> {
  let to = Math.min(from + partBytes, bytes.length);
  while (to < bytes.length && isContinuation(bytes[to]!)) to--;
  const ids = await tokenize(bytes.subarray(from, to));
  const total = ids.reduce((sum, id) => sum + length(id), 0);
  // Some vocabularies add a space before every text.
  const added = total - (to - from);
  if (added < 0 || added > 1 || to === from) return null;
  let at = from - added;
  const starts = ids.map((id) => {
    const start = at;
    at += length(id);
    return start;
  });
  return { ids, starts, to };
}

/** The first position in the overlap from which both parts have `agreeing` equal tokens. */
function meetingOf(first: Part, restart: number, second: Part): { before: number; after: number } | null {
  let before = restart;
  let after = 0;
  let run = 0;
  while (before < first.ids.length && after < second.ids.length) {
    const [left, right] = [first.starts[before]!, second.starts[after]!];
    if (left === right && first.ids[before] === second.ids[after]) {
      run++;
      before++;
      after++;
      if (run === agreeing) return { before: before - run, after: after - run };
      continue;
    }
    run = 0;
    if (left <= right) before++;
    if (right <= left) after++;
  }
  return null;
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}
