import type { Target } from "../../fuzz/target.ts";
import { readSound, UnreadableSound } from "../src/runner/sound-file.ts";
import { wave } from "../test/seeing.ts";

const longestSeconds = 2;

/** Sounds that clients send. No more comes out than the limit allows, and every sample can be played. */
export const target: Target = {
  covers: ["locallm/src/runner/sound-file.ts"],
  seeds: [
    wave(0.01),
    wave(0.01, 44_100, 2),
    Buffer.from("ID3\x04\0\0\0\0\x01\x00\xff\xf3\x38\xc4", "latin1"),
  ],
  async read(input) {
    const { rate, samples } = await readSound(input, longestSeconds);
    if (samples.length > rate * longestSeconds) throw new Error(`${samples.length} samples came out.`);
    if (samples.some((sample) => !(Math.abs(sample) <= 8))) throw new Error("A sample cannot be played.");
  },
  refuses: (error) => error instanceof UnreadableSound,
};
