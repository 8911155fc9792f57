// Makes pixels of pictures, and samples of sounds. Runs in a separate process, because files may be made to harm what reads
// them.

import { readFile, writeFile } from "node:fs/promises";
import sharp from "sharp";
import { readSound } from "./sound-file.ts";

/**
 * Reads a file, and writes the red, green and blue of each pixel to another, or of a sound the samples of one channel as
 * 32-bit floats.
 */
export interface DecodeJob {
  readonly from: string;
  readonly to: string;
  readonly kind: "picture" | "sound";
  readonly maxPixels: number;
  readonly maxSeconds: number;
}

export type Decoded =
  | { readonly width: number; readonly height: number }
  | { readonly rate: number }
  | { readonly problem: string };

// One picture is read at a time, and no two are alike.
sharp.cache(false);
sharp.concurrency(1);

process.on("message", async (job: DecodeJob) => process.send?.(await decode(job)));
process.on("disconnect", () => process.exit(0));

async function decode({ from, to, kind, maxPixels, maxSeconds }: DecodeJob): Promise<Decoded> {
  try {
    const bytes = await readFile(from);
    if (kind === "sound") {
      const { rate, samples } = await readSound(bytes, maxSeconds);
      await writeFile(to, samples, { mode: 0o600 });
      return { rate };
    }
    const { data, info } = await sharp(bytes, { limitInputPixels: maxPixels, failOn: "error", pages: 1 })
      .autoOrient()
      // What is transparent has any colour. Most pictures of text are made to stand on white.
      .flatten({ background: "white" })
      .toColourspace("srgb")
      .raw({ depth: "uchar" })
      .toBuffer({ resolveWithObject: true });
    const { width, height, channels } = info;
    await writeFile(to, channels === 3 ? data : inThreeColours(data, channels), { mode: 0o600 });
    return { width, height };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { problem: reason.split("\n")[0]!.slice(0, 200) };
  }
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
