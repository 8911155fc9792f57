import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MediaEncoder } from "../src/vision/encoder.ts";
import { visionFolder } from "../src/vision/part.ts";
import { smallProjector, smallSeer } from "./small-projector.ts";

const engines = process.env["TEST_ENGINES"];

describe.skipIf(engines === undefined)("hostile projectors (needs TEST_ENGINES)", () => {
  let folder: string;
  const encoder = new MediaEncoder(() => 8 * 2 ** 30);
  const good = smallProjector("llava", 4);
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "locallm-projectors-"));
    await writeFile(join(folder, "model.gguf"), smallSeer("llava", 3));
    await writeFile(join(folder, "pixels"), Buffer.alloc(64 * 64 * 3, 99));
  });
  afterAll(async () => {
    encoder.close();
    await rm(folder, { recursive: true, force: true });
  });
  const outcome = async (bytes: Buffer, by = encoder) => {
    const projectorPath = join(folder, "projector.gguf");
    await writeFile(projectorPath, bytes);
    // The same name has other bytes now.
    by.close();
    const pixels = { from: join(folder, "pixels"), width: 64, height: 64 };
    const files = { ...pixels, to: join(folder, "rows"), identity: "a".repeat(64) };
    const request = {
      visionFolder: visionFolder(engines!)!,
      projectorPath,
      modelPath: join(folder, "model.gguf"),
    };
    const work = by.encode(files, { ...request, threads: 1 }, new AbortController().signal);
    return await work.then(
      () => "rows",
      (error: { code: string }) => error.code,
    );
  };
  const changed = (key: string, value: number) => {
    const bytes = Buffer.from(good);
    // A string's bytes, its type, and the value.
    bytes.writeUInt32LE(value, good.indexOf(key) + key.length + 4);
    return bytes;
  };

  it.each([
    ["embedding_length", 0, "projector_unusable"],
    ["embedding_length", 1, "picture_not_encoded"],
    ["block_count", 2 ** 31 - 1, "projector_unusable"],
    ["patch_size", 0, "projector_unusable"],
    ["image_size", 0, "picture_not_encoded"],
    ["image_size", 2 ** 32 - 1, "projector_unusable"],
  ])("says no to one whose %s is %d, and the next one works", async (key, value, expected) => {
    expect(await outcome(changed(`clip.vision.${key}`, value))).toBe(expected);
    expect(await outcome(good)).toBe("rows");
  });

  it("refuses one that does not fit into the memory, before it is loaded", async () => {
    expect(await outcome(good, new MediaEncoder(() => 512 * 2 ** 20))).toBe("projector_unusable");
    const roomy = new MediaEncoder(() => 512 * 2 ** 20 + good.length);
    expect(await outcome(good, roomy)).toBe("rows");
    roomy.close();
  });
});
