/** Lines of a byte stream. A line longer than the limit is returned as null, so that it does not stop the import. */
export async function* lines(
  chunks: AsyncIterable<Uint8Array>,
  longestBytes = 16 << 20,
): AsyncGenerator<Uint8Array | null> {
  let parts: Uint8Array[] = [];
  let size = 0;
  let isTooLong = false;
  for await (const chunk of chunks) {
    let from = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      const piece = chunk.subarray(from, end);
      from = end + 1;
      yield isTooLong || size + piece.length > longestBytes
        ? null
        : joined(parts, piece, size + piece.length);
      parts = [];
      size = 0;
      isTooLong = false;
    }
    const rest = chunk.subarray(from);
    size += rest.length;
    if (size > longestBytes) {
      isTooLong = true;
      parts = [];
    }
    // Copied, because a stream may reuse its buffer.
    if (!isTooLong && rest.length > 0) parts.push(Uint8Array.from(rest));
  }
  if (isTooLong) yield null;
  else if (size > 0) yield joined(parts, new Uint8Array(0), size);
}

function joined(parts: readonly Uint8Array[], last: Uint8Array, size: number): Uint8Array {
  if (parts.length === 0) return last;
  const out = new Uint8Array(size);
  let at = 0;
  for (const part of [...parts, last]) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}
