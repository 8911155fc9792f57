import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Target } from "../../fuzz/target.ts";
import { projectorSenses } from "../src/library/abilities.ts";
import { readGguf } from "../src/library/gguf/header.ts";
import { checkProjectorRules, ggufKind } from "../src/library/gguf/rules.ts";
import { LocallmError } from "../src/wire/errors.ts";
import { type Entry, f32, ggufBytes, text, u32 } from "../test/tiny-gguf.ts";

const folder = mkdtempSync(join(tmpdir(), "locallm-fuzz-"));
const path = join(folder, "mmproj.gguf");
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));

const yes: Entry = { kind: "bool", value: true };
const projector = (type: string, ...more: readonly [string, Entry][]): Buffer =>
  ggufBytes({
    metadata: [
      ["general.architecture", text("clip")],
      ["general.type", text("mmproj")],
      ["clip.projector_type", text(type)],
      ...more,
    ],
    tensors: [{ name: "v.post_ln.weight", shape: [8], type: 0, data: Buffer.alloc(32) }],
  });

/** Headers of projectors: what a model sees and hears with one, and how many cells one step must take for a picture. */
export const target: Target = {
  covers: [
    "locallm/src/library/gguf/header.ts",
    "locallm/src/library/gguf/rules.ts",
    "locallm/src/library/abilities.ts",
  ],
  seeds: [
    projector(
      "gemma3",
      ["clip.has_vision_encoder", yes],
      ["clip.vision.image_size", u32(896)],
      ["clip.vision.patch_size", u32(14)],
      ["clip.vision.projector.scale_factor", u32(4)],
    ),
    projector("gemma4v", ["clip.has_vision_encoder", yes], ["clip.vision.layer_norm_epsilon", f32(1e-6)]),
    projector("gemma3nv", ["clip.has_audio_encoder", yes], ["clip.audio.num_mel_bins", u32(80)]),
    projector("ultravox", ["clip.has_audio_encoder", yes]),
  ],
  words: ["clip.vision.projector_type", "projector", "mmproj", "deepseek4v", "gemma4uv", "constructor"],
  longest: 16_384,
  async read(input) {
    writeFileSync(path, input);
    const header = await readGguf(path);
    if (ggufKind(header) !== "projector") return;
    checkProjectorRules(header);
    const senses = projectorSenses(header);
    if (senses === null) return;
    const { sees, hears, wholePicture } = senses;
    if (!(sees || hears)) throw new Error("It neither sees nor hears.");
    // The engine makes room for so many cells before it reads a picture.
    if (!(Number.isInteger(wholePicture) && wholePicture >= 0 && wholePicture <= 8192))
      throw new Error(`A picture has ${wholePicture} cells.`);
  },
  refuses: (error) => error instanceof LocallmError,
};
