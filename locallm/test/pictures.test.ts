import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MediaDecoder } from "../src/vision/decoder.ts";
import { hostilePictures, realPictures } from "./hostile-pictures.ts";

describe("reading pictures", () => {
  let folder: string;
  const decoder = new MediaDecoder();
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "locallm-pictures-test-"));
  });
  afterAll(async () => {
    decoder.close();
    await rm(folder, { recursive: true, force: true });
  });
  let number = 0;
  const decode = async (bytes: Buffer, signal = new AbortController().signal) => {
    const from = join(folder, `${number++}`);
    await writeFile(from, bytes);
    const decoded = await decoder.decode({ kind: "picture", from, to: `${from}.rgb` }, signal);
    if ("rate" in decoded) throw new Error("A picture became a sound.");
    return "problem" in decoded ? decoded : { ...decoded, rgb: await readFile(`${from}.rgb`) };
  };
  const size = { width: 5, height: 3, channels: 3 } as const;
  const pixels = Buffer.from(Array.from({ length: 45 }, (_, index) => (index * 67) % 256));
  const picture = sharp(pixels, { raw: size });

  it.each([
    ["PNG", picture.clone().png()],
    ["PNG that is loaded in passes", picture.clone().png({ progressive: true })],
    ["lossless WebP", picture.clone().webp({ lossless: true })],
  ] as const)("gives the pixels of a %s", async (_, file) => {
    expect(await decode(await file.toBuffer())).toEqual({ width: 5, height: 3, rgb: pixels });
  });

  it("takes a GIF's first picture", async () => {
    const second = picture.clone().negate().raw();
    const both = Buffer.concat([pixels, await second.toBuffer()]);
    const gif = await sharp(both, { raw: { ...size, height: 6, pageHeight: 3 } })
      .gif({ dither: 0 })
      .toBuffer();
    const read = await decode(gif);
    expect(read).toMatchObject({ width: 5, height: 3 });
    if (!("rgb" in read)) return;
    const far = read.rgb.filter((value, index) => Math.abs(value - pixels[index]!) > 16).length;
    expect(far).toBeLessThan(5);
  });

  it("turns a photograph the way the camera was held", async () => {
    const turned = await picture.clone().withMetadata({ orientation: 6 }).png().toBuffer();
    expect(await decode(turned)).toMatchObject({ width: 3, height: 5 });
  });

  it("puts what is transparent on white, and makes three colours of grey and of 16 bits", async () => {
    const clear = sharp({
      create: { width: 1, height: 1, channels: 4, background: { r: 9, g: 8, b: 7, alpha: 0 } },
    });
    expect(await decode(await clear.png().toBuffer())).toMatchObject({ rgb: Buffer.from([255, 255, 255]) });
    const grey = await picture.clone().greyscale().toColourspace("b-w").png().toBuffer();
    expect(await decode(grey)).toMatchObject({ width: 5, height: 3, rgb: { length: 45 } });
    const deep = await picture.clone().toColourspace("rgb16").png().toBuffer();
    expect(await decode(deep)).toMatchObject({ width: 5, height: 3, rgb: { length: 45 } });
  });

  it("refuses hostile pictures, and reads the others meanwhile", async () => {
    const real = await realPictures();
    const right = await Promise.all(real.map((bytes) => decode(bytes)));
    let refused = 0;
    let index = 0;
    for await (const bytes of hostilePictures(200, 7)) {
      const [hostile, other] = await Promise.all([decode(bytes), decode(real[index % real.length]!)]);
      if ("problem" in hostile) refused++;
      else expect(hostile.rgb).toHaveLength(hostile.width * hostile.height * 3);
      expect(other).toEqual(right[index % real.length]);
      index++;
    }
    expect(refused).toBeGreaterThan(100);
  });

  it("leaves the line when the client leaves", async () => {
    const [bytes] = await realPictures();
    const gone = new AbortController();
    const all = Array.from({ length: 6 }, (_, index) =>
      decode(bytes!, index === 4 ? gone.signal : undefined),
    );
    gone.abort(new Error("gone"));
    const ends = await Promise.allSettled(all);
    expect(ends.map(({ status }) => status)).toEqual(
      all.map((_, index) => (index === 4 ? "rejected" : "fulfilled")),
    );
  });
});
