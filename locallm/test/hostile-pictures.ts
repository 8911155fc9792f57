import { crc32, deflateSync } from "node:zlib";
import sharp from "sharp";

/** The formats that pictures may have, as small real files. */
export async function realPictures(): Promise<readonly Buffer[]> {
  const noise = { type: "gaussian", mean: 128, sigma: 50 } as const;
  const picture = sharp({ create: { width: 61, height: 47, channels: 3, background: "red", noise } });
  return await Promise.all([
    picture.clone().png().toBuffer(),
    picture.clone().png({ palette: true }).toBuffer(),
    picture.clone().jpeg({ progressive: true }).toBuffer(),
    picture.clone().jpeg({ quality: 30 }).toBuffer(),
    picture.clone().webp().toBuffer(),
    picture.clone().webp({ lossless: true }).toBuffer(),
    picture.clone().gif().toBuffer(),
  ]);
}

/** Pictures that are made to harm who reads them: bytes changed, removed, repeated, and sizes that lie. */
export async function* hostilePictures(count: number, seed: number): AsyncGenerator<Buffer> {
  const real = await realPictures();
  const bombs = [
    pngBomb(60_000, 60_000, 0),
    pngBomb(2 ** 31 - 1, 2 ** 31 - 1, 0),
    pngBomb(30_000, 30_000, 200_000_000),
    gifBomb(65_535, 65_535),
    webpBomb(16_384, 16_384),
    jpegBomb(real[3]!, 65_500, 65_500),
  ];
  let state = seed;
  const random = (below: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  for (let index = 0; index < count; index++) {
    if (index < bombs.length) {
      yield bombs[index]!;
      continue;
    }
    const bytes = Buffer.from(real[index % real.length]!);
    const kind = random(5);
    if (kind === 0) yield bytes.subarray(0, random(bytes.length));
    else if (kind === 1) yield Buffer.concat([bytes.subarray(0, random(bytes.length)), bytes]);
    else if (kind === 2)
      yield Buffer.concat([bytes.subarray(0, 16), bytes.subarray(16 + random(bytes.length - 16))]);
    else {
      const changes = kind === 3 ? 1 + random(4) : 20 + random(200);
      // Sizes stand at the beginning.
      const reach = random(2) === 0 ? Math.min(64, bytes.length) : bytes.length;
      for (let change = 0; change < changes; change++) bytes[random(reach)] = random(256);
      yield bytes;
    }
  }
}

/** A PNG of this size whose pixels, all zero, are `inflated` bytes when they are unpacked. */
function pngBomb(width: number, height: number, inflated: number): Buffer {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 2, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    pngChunk("IHDR", head),
    pngChunk("IDAT", deflateSync(Buffer.alloc(inflated))),
    pngChunk("IEND", Buffer.alloc(0)),
  ]);
}

function pngChunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const chunk = Buffer.alloc(body.length + 8);
  chunk.writeUInt32BE(data.length, 0);
  body.copy(chunk, 4);
  chunk.writeUInt32BE(crc32(body), body.length + 4);
  return chunk;
}

function gifBomb(width: number, height: number): Buffer {
  const head = Buffer.from("GIF89a\0\0\0\0\x80\0\0\0\0\0\xff\xff\xff", "latin1");
  head.writeUInt16LE(width, 6);
  head.writeUInt16LE(height, 8);
  const frame = Buffer.from(",\0\0\0\0\0\0\0\0\0\x02\x02\x44\x01\0;", "latin1");
  frame.writeUInt16LE(width, 5);
  frame.writeUInt16LE(height, 7);
  return Buffer.concat([head, frame]);
}

/** A lossless WebP: 14 bits for each side, and nothing after them. */
function webpBomb(width: number, height: number): Buffer {
  const data = Buffer.alloc(8);
  data[0] = 0x2f;
  data.writeUInt32LE(((width - 1) | ((height - 1) << 14)) >>> 0, 1);
  const chunk = Buffer.concat([Buffer.from("VP8L\x08\0\0\0", "latin1"), data]);
  const size = Buffer.alloc(4);
  size.writeUInt32LE(chunk.length + 4);
  return Buffer.concat([Buffer.from("RIFF"), size, Buffer.from("WEBP"), chunk]);
}

/** A real JPEG that says it is larger. */
function jpegBomb(real: Buffer, width: number, height: number): Buffer {
  const bytes = Buffer.from(real);
  const frame = bytes.indexOf(Buffer.from([0xff, 0xc0]));
  bytes.writeUInt16BE(height, frame + 5);
  bytes.writeUInt16BE(width, frame + 7);
  return bytes;
}
