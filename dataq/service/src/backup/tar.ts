/** A file of an archive. */
export interface TarFile {
  readonly name: string;
  readonly bytes: Buffer;
}

const BLOCK = 512;

/** A file as it is in a tar archive (POSIX ustar), so that `tar` and `zstd` can read a backup without dataq. */
export function tarEntry({ name, bytes }: TarFile, at: Date): Buffer {
  const header = Buffer.alloc(BLOCK);
  if (Buffer.byteLength(name) > 99) throw new Error(`The name ${name} is too long for an archive.`);
  header.write(name, 0);
  header.write("0000600\0", 100);
  header.write("0000000\0", 108);
  header.write("0000000\0", 116);
  header.write(`${bytes.length.toString(8).padStart(11, "0")}\0`, 124);
  header.write(
    `${Math.floor(at.getTime() / 1_000)
      .toString(8)
      .padStart(11, "0")}\0`,
    136,
  );
  header.write("0", 156);
  header.write("ustar\x0000", 257, "latin1");
  header.write(`${checksumOf(header).toString(8).padStart(6, "0")}\0 `, 148);
  return Buffer.concat([header, bytes, Buffer.alloc(padding(bytes.length))]);
}

/** The end of an archive. */
export const tarEnd = Buffer.alloc(2 * BLOCK);

/** Reads the files of an archive, each up to `mostBytes`. An archive that was cut off throws. */
export async function* readTar(source: AsyncIterable<Buffer>, mostBytes: number): AsyncGenerator<TarFile> {
  const reader = new Reader(source);
  for (;;) {
    const header = await reader.take(BLOCK);
    if (header.every((byte) => byte === 0)) return;
    const stated = Number.parseInt(textAt(header, 148, 8), 8);
    const size = Number.parseInt(textAt(header, 124, 12), 8);
    if (stated !== checksumOf(header))
      throw new Error("The file is not a backup of dataq, or it is damaged.");
    if (!(size >= 0 && size <= mostBytes))
      throw new Error(`The backup is damaged: a piece of it has ${size} bytes.`);
    const bytes = await reader.take(size);
    await reader.take(padding(size));
    yield { name: textAt(header, 0, 100), bytes };
  }
}

/** The sum of the bytes of a header, with its own field as spaces. */
function checksumOf(header: Buffer): number {
  let sum = 0;
  for (let place = 0; place < BLOCK; place++) sum += place >= 148 && place < 156 ? 32 : header[place]!;
  return sum;
}

function textAt(header: Buffer, start: number, length: number): string {
  return header.toString("utf8", start, start + length).replace(/[\0 ].*$/s, "");
}

function padding(size: number): number {
  return (BLOCK - (size % BLOCK)) % BLOCK;
}

class Reader {
  readonly #source: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  async take(size: number): Promise<Buffer> {
    const parts: Buffer[] = [this.#rest];
    let bytes = this.#rest.length;
    while (bytes < size) {
      const next = await this.#source.next();
      if (next.done) throw new Error("The backup is incomplete: the file ends too early.");
      parts.push(next.value);
      bytes += next.value.length;
    }
    const all = parts.length === 1 ? parts[0]! : Buffer.concat(parts);
    this.#rest = all.subarray(size);
    return all.subarray(0, size);
  }
}
