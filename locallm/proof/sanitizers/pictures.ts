import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Random } from "../../../fuzz/random.ts";
import { Headers } from "../../src/library/headers.ts";
import { MediaDecoder } from "../../src/vision/decoder.ts";
import { type EncodeFiles, MediaEncoder } from "../../src/vision/encoder.ts";
import { visionFolder } from "../../src/vision/part.ts";
import { LocallmError } from "../../src/wire/errors.ts";
import { hostilePictures } from "../../test/hostile-pictures.ts";
import {
  type Family,
  families,
  type HearingFamily,
  hearingFamilies,
  smallHearer,
  smallProjector,
  smallSeer,
} from "../../test/small-projector.ts";

// A program of its own: `sanitizers.ts` starts it in a copy whose engine and libmtmd were built with sanitizers.
const [engines = "", projectors = "200", pictures = "400"] = process.argv.slice(2);

const oddNumbers = [0, 1, 2, 3, 7, 255, 65_535, 2 ** 24, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1, 0x7f_c0_00_00];

const folder = await mkdtemp(join(tmpdir(), "sanitizers-pictures-"));
const encoder = new MediaEncoder(() => 8 * 2 ** 30);
const decoder = new MediaDecoder();
const random = new Random(20_261_128);
const counts = new Map<string, number>();
const count = (what: string) => counts.set(what, (counts.get(what) ?? 0) + 1);
const never = new AbortController().signal;
try {
  for (const family of [...families, ...hearingFamilies])
    await writeFile(join(folder, `${family}.model`), smallSeer(family, 3));
  await tryProjectors(Number(projectors));
  await tryPictures(Number(pictures));
  await trySounds();
  for (const [what, times] of counts) console.log(`| ${what} | ${times} |`);
} finally {
  encoder.close();
  decoder.close();
  await rm(folder, { recursive: true, force: true });
}

/** Damaged headers that the gate lets pass are loaded, and asked for a picture or a sound. */
async function tryProjectors(wanted: number): Promise<void> {
  const all = [...families, ...hearingFamilies];
  for (let tried = 0; tried < wanted; ) {
    const family = random.pick(all);
    const bytes = damaged(good(family, 4));
    const path = join(folder, "hostile.mmproj");
    await writeFile(path, bytes);
    count("damaged projectors");
    try {
      await new Headers().of(path);
    } catch (error) {
      if (!(error instanceof LocallmError)) throw error;
      count("of which the gate refused");
      continue;
    }
    tried++;
    const outcome = await encoded(family, path, await media(family));
    count(`of which the engine opened: ${outcome}`);
    // The same name has other bytes next time.
    encoder.close();
  }
}

/** Pictures of all shapes, and hostile ones that can be decoded, for a good projector of each family. */
async function tryPictures(wanted: number): Promise<void> {
  const shapes = [1, 2, 27, 28, 63, 896, 1500].flatMap((side) => [
    { width: side, height: 1 },
    { width: 1, height: side },
    { width: side, height: Math.ceil(side * 0.77) },
  ]);
  for (const [index, family] of families.entries()) {
    const path = await goodFile(family);
    for (const { width, height } of shapes) {
      const from = join(folder, "pixels");
      await writeFile(from, Buffer.alloc(3 * width * height, random.below(256)));
      count(`pictures of odd shapes: ${await encoded(family, path, { from, width, height })}`);
    }
    checkEngine();
    const each = Math.ceil(wanted / families.length);
    for await (const picture of hostilePictures(each, 77 + index)) {
      const [from, to] = [join(folder, "picture"), join(folder, "pixels")];
      await writeFile(from, picture);
      count("hostile pictures");
      const made = await decoder.decode({ from, to, kind: "picture" }, never);
      if (!("width" in made)) count("of which the decoder refused");
      else {
        const { width, height } = made;
        count(`of which were encoded: ${await encoded(family, path, { from: to, width, height })}`);
      }
    }
  }
}

async function trySounds(): Promise<void> {
  for (const family of hearingFamilies) {
    const path = await goodFile(family);
    for (const length of [1, 2, 15, 159, 160, 161, 399, 400, 401, 16_000, 480_000, 480_001, 700_000]) {
      const from = join(folder, "samples");
      const samples = Float32Array.from({ length }, () => random.below(17) - 8);
      await writeFile(from, Buffer.from(samples.buffer));
      count(`sounds of odd lengths: ${await encoded(family, path, { from, rate: 16_000 })}`);
    }
  }
}

function good(family: Family | HearingFamily, seed: number): Buffer {
  return family === "ultravox" || family === "voxtral"
    ? smallHearer(family, seed)
    : smallProjector(family, seed);
}

async function goodFile(family: Family | HearingFamily): Promise<string> {
  const path = join(folder, `${family}.mmproj`);
  await writeFile(path, good(family, 5));
  return path;
}

async function media(family: Family | HearingFamily) {
  const from = join(folder, "media");
  if (family === "ultravox" || family === "voxtral") {
    await writeFile(from, Buffer.alloc(4 * 16_000));
    return { from, rate: 16_000 };
  }
  await writeFile(from, Buffer.alloc(3 * 64 * 48, 99));
  return { from, width: 64, height: 48 };
}

type Media = { readonly from: string } & (
  | { readonly width: number; readonly height: number }
  | { readonly rate: number }
);

/** "rows", or the code of the error. */
async function encoded(family: Family | HearingFamily, projectorPath: string, given: Media): Promise<string> {
  const files: EncodeFiles = { ...given, to: join(folder, "rows"), identity: "a".repeat(64) };
  const request = {
    visionFolder: visionFolder(engines)!,
    projectorPath,
    modelPath: join(folder, `${family}.model`),
    threads: 1,
  };
  return await encoder.encode(files, request, never).then(
    () => "rows",
    (error: unknown) => {
      if (!(error instanceof LocallmError)) throw error;
      return error.code;
    },
  );
}

/** Values of the projector's keys, shapes of its tensors, and bits of its header. */
function damaged(original: Buffer): Buffer {
  const bytes = Buffer.from(original);
  const text = original.toString("latin1");
  const keys = [...text.matchAll(/clip\.[\w.]+/g)].map(({ index, 0: key }) => index + key.length);
  const names = [...text.matchAll(/\b(?:[va]|mm)\.[\w.]+/g)].map(({ index, 0: name }) => index + name.length);
  for (let changes = 1 + random.below(3); changes > 0; changes--) {
    const kind = random.below(4);
    // After a key is the type of its value, and after a tensor's name the number of its sides.
    if (kind < 2) bytes.writeUInt32LE(random.pick(oddNumbers), random.pick(keys) + 4);
    else if (kind === 2) {
      const at = random.pick(names) + 4 + 8 * random.below(3);
      bytes.writeUInt32LE(random.below(2) === 0 ? random.below(64) : random.pick(oddNumbers), at);
    } else {
      const at = random.below(names.at(-1)!);
      bytes[at] = bytes[at]! ^ (1 << random.below(8));
    }
  }
  return bytes;
}

/** That the process which encodes has libmtmd and the engine with sanitizers open. */
function checkEngine(): void {
  const children = readFileSync(`/proc/self/task/${process.pid}/children`, "utf8").trim().split(" ");
  const maps = children.map((pid) => readFileSync(`/proc/${pid}/maps`, "utf8"));
  const library = readdirSync(visionFolder(engines)!).find((name) => /mtmd/.test(name))!;
  const isSanitized = readFileSync(join(visionFolder(engines)!, library)).includes("__asan_report");
  if (!isSanitized || !maps.some((text) => /libasan/.test(text) && /mtmd/.test(text)))
    throw new Error("no process has libmtmd with sanitizers open");
}
