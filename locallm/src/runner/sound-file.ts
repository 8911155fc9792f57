import { MPEGDecoder } from "mpg123-decoder";
import type { Samples } from "../engine/projector.ts";
import { counted } from "../wire/counted.ts";

/** What is wrong with a file, as the end of a sentence. */
export class UnreadableSound extends Error {}

/** Reads a WAV or MP3 file. The channels become their mean. Throws `UnreadableSound`. */
export async function readSound(bytes: Buffer, maxSeconds: number): Promise<Samples> {
  const isWave = bytes.toString("latin1", 0, 4) === "RIFF" && bytes.toString("latin1", 8, 12) === "WAVE";
  const sound = isWave ? readWave(bytes, maxSeconds) : await readMp3(bytes, maxSeconds);
  if (sound.samples.length < 2) throw new UnreadableSound("it holds no sound");
  return sound;
}

const rates = { least: 1000, most: 384_000 };
/** Of a WAV file's numbers: whole ones, and with a fraction. `extensible` says it further behind. */
const encodings = { whole: 1, fraction: 3, extensible: 0xfffe };

type ReadNumber = (bytes: Buffer, at: number) => number;

/** How to read a number of so many bits. Those of 8 bits have no sign. */
const readers: Readonly<Record<string, ReadNumber>> = {
  [`${encodings.whole} 8`]: (bytes, at) => (bytes.readUInt8(at) - 128) / 2 ** 7,
  [`${encodings.whole} 16`]: (bytes, at) => bytes.readInt16LE(at) / 2 ** 15,
  [`${encodings.whole} 24`]: (bytes, at) => bytes.readIntLE(at, 3) / 2 ** 23,
  [`${encodings.whole} 32`]: (bytes, at) => bytes.readInt32LE(at) / 2 ** 31,
  [`${encodings.fraction} 32`]: (bytes, at) => bytes.readFloatLE(at),
  [`${encodings.fraction} 64`]: (bytes, at) => bytes.readDoubleLE(at),
};

function readWave(bytes: Buffer, maxSeconds: number): Samples {
  let format: { channels: number; rate: number; width: number; read: ReadNumber } | null = null;
  for (let at = 12; at + 8 <= bytes.length; ) {
    const name = bytes.toString("latin1", at, at + 4);
    // A program that writes to a pipe does not know the length before.
    const length = Math.min(bytes.readUInt32LE(at + 4), bytes.length - at - 8);
    const part = bytes.subarray(at + 8, at + 8 + length);
    if (name === "fmt ") format = waveFormat(part);
    if (name === "data") {
      if (format === null) throw new UnreadableSound("its data come before their format");
      return waveSamples(part, format, maxSeconds);
    }
    at += 8 + length + (length % 2);
  }
  throw new UnreadableSound("it has no data");
}

function waveFormat(part: Buffer) {
  if (part.length < 16) throw new UnreadableSound("its format is cut off");
  const [said, channels, rate, bits] = [
    part.readUInt16LE(0),
    part.readUInt16LE(2),
    part.readUInt32LE(4),
    part.readUInt16LE(14),
  ];
  const encoding = said === encodings.extensible && part.length >= 26 ? part.readUInt16LE(24) : said;
  const read = readers[`${encoding} ${bits}`];
  if (read === undefined)
    throw new UnreadableSound(`its encoding ${encoding} with ${bits} bits is not supported`);
  if (channels < 1 || channels > 32) throw new UnreadableSound(`it has ${channels} channels`);
  requireRate(rate);
  return { channels, rate, width: bits / 8, read };
}

function waveSamples(
  data: Buffer,
  { channels, rate, width, read }: ReturnType<typeof waveFormat>,
  maxSeconds: number,
): Samples {
  const count = Math.floor(data.length / (width * channels));
  requireLength(count, rate, maxSeconds);
  const samples = new Float32Array(count);
  for (let index = 0; index < count; index++) {
    let sum = 0;
    for (let channel = 0; channel < channels; channel++)
      sum += read(data, (index * channels + channel) * width);
    samples[index] = playable(sum / channels, 1);
  }
  return { rate, samples };
}

/** A few seconds at a time, so that a file of hours ends early. */
const pieceBytes = 64 * 2 ** 10;

async function readMp3(bytes: Buffer, maxSeconds: number): Promise<Samples> {
  const decoder = new MPEGDecoder();
  await decoder.ready;
  const pieces: Float32Array[] = [];
  let rate = 0;
  let count = 0;
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    const { channelData, sampleRate, samplesDecoded } = decoder.decode(
      new Uint8Array(bytes.subarray(at, at + pieceBytes)),
    );
    if (samplesDecoded === 0) continue;
    if (rate !== 0 && sampleRate !== rate) throw new UnreadableSound("its rate changes");
    rate = sampleRate;
    count += samplesDecoded;
    requireRate(rate);
    requireLength(count, rate, maxSeconds);
    pieces.push(mean(channelData, samplesDecoded));
  }
  decoder.free();
  const samples = new Float32Array(count);
  let at = 0;
  for (const piece of pieces) {
    samples.set(piece, at);
    at += piece.length;
  }
  return { rate, samples };
}

function mean(channels: readonly Float32Array[], count: number): Float32Array {
  return Float32Array.from({ length: count }, (_, index) =>
    playable(channels.reduce((sum, channel) => sum + (channel[index] ?? 0), 0) / channels.length, 8),
  );
}

/**
 * A number that is none, or far from what a speaker can play, comes from a broken file. What an MP3 gives of loud music is
 * above 1.
 */
function playable(sample: number, most: number): number {
  return Number.isFinite(sample) ? Math.max(-most, Math.min(most, sample)) : 0;
}

function requireRate(rate: number): void {
  if (rate < rates.least || rate > rates.most) throw new UnreadableSound(`it has ${rate} samples a second`);
}

function requireLength(count: number, rate: number, maxSeconds: number): void {
  if (count > maxSeconds * rate)
    throw new UnreadableSound(`it is longer than ${counted(maxSeconds, "second")}`);
}
