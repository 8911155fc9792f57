import type { Random } from "./random.ts";

/** What a new input is made of. */
export interface Material {
  readonly words: readonly string[];
  /** Another input of the corpus. */
  other(): Buffer;
  readonly longest: number;
}

/** Changes an input in one to eight places. Inputs that are JSON are often changed as trees. */
export function mutate(input: Buffer, material: Material, random: Random): Buffer {
  let changed = input;
  for (let rounds = 1 << random.below(4); rounds > 0; rounds -= 1) {
    const tree = random.below(3) > 0 ? parsed(changed) : undefined;
    changed =
      tree === undefined
        ? random.pick(byteChanges)(changed, material, random)
        : Buffer.from(JSON.stringify(changedTree(tree, material, random)));
    if (changed.length > material.longest) changed = changed.subarray(0, material.longest);
  }
  return changed;
}

type Change = (input: Buffer, material: Material, random: Random) => Buffer;

const oddNumbers = [0, 1, 7, 8, 127, 128, 255, 256, 32767, 65535, 65536, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1];
const oddBigNumbers = [
  0n,
  1n,
  1n << 31n,
  1n << 32n,
  1n << 40n,
  (1n << 53n) + 1n,
  1n << 62n,
  (1n << 64n) - 1n,
];
const oddTexts = ["-1", "1e999", "0x10", "00", "1.5", "9007199254740993", "4294967296", "NaN", "-0"];

const byteChanges: readonly Change[] = [
  (input, _, random) => {
    const copy = Buffer.from(input);
    if (copy.length > 0) copy[random.below(copy.length)]! ^= 1 << random.below(8);
    return copy;
  },
  (input, _, random) => {
    const copy = Buffer.from(input);
    if (copy.length > 0) copy[random.below(copy.length)] = random.below(256);
    return copy;
  },
  (input, { words }, random) =>
    insert(input, random.below(input.length + 1), Buffer.from(random.pick(words))),
  (input, { words }, random) => {
    const word = Buffer.from(random.pick(words));
    const at = random.below(input.length + 1);
    return Buffer.concat([input.subarray(0, at), word, input.subarray(at + word.length)]);
  },
  (input, _, random) => {
    const { from, to } = range(input, random);
    return Buffer.concat([input.subarray(0, from), input.subarray(to)]);
  },
  (input, _, random) => {
    const { from, to } = range(input, random);
    return insert(input, random.below(input.length + 1), input.subarray(from, to));
  },
  // Repetition shows what takes more than linear time.
  (input, { longest }, random) => {
    const { from, to } = range(input, random, 64);
    const piece = input.subarray(from, to);
    if (piece.length === 0) return input;
    const times = Math.min(1 << random.below(12), Math.floor(longest / piece.length));
    return insert(input, to, Buffer.concat(Array.from({ length: times }, () => piece)));
  },
  (input, { other }, random) => {
    const from = other();
    const piece = range(from, random);
    return insert(input, random.below(input.length + 1), from.subarray(piece.from, piece.to));
  },
  (input, { other }, random) => {
    const tail = other();
    const head = input.subarray(0, random.below(input.length + 1));
    return Buffer.concat([head, tail.subarray(random.below(tail.length + 1))]);
  },
  (input, _, random) => {
    if (input.length < 8) return input;
    const copy = Buffer.from(input);
    const at = random.below(copy.length - 7);
    const kind = random.below(4);
    if (kind === 0) copy.writeUInt32LE(random.pick(oddNumbers), at);
    else if (kind === 1) copy.writeUInt16LE(random.pick(oddNumbers) & 0xffff, at);
    else if (kind === 2) copy.writeUInt32BE(random.pick(oddNumbers), at);
    else copy.writeBigUInt64LE(random.pick(oddBigNumbers), at);
    return copy;
  },
  (input, _, random) => {
    const text = input.toString("latin1");
    const found = [...text.matchAll(/\d+/g)];
    if (found.length === 0) return input;
    const { index, 0: digits } = random.pick(found);
    const number = random.below(2) === 0 ? random.pick(oddTexts) : String(random.pick(oddNumbers));
    return Buffer.from(text.slice(0, index) + number + text.slice(index + digits.length), "latin1");
  },
  (input, _, random) => {
    const lines = input.toString("latin1").split("\n");
    const [line] = lines.splice(random.below(lines.length), 1);
    lines.splice(random.below(lines.length + 1), 0, line!);
    return Buffer.from(lines.join("\n"), "latin1");
  },
  (input, _, random) => input.subarray(0, random.below(input.length + 1)),
];

function insert(input: Buffer, at: number, piece: Uint8Array): Buffer {
  return Buffer.concat([input.subarray(0, at), piece, input.subarray(at)]);
}

function range(input: Buffer, random: Random, most = input.length) {
  const from = random.below(input.length + 1);
  return { from, to: from + random.below(Math.min(most, input.length - from) + 1) };
}

function parsed(input: Buffer): unknown {
  const [first] = input;
  if (first !== 0x7b && first !== 0x5b) return undefined;
  try {
    return JSON.parse(input.toString("utf8"));
  } catch {
    return undefined;
  }
}

/** Changes one place of a JSON value. */
function changedTree(value: unknown, material: Material, random: Random): unknown {
  const places: Place[] = [];
  collect(value, places, 0);
  if (places.length === 0) return value;
  const { holder, key } = random.pick(places);
  const kind = random.below(7);
  if (kind === 0 && Array.isArray(holder)) holder.splice(key as number, 1);
  else if (kind === 0) delete (holder as Tree)[key];
  else if (kind === 1) put(holder, key, scalar(material, random));
  else if (kind === 2) {
    const from = random.pick(places);
    put(holder, key, structuredClone((from.holder as Tree)[from.key]));
  } else if (kind === 3) {
    const others: Place[] = [];
    collect(parsed(material.other()), others, 0);
    const from = others.length === 0 ? undefined : random.pick(others);
    if (from !== undefined) put(holder, key, structuredClone((from.holder as Tree)[from.key]));
  } else if (kind === 4 && !Array.isArray(holder)) {
    const name = random.below(2) === 0 ? random.pick(material.words) : String(random.pick(places).key);
    const inner = (holder as Tree)[key];
    if (random.below(2) === 0) delete (holder as Tree)[key];
    put(holder, name, inner);
  } else if (kind === 5) {
    const inner = (holder as Tree)[key];
    put(holder, key, random.below(2) === 0 ? [inner] : { [random.pick(material.words)]: inner });
  } else if (Array.isArray(holder)) holder.splice(key as number, 0, scalar(material, random));
  else put(holder, random.pick(material.words), scalar(material, random));
  return value;
}

type Tree = Record<string | number, unknown>;
interface Place {
  readonly holder: object;
  readonly key: string | number;
}

const deepest = 200;

function collect(value: unknown, places: Place[], depth: number): void {
  if (typeof value !== "object" || value === null || depth > deepest) return;
  for (const key of Array.isArray(value) ? value.keys() : Object.keys(value)) {
    places.push({ holder: value, key });
    collect((value as Tree)[key], places, depth + 1);
  }
}

/** `__proto__` becomes a name like any other. */
function put(holder: object, key: string | number, value: unknown): void {
  Object.defineProperty(holder, key, { value, writable: true, enumerable: true, configurable: true });
}

function scalar({ words }: Material, random: Random): unknown {
  const kind = random.below(6);
  if (kind < 3) return random.pick(words);
  if (kind === 3) return random.pick(oddNumbers) * random.pick([1, -1, 0.5]);
  return random.pick<unknown>([null, true, false, {}, [], "", 1e308, -1, 0.1]);
}
