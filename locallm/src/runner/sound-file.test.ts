import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readSound, UnreadableSound } from "./sound-file.ts";

const two = (value: number) => Buffer.from(Uint16Array.of(value).buffer);
const four = (value: number) => Buffer.from(Uint32Array.of(value).buffer);
const chunk = (name: string, bytes: Buffer, length = bytes.length) =>
  Buffer.concat([Buffer.from(name), four(length), bytes, Buffer.alloc(bytes.length % 2)]);
const riff = (...chunks: Buffer[]) => {
  const body = Buffer.concat([Buffer.from("WAVE"), ...chunks]);
  return Buffer.concat([Buffer.from("RIFF"), four(body.length), body]);
};
const format = (encoding: number, bits: number, channels: number, rate = 8000, more = Buffer.alloc(0)) =>
  chunk(
    "fmt ",
    Buffer.concat([
      ...[two(encoding), two(channels), four(rate), four(0), two((bits / 8) * channels), two(bits), more],
    ]),
  );
const values = [0, 0.5, -0.5, 0.25, -1, 0.75];
const encoded: Readonly<Record<string, (value: number) => Buffer>> = {
  "1 8": (value) => Buffer.of(128 + value * 128),
  "1 16": (value) => Buffer.from(Int16Array.of(value * 2 ** 15).buffer),
  "1 24": (value) => four(value * 2 ** 23).subarray(0, 3),
  "1 32": (value) => Buffer.from(Int32Array.of(value * 2 ** 31).buffer),
  "3 32": (value) => Buffer.from(Float32Array.of(value).buffer),
  "3 64": (value) => Buffer.from(Float64Array.of(value).buffer),
};

it.each(Object.keys(encoded))("reads the numbers of a WAV file: encoding and bits %s", async (name) => {
  const [encoding = 0, bits = 0] = name.split(" ").map(Number);
  const data = Buffer.concat(values.map(encoded[name]!));
  const mono = riff(chunk("LIST", Buffer.from("odd")), format(encoding, bits, 1), chunk("data", data));
  expect(await readSound(mono, 1)).toEqual({ rate: 8000, samples: Float32Array.from(values) });
  // Two channels become their mean. A file from a pipe does not know its length.
  const guid = Buffer.concat([two(22), two(bits), four(3), two(encoding), Buffer.alloc(14)]);
  const stereo = riff(format(0xfffe, bits, 2, 8000, guid), chunk("data", data, 2 ** 32 - 1));
  expect((await readSound(stereo, 1)).samples).toEqual(Float32Array.of(0.25, -0.125, -0.125));
});

it("reads an MP3 file, also with tags before it", async () => {
  // Half a second of a tone of 440 Hz at half the loudness, by LAME at 24 kbit/s.
  const file = await readFile(join(import.meta.dirname, "../../test/tone.mp3"));
  const tags = Buffer.concat([Buffer.from("ID3\x04\0\0\0\0\x01\x00", "latin1"), Buffer.alloc(128)]);
  for (const bytes of [file, Buffer.concat([tags, file])]) {
    const { rate, samples } = await readSound(bytes, 1);
    expect(rate).toBe(16_000);
    expect(Math.abs(samples.length - 8000)).toBeLessThan(1300);
    const middle = samples.slice(2000, 6000);
    const power = (hertz: number) => {
      const turn = (index: number) => (2 * Math.PI * hertz * index) / rate;
      const sum = (part: (angle: number) => number) =>
        middle.reduce((all, sample, index) => all + sample * part(turn(index)), 0);
      return (2 * Math.hypot(sum(Math.cos), sum(Math.sin))) / middle.length;
    };
    expect(power(440)).toBeCloseTo(0.5, 1);
    expect(power(880)).toBeLessThan(0.02);
  }
});

it.each([
  ["is empty", Buffer.alloc(0), "it holds no sound"],
  ["is text", Buffer.from("ID3 and then words, words, words"), "it holds no sound"],
  ["has no data", riff(format(1, 16, 1)), "it has no data"],
  ["has data first", riff(chunk("data", Buffer.alloc(8))), "its data come before their format"],
  [
    "is compressed",
    riff(format(0x55, 16, 1), chunk("data", Buffer.alloc(8))),
    "its encoding 85 with 16 bits",
  ],
  ["has no channel", riff(format(1, 16, 0), chunk("data", Buffer.alloc(8))), "it has 0 channels"],
  ["is too slow", riff(format(1, 16, 1, 1), chunk("data", Buffer.alloc(8))), "it has 1 samples a second"],
  ["is too long", riff(format(1, 8, 1), chunk("data", Buffer.alloc(8001))), "it is longer than 1 second"],
  ["ends in its format", riff(chunk("fmt ", Buffer.alloc(8))), "its format is cut off"],
])("refuses a file that %s", async (_, bytes, reason) => {
  await expect(readSound(bytes, 1)).rejects.toThrow(UnreadableSound);
  await expect(readSound(bytes, 1)).rejects.toThrow(reason);
});
