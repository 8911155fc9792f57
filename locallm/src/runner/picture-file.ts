import sharp from "sharp";

// One picture is read at a time, and no two are alike.
sharp.cache(false);
sharp.concurrency(1);

/** A picture as bytes: red, green and blue of each pixel, row by row. */
export interface ReadPicture {
  readonly width: number;
  readonly height: number;
  readonly rgb: Uint8Array;
}

/** Reads a picture of any format that `sharp` knows. Rejects with its reason, also if it has more pixels than `maxPixels`. */
export async function readPicture(bytes: Uint8Array, maxPixels: number): Promise<ReadPicture> {
  const { data, info } = await sharp(bytes, { limitInputPixels: maxPixels, failOn: "error", pages: 1 })
    .autoOrient()
    // What is transparent has any colour. Most pictures of text are made to stand on white.
    .flatten({ background: "white" })
    .toColourspace("srgb")
    .raw({ depth: "uchar" })
    .toBuffer({ resolveWithObject: true });
  const { width, height, channels } = info;
  return { width, height, rgb: channels === 3 ? data : inThreeColours(data, channels) };
}

/** A grey picture has one number for each pixel. */
function inThreeColours(data: Buffer, channels: number): Buffer {
  const pixels = data.length / channels;
  const rgb = Buffer.alloc(pixels * 3);
  for (let pixel = 0; pixel < pixels; pixel++)
    for (let colour = 0; colour < 3; colour++)
      rgb[pixel * 3 + colour] = data[pixel * channels + Math.min(colour, channels - 1)]!;
  return rgb;
}
