import sharp from "sharp";
import type { Target } from "../../fuzz/target.ts";
import { readPicture } from "../src/runner/picture-file.ts";

const maxPixels = 40_000;

/** The same in each run. */
const pixels = sharp(
  Buffer.from(Array.from({ length: 31 * 23 * 3 }, (_, at) => (at * 37 + (at >> 3)) & 255)),
  {
    raw: { width: 31, height: 23, channels: 3 },
  },
);
const real = await Promise.all([
  pixels.clone().png().toBuffer(),
  pixels.clone().png({ palette: true, colours: 8 }).toBuffer(),
  pixels.clone().greyscale().png().toBuffer(),
  pixels.clone().jpeg({ progressive: true }).toBuffer(),
  pixels.clone().withMetadata({ orientation: 6 }).jpeg().toBuffer(),
  pixels.clone().webp().toBuffer(),
  pixels.clone().webp({ lossless: true }).toBuffer(),
  pixels.clone().gif().toBuffer(),
]);

/** Pictures that clients send: no more pixels come out than the limit allows, and three colours for each. */
export const target: Target = {
  covers: ["locallm/src/runner/picture-file.ts"],
  seeds: [
    ...real,
    '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="5" height="5"/></svg>',
  ],
  longest: 8_192,
  // The limit of pixels as bytes in several stages, and the libraries that are loaded with the first picture.
  bounds: { ms: 400, mib: 64 },
  async read(input) {
    const { width, height, rgb } = await readPicture(input, maxPixels);
    if (width * height > maxPixels) throw new Error(`${width} × ${height} pixels came out.`);
    if (rgb.length !== 3 * width * height)
      throw new Error(`${rgb.length} bytes for ${width} × ${height} pixels.`);
  },
  // The libraries say no in many words.
  refuses: (error) =>
    error instanceof Error && !/pixels/.test(error.message.replace("exceeds pixel limit", "")),
};
