// Makes pixels of pictures, and samples of sounds. Runs in a separate process, because files may be made to harm what reads
// them.

import { readFile, writeFile } from "node:fs/promises";
import { readPicture } from "./picture-file.ts";
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
    const { width, height, rgb } = await readPicture(bytes, maxPixels);
    await writeFile(to, rgb, { mode: 0o600 });
    return { width, height };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { problem: reason.split("\n")[0]!.slice(0, 200) };
  }
}
