import { mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type Entry,
  f32,
  type GgufSpec,
  ggufBytes,
  text,
  tinyModel,
  u32,
  withEntry,
} from "../../../test/tiny-gguf.ts";
import { LocallmError } from "../../wire/errors.ts";
import { ForwardReader } from "./bytes.ts";
import { ggufLimits, readGguf } from "./header.ts";
import { checkModelRules, ggufKind } from "./rules.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "gguf-"));
});
afterAll(() => rm(folder, { recursive: true }));

async function read(bytes: Buffer, options?: Parameters<typeof readGguf>[1]) {
  const path = join(folder, `${Math.random()}.gguf`);
  await writeFile(path, bytes);
  return await readGguf(path, options);
}

async function check(bytes: Buffer) {
  checkModelRules(await read(bytes));
}

async function ruleBrokenBy(bytes: Buffer): Promise<string> {
  const error = await check(bytes).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(LocallmError);
  expect((error as LocallmError).code).toBe("invalid_gguf");
  expect((error as LocallmError).message).not.toContain(folder);
  return String((error as LocallmError).details["rule"]);
}

describe("a valid file", () => {
  test("returns its metadata, its tensors and their offsets", async () => {
    const header = await read(ggufBytes(tinyModel()));
    expect(header.metadata.get("general.architecture")).toBe("llama");
    expect(header.metadata.get("llama.block_count")).toBe(1);
    expect(header.parameterCount).toBe(32 * 6 + 32);
    expect(
      header.tensors.map(({ name, type, shape, sizeBytes }) => ({ name, type, shape, sizeBytes })),
    ).toEqual([
      { name: "token_embd.weight", type: "F32", shape: [32, 6], sizeBytes: 768 },
      { name: "output_norm.weight", type: "F32", shape: [32], sizeBytes: 128 },
    ]);
    expect(header.tensors[1]?.offsetBytes).toBe(header.dataOffset + 768);
    expect(ggufKind(header)).toBe("model");
    checkModelRules(header);
  });

  test("reads long arrays only on request", async () => {
    const bytes = ggufBytes(tinyModel());
    const skipped = (await read(bytes)).metadata.get("tokenizer.ggml.tokens");
    expect(skipped).toEqual({ itemType: "string", length: 6, items: null });
    const all = (await read(bytes, { arrays: "all" })).metadata.get("tokenizer.ggml.tokens");
    expect(all).toEqual({ itemType: "string", length: 6, items: ["<s>", "</s>", "a", "b", "é", "f"] });
  });

  test("returns single strings of an array", async () => {
    const pick = { key: "tokenizer.ggml.tokens", indices: new Set([1, 4]) };
    const header = await read(ggufBytes(tinyModel()), { arrays: () => false, pick });
    expect([...header.picked]).toEqual([
      [1, "</s>"],
      [4, "é"],
    ]);
  });

  test("returns 32-bit floats as their shortest decimal", async () => {
    const header = await read(ggufBytes(withEntry(tinyModel(), "x.f", f32(0.1))));
    expect(header.metadata.get("x.f")).toBe(0.1);
    expect(header.metadata.get("llama.attention.layer_norm_rms_epsilon")).toBe(1e-5);
  });

  test("may be a state-space model without attention heads", async () => {
    let spec = withEntry(tinyModel(), "llama.attention.head_count", u32(0));
    spec = withEntry(spec, "llama.ssm.state_size", u32(16));
    await check(ggufBytes(spec));
  });

  test("reads values that cross chunk boundaries", async () => {
    const long = "x".repeat(300_000);
    let spec = tinyModel();
    for (const key of ["a", "b", "c", "d"]) spec = withEntry(spec, key, text(long + key));
    const items = Array.from({ length: 200_000 }, (_, index) => `token ${index}`);
    spec = withEntry(spec, "many", { kind: "array", of: "string", items });
    spec = withEntry(spec, "last", text("end"));
    const pick = { key: "many", indices: new Set([0, 199_999]) };
    const header = await read(ggufBytes(spec), { pick });
    expect(header.metadata.get("d")).toBe(`${long}d`);
    expect(header.metadata.get("last")).toBe("end");
    expect(header.picked.get(199_999)).toBe("token 199999");
  });
});

const bare = (metadata: GgufSpec["metadata"] = [], tensors: GgufSpec["tensors"] = []): Buffer =>
  ggufBytes({ metadata, tensors });
const refusal = async (bytes: Buffer, options?: Parameters<typeof readGguf>[1]) =>
  await read(bytes, options).then(
    () => null,
    (error: LocallmError) => String(error.details["rule"]),
  );

describe("values", () => {
  test("of every type are what was written, at their borders", async () => {
    const numbers = {
      u8: [0, 255],
      i8: [-128, 127],
      u16: [0, 65_535],
      i16: [-32_768, 32_767],
      u32: [0, 2 ** 32 - 1],
      i32: [-(2 ** 31), 2 ** 31 - 1],
      u64: [0, 2 ** 53],
      i64: [-(2 ** 53), 2 ** 53],
      f64: [-0.1, 1e300],
      f32: [-0.1, 3.4e38],
      bool: [false, true],
      string: ["", "é 中"],
    } as const;
    for (const [kind, values] of Object.entries(numbers)) {
      const entries = values.map((value, at) => [`${kind}${at}`, { kind, value }] as [string, Entry]);
      const list = { kind: "array", of: kind, items: [...values] } as Entry;
      const { metadata, scalarTypes } = await read(bare([...entries, ["list", list]]));
      expect([kind, ...entries.map(([key]) => metadata.get(key))]).toEqual([kind, ...values]);
      expect(metadata.get("list")).toEqual({ itemType: kind, length: values.length, items: values });
      expect([...scalarTypes]).toEqual(entries.map(([key]) => [key, kind]));
    }
  });

  test("of 32-bit floats are the shortest decimal that gives the same float", async () => {
    const floats = [0.1, 1e-5, 16_777_217, 0.123456789, 1 / 3, 3e-39];
    const any = fc.sample(fc.float({ noNaN: true, noDefaultInfinity: true }), { numRuns: 200, seed: 41 });
    const all = [...floats, ...any].map((value) => Math.fround(value));
    const list: Entry = { kind: "array", of: "f32", items: all };
    const { metadata } = await read(bare([["list", list]]), { arrays: "all" });
    const { items } = metadata.get("list") as { items: number[] };
    const digits = (value: number) => value.toExponential().replace(/e.*|[-.]/g, "").length;
    for (const [at, value] of items.entries()) {
      expect(Math.fround(value) + 0).toBe(all[at]! + 0);
      const shorter = Number(value.toPrecision(Math.max(1, digits(value) - 1)));
      if (digits(value) > 6) expect([value, Math.fround(shorter) === all[at]]).toEqual([value, false]);
    }
    for (const value of [Number.POSITIVE_INFINITY, Number.NaN])
      expect((await read(bare([["x", f32(value)]]))).metadata.get("x")).toBe(value);
  });

  test("of arrays are read up to 5, or as the caller asks", async () => {
    const list = (length: number): Entry => ({ kind: "array", of: "u16", items: new Array(length).fill(7) });
    const bytes = bare([
      ["five", list(5)],
      ["six", list(6)],
      ["last", u32(3)],
    ]);
    const items = async (options?: Parameters<typeof readGguf>[1]) => {
      const { metadata } = await read(bytes, options);
      expect(metadata.get("last")).toBe(3);
      return ["five", "six"].map(
        (key) => (metadata.get(key) as { items: unknown[] | null }).items?.length ?? null,
      );
    };
    expect(await items()).toEqual([5, null]);
    expect(await items({ arrays: "all" })).toEqual([5, 6]);
    expect(await items({ arrays: (key) => key === "six" })).toEqual([null, 6]);
  });
});

describe("strings of a skipped array", () => {
  const words = ["a", "bb", "", "é", "bb", "ccc", "", "x\0y", "x\0z", "ccc", "a"];
  const bytes = bare([["words", { kind: "array", of: "string", items: words }]]);

  test("are picked by their index and by their text", async () => {
    const pick = async (indices: number[], texts?: string[], key = "words") =>
      Object.fromEntries(
        (
          await read(bytes, {
            pick: { key, indices: new Set(indices), ...(texts && { texts: new Set(texts) }) },
          })
        ).picked,
      );
    expect(await pick([2, 3])).toEqual({ 2: "", 3: "é" });
    expect(await pick([], ["bb", "é", "no"])).toEqual({ 1: "bb", 3: "é", 4: "bb" });
    expect(await pick([0], ["ccc"])).toEqual({ 0: "a", 5: "ccc", 9: "ccc" });
    expect(await pick([0, 3], ["bb"], "other")).toEqual({});
  });

  test("are searched for pairs, as the engine would read them", async () => {
    const { alike } = await read(bytes, { distinct: "words" });
    const pairs = alike.map(([first, last]) => `${first} ${last}`);
    // An empty one has a name of its own, and a zero ends a text.
    expect(pairs.sort()).toEqual(["0 10", "1 4", "5 9", "7 8"]);
    expect((await read(bytes, { distinct: "others" })).alike).toEqual([]);
    const two = bare([["x", { kind: "array", of: "string", items: ["a", "a"] }]]);
    expect((await read(two, { distinct: "x", arrays: () => false })).alike).toEqual([[0, 1]]);
    const texts = new Set(["ccc"]);
    const both = await read(bytes, { distinct: "words", pick: { key: "words", indices: new Set(), texts } });
    expect([both.alike.length, [...both.picked.keys()]]).toEqual([4, [5, 9]]);
  });

  test("are compared whole, and sixteen pairs are enough to tell", async () => {
    const all = Array.from(
      { length: 400 },
      (_, at) => `${at % 3} ${String.fromCharCode(40 + (at % 200))} ${at >> 1}`,
    );
    const items = (some: readonly string[]): Entry => ({ kind: "array", of: "string", items: [...some] });
    expect((await read(bare([["x", items([...new Set(all)])]]), { distinct: "x" })).alike).toEqual([]);
    const twice = all.slice(0, 20).map((one, at) => `${one}${at}`);
    expect((await read(bare([["x", items([...twice, ...twice])]]), { distinct: "x" })).alike).toHaveLength(
      16,
    );
  });
});

describe("limits", () => {
  test("of the metadata that is kept hold to the byte", async () => {
    const keeps = async (bytes: Buffer, most: number, pick?: { key: string; indices: Set<number> }) => {
      const given = { arrays: (key: string) => key === "list", ...(pick && { pick }) };
      expect(await refusal(bytes, { ...given, keptBytes: most })).toBeNull();
      expect(await refusal(bytes, { ...given, keptBytes: most - 1 })).toBe(
        `its metadata exceeds ${most - 1} bytes`,
      );
    };
    await keeps(bare([["four", text("sixsix")]]), 10);
    await keeps(bare([["list", { kind: "array", of: "u8", items: [1, 2, 3] }]]), 4 + 3 * 16);
    const strings: Entry = { kind: "array", of: "string", items: ["abc", "de"] };
    await keeps(bare([["list", strings]]), 4 + 2 * 16 + 5);
    await keeps(bare([["skip", strings]]), 4);
    await keeps(bare([["skip", strings]]), 6, { key: "skip", indices: new Set([1]) });
    await keeps(bare([], [{ name: "weight", shape: [4] }]), 6);
  });

  test("of names and counts are the last that pass", async () => {
    const { tensors, metadataEntries, nameBytes, tensorNameBytes } = ggufLimits;
    const rule = async (spec: Partial<GgufSpec>) =>
      await refusal(ggufBytes({ metadata: [], tensors: [], ...spec }));
    const ends = /ends inside its header/;
    expect(await rule({ tensorCount: BigInt(tensors) })).toMatch(ends);
    expect(await rule({ tensorCount: BigInt(tensors) + 1n })).toMatch(
      /declares 131073 tensors, more than 131072/,
    );
    const entries = ggufBytes({ entryCount: BigInt(metadataEntries), metadata: [], tensors: [] });
    expect(await refusal(entries.subarray(0, 24))).toMatch(ends);
    expect(await rule({ entryCount: BigInt(metadataEntries) + 1n })).toMatch(
      /declares 65537 metadata entries/,
    );
    const named = (length: number): Partial<GgufSpec> => ({ metadata: [["n".repeat(length), u32(1)]] });
    expect(await rule(named(nameBytes))).toBeNull();
    expect(await rule(named(nameBytes + 1))).toBe("a metadata name is longer than 65535 bytes");
    expect(await rule(named(0))).toBe("a metadata entry has no name");
    const tensor = (length: number) => ({ tensors: [{ name: "n".repeat(length), shape: [1] }] });
    expect(await rule(tensor(tensorNameBytes - 1))).toBeNull();
    expect(await rule(tensor(tensorNameBytes))).toBe("a tensor's name is longer than 63 bytes");
  });

  test("of a short file: 24 bytes are a header of nothing, in versions 2 and 3", async () => {
    for (const version of [2, 3]) {
      const header = await read(ggufBytes({ version, metadata: [], tensors: [] }).subarray(0, 24));
      expect(header).toMatchObject({
        version,
        tensors: [],
        parameterCount: 0,
        dataOffset: 32,
        sizeBytes: 24,
      });
    }
    expect(await refusal(bare().subarray(0, 23))).toBe("a file of 23 bytes is too short");
    expect(await refusal(ggufBytes({ version: 4, metadata: [], tensors: [] }))).toMatch(/version 4/);
    expect(await refusal(ggufBytes({ version: 0x02000000, metadata: [], tensors: [] }))).toMatch(
      /big-endian/,
    );
    await expect(readGguf(folder)).rejects.toThrow();
  });

  test("of arrays are what the file has", async () => {
    const announced = async (of: "u8" | "u32" | "string", length: bigint, items: number[] = []) => {
      const bytes = bare([["x", { kind: "array", of, items, announced: length }]]);
      return (await refusal(bytes.subarray(0, 24 + 8 + 1 + 4 + 12 + 40), { arrays: "short" })) ?? "read";
    };
    const filler = new Array(40).fill(0);
    expect(await announced("u8", 40n, filler)).toBe("read");
    expect(await announced("u8", 41n, filler)).toMatch(/declares 41 items, more than fit/);
    expect(await announced("u32", 10n, filler)).toBe("read");
    expect(await announced("u32", 11n, filler)).toMatch(/more than fit/);
    expect(await announced("string", 5n, filler)).not.toMatch(/more than fit/);
    expect(await announced("string", 6n, filler)).toMatch(/more than fit/);
    const { arrayLength } = ggufLimits;
    expect(await announced("u8", BigInt(arrayLength) + 1n)).toMatch(/declares 67108865 items in "x"/);
    expect(await announced("u8", BigInt(arrayLength))).toMatch(/more than fit/);
  });

  test("of the whole header hold to the byte, also where arrays are skipped", async () => {
    /** Reads a file whose last entry begins at this byte, after two arrays that the disk does not have. */
    const lastAt = async (end: number) => {
      const path = join(folder, "sparse.gguf");
      const file = await open(path, "w");
      let at = 0;
      const put = async (bytes: Buffer) => {
        await file.write(bytes, 0, bytes.length, at);
        at += bytes.length;
      };
      const skipped = async (key: string, items: number) => {
        const array: Entry = { kind: "array", of: "u64", items: [], announced: BigInt(items) };
        await put(bare([[key, array]]).subarray(24, 24 + 8 + key.length + 4 + 12));
        at += items * 8;
      };
      await put(ggufBytes({ entryCount: 3n, metadata: [], tensors: [] }).subarray(0, 24));
      await skipped("a", ggufLimits.arrayLength);
      const left = end - at - (8 + 4 + 12);
      const name = "b".repeat(left % 8 || 8);
      await skipped(name, (left - name.length) / 8);
      expect(at).toBe(end);
      await put(bare([["c", u32(5)]]).subarray(24, 24 + 8 + 1 + 8));
      await put(Buffer.alloc(32));
      await file.close();
      return (await readGguf(path)).metadata.get("c");
    };
    expect(await lastAt(ggufLimits.headerBytes)).toBe(5);
    await expect(lastAt(ggufLimits.headerBytes + 1)).rejects.toMatchObject({
      details: { rule: "the header is larger than 1073741824 bytes" },
    });
  });

  test("of strings and of arrays that are searched are the last that pass", async () => {
    const long = (length: number): Entry => {
      const bytes = Buffer.alloc(4 + 4 + 8 + 8);
      bytes.writeUInt32LE(9);
      bytes.writeUInt32LE(8, 4);
      bytes.writeBigUInt64LE(1n, 8);
      bytes.writeBigUInt64LE(BigInt(length), 16);
      return { kind: "bytes", bytes };
    };
    const skip = { arrays: () => false };
    const { stringBytes } = ggufLimits;
    expect(await refusal(bare([["x", long(stringBytes)]]), skip)).toMatch(/ends inside its header/);
    for (const length of [stringBytes + 1, 2 ** 32, 2 ** 40])
      expect(await refusal(bare([["x", long(length)]]), skip)).toBe(
        'a string in "x" is longer than 16777216 bytes',
      );
    /** The first string is too long, which is told where the array itself passes. */
    const many = (length: number) =>
      Buffer.concat([
        bare([["x", { kind: "array", of: "string", items: [], announced: BigInt(length) }]]),
        Buffer.alloc(length * 8, 0xff),
      ]);
    const { distinctLength } = ggufLimits;
    expect(await refusal(many(distinctLength), { distinct: "x" })).toMatch(/^a string in "x" is longer/);
    const more = many(distinctLength + 1);
    expect(await refusal(more, { distinct: "x" })).toBe('"x" has 4194305 items, more than 4194304');
    expect(await refusal(more, { distinct: "y" })).toMatch(/^a string in "x" is longer/);
  });
});

describe("tensors", () => {
  const rule = async (tensors: GgufSpec["tensors"], metadata: GgufSpec["metadata"] = []) =>
    await refusal(bare(metadata, tensors));

  test("have up to four dimensions, or none, and rows of whole blocks", async () => {
    const { tensors, parameterCount } = await read(
      bare(
        [],
        [
          { name: "a", shape: [2, 3, 4, 5] },
          { name: "b", shape: [] },
          { name: "c", shape: [64, 2], type: 2, data: Buffer.alloc(72) },
          { name: "d", shape: [1] },
        ],
      ),
    );
    expect(tensors.map(({ shape, type, sizeBytes }) => [shape, type, sizeBytes])).toEqual([
      [[2, 3, 4, 5], "F32", 480],
      [[], "F32", 4],
      [[64, 2], "Q4_0", 72],
      [[1], "F32", 4],
    ]);
    expect(parameterCount).toBe(120 + 1 + 128 + 1);
    expect(tensors.map(({ offsetBytes }) => offsetBytes - tensors[0]!.offsetBytes)).toEqual([
      0, 480, 512, 608,
    ]);
    expect(await rule([{ name: "t", shape: [], type: 2 }])).toMatch(/needs a multiple of 32/);
  });

  test("are no larger than the file, and no number of theirs is rounded", async () => {
    expect(await rule([{ name: "t", shape: [2n ** 53n] }])).toBe(
      'tensor "t" has a dimension of 9007199254740992',
    );
    expect(await rule([{ name: "t", shape: [2n ** 53n - 1n] }])).toBe('tensor "t" is larger than the file');
    expect(await rule([{ name: "t", shape: [2n ** 52n, 2] }])).toBe('tensor "t" is larger than the file');
    const file = bare([], [{ name: "t", shape: [40], data: Buffer.alloc(160) }]);
    const fits = async (elements: bigint) => {
      const bytes = Buffer.from(file);
      bytes.writeBigUInt64LE(elements, 24 + 8 + 1 + 4);
      return await refusal(bytes);
    };
    // It has 64 bytes of header and 160 of data.
    expect(file.length).toBe(64 + 160);
    expect(await fits(40n)).toBeNull();
    expect(await fits(41n)).toBe('tensor "t" ends at byte 228; the file has 224');
    expect(await fits(56n)).toMatch(/ends at byte/);
    expect(await fits(57n)).toBe('tensor "t" is larger than the file');
  });

  test("stand at multiples of the file's alignment", async () => {
    const aligned = (alignment: Entry) =>
      bare([["general.alignment", alignment]], [{ name: "t", shape: [8] }]);
    // Header and table have 90 bytes.
    for (const [value, start] of [
      [32, 96],
      [64, 128],
      [2 ** 20, 2 ** 20],
    ] as const) {
      const { dataOffset, tensors } = await read(Buffer.concat([aligned(u32(value)), Buffer.alloc(value)]));
      expect([dataOffset, tensors[0]!.offsetBytes]).toEqual([start, start]);
    }
    for (const value of [u32(2 * 1024 * 1024), u32(16), u32(33), u32(96), text("32"), u32(0)])
      expect(await refusal(aligned(value))).toBe(
        "general.alignment must be a power of two from 32 to 1048576",
      );
  });

  test("are named in messages by what can be printed", async () => {
    const name = `é\n${"x".repeat(59)}`;
    expect(await rule([{ name, shape: [32], type: 99 }])).toBe(
      `tensor "??${"x".repeat(59)}" has the unknown type 99`,
    );
    expect(await rule([], [["y".repeat(90), { kind: "bytes", bytes: Buffer.from([13, 0, 0, 0]) }]])).toBe(
      `metadata "${"y".repeat(80)}" has an unknown type`,
    );
  });
});

test("a file is read half a MiB at once, however small the pieces are that are taken", async () => {
  const path = join(folder, "pieces");
  const bytes = Buffer.from(Uint32Array.from({ length: 300_000 }, (_, at) => at).buffer);
  await writeFile(path, bytes);
  const file = await open(path);
  let reads = 0;
  const counting = {
    read: (...given: Parameters<typeof file.read>) => {
      reads++;
      return file.read(...given);
    },
  } as unknown as typeof file;
  try {
    const reader = new ForwardReader(counting, bytes.length);
    for (let at = 0; at < 300_000; at++) {
      await reader.need(4);
      if (reader.u32() !== at) throw new Error(`another number than ${at}`);
    }
    expect([reads, reader.offset, reader.ready]).toEqual([3, bytes.length, 0]);
    await expect(reader.need(1)).rejects.toMatchObject({ code: "invalid_gguf" });
    await reader.skip(0);
    await expect(reader.skip(1)).rejects.toMatchObject({ code: "invalid_gguf" });
    // What is there already is not read again, and a skip within it neither.
    reads = 0;
    const again = new ForwardReader(counting, bytes.length);
    await again.need(1);
    await again.skip(again.ready);
    expect([reads, again.ready, again.offset]).toEqual([1, 0, 512 * 1024]);
    await again.need(8);
    await again.skip(4);
    await again.need(4);
    expect([reads, again.u32()]).toEqual([2, 131_073]);
    await again.skip(600_000);
    await again.need(4);
    expect([reads, again.u32()]).toEqual([3, 131_074 + 150_000]);
    // One whose file became shorter meanwhile.
    await expect(new ForwardReader(counting, bytes.length + 8).need(bytes.length + 4)).rejects.toMatchObject({
      details: { rule: "the file was truncated while being read" },
    });
  } finally {
    await file.close();
  }
});

test("a folder is refused by its kind", async () => {
  await expect(readGguf(folder)).rejects.toMatchObject({ details: { rule: "it is not a regular file" } });
});

test("rejects every truncated header with invalid_gguf", async () => {
  const bytes = ggufBytes(tinyModel());
  const { dataOffset } = await read(bytes);
  for (let length = 0; length <= dataOffset; length++) {
    expect(await ruleBrokenBy(bytes.subarray(0, length))).not.toBe("");
  }
});

describe("rejects a hostile file with", () => {
  const array = (of: "string" | "u8" | "u32", announced: bigint): Entry => ({
    kind: "array",
    of,
    items: [],
    announced,
  });
  const raw = (bytes: number[]): Entry => ({ kind: "bytes", bytes: Buffer.from(bytes) });
  const string8 = (length: bigint): Entry => {
    const bytes = Buffer.alloc(12);
    bytes.writeUInt32LE(8);
    bytes.writeBigUInt64LE(length, 4);
    return { kind: "bytes", bytes };
  };
  const one = (type: number, shape: (number | bigint)[], offset?: bigint) =>
    tinyModel({ tensors: [{ name: "t", type, shape, ...(offset === undefined ? {} : { offset }) }] });

  test.each<[string, Buffer, RegExp]>([
    ["another magic", ggufBytes(tinyModel({ magic: "GGML" })), /start with the letters GGUF/],
    ["version 1", ggufBytes(tinyModel({ version: 1 })), /version 1 is not supported/],
    ["big-endian", ggufBytes(tinyModel({ version: 0x03000000 })), /big-endian/],
    ["2^40 tensors", ggufBytes(tinyModel({ tensorCount: 2n ** 40n })), /declares 1099511627776 tensors/],
    ["2^63 metadata entries", ggufBytes(tinyModel({ entryCount: 2n ** 63n })), /metadata entries/],
    [
      "a string of 2^63 bytes",
      ggufBytes(withEntry(tinyModel(), "x", string8(2n ** 63n))),
      /longer than 16777216/,
    ],
    [
      "a string past the end",
      ggufBytes(withEntry(tinyModel(), "x", string8(2n ** 23n))),
      /ends inside its header/,
    ],
    [
      "an array of 2^40 items",
      ggufBytes(withEntry(tinyModel(), "x", array("u8", 2n ** 40n))),
      /items in "x"/,
    ],
    [
      "an array past the end",
      ggufBytes(withEntry(tinyModel(), "x", array("string", 2n ** 24n))),
      /more than fit in the file/,
    ],
    [
      "nested arrays",
      ggufBytes(withEntry(tinyModel(), "x", raw([9, 0, 0, 0, 9, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]))),
      /nested/,
    ],
    ["an unknown type", ggufBytes(withEntry(tinyModel(), "x", raw([13, 0, 0, 0]))), /unknown type/],
    ["a bool of 2", ggufBytes(withEntry(tinyModel(), "x", raw([7, 0, 0, 0, 2]))), /bool with the value 2/],
    [
      "a repeated name",
      ggufBytes({
        ...tinyModel(),
        metadata: [
          ["a", u32(1)],
          ["a", u32(1)],
        ],
      }),
      /occurs twice/,
    ],
    [
      "no architecture",
      ggufBytes(withEntry(tinyModel(), "general.architecture", u32(1))),
      /general.architecture/,
    ],
    ["alignment 0", ggufBytes(withEntry(tinyModel(), "general.alignment", u32(0))), /power of two/],
    ["alignment 48", ggufBytes(withEntry(tinyModel(), "general.alignment", u32(48))), /power of two/],
    ["alignment 16", ggufBytes(withEntry(tinyModel(), "general.alignment", u32(16))), /power of two from 32/],
    [
      "a negative epsilon",
      ggufBytes(withEntry(tinyModel(), "llama.attention.layer_norm_rms_epsilon", f32(-1))),
      /must not be negative/,
    ],
    [
      "a NaN base",
      ggufBytes(withEntry(tinyModel(), "llama.rope.freq_base", f32(Number.NaN))),
      /must be a finite number/,
    ],
    ["block_count 0", ggufBytes(withEntry(tinyModel(), "llama.block_count", u32(0))), /block_count/],
    ["block_count as text", ggufBytes(withEntry(tinyModel(), "llama.block_count", text("9"))), /block_count/],
    ["head_count 0", ggufBytes(withEntry(tinyModel(), "llama.attention.head_count", u32(0))), /head_count/],
    [
      "head_count_kv 0",
      ggufBytes(withEntry(tinyModel(), "llama.attention.head_count_kv", u32(0))),
      /head_count_kv/,
    ],
    [
      "embedding_length 0",
      ggufBytes(withEntry(tinyModel(), "llama.embedding_length", u32(0))),
      /embedding_length/,
    ],
    ["context_length 0", ggufBytes(withEntry(tinyModel(), "llama.context_length", u32(0))), /context_length/],
    [
      "scores of another length",
      ggufBytes(withEntry(tinyModel(), "tokenizer.ggml.scores", { kind: "array", of: "f32", items: [1] })),
      /scores has 1 items/,
    ],
    [
      "token types as text",
      ggufBytes(
        withEntry(tinyModel(), "tokenizer.ggml.token_type", { kind: "array", of: "string", items: ["a"] }),
      ),
      /token_type/,
    ],
    [
      "a token beyond the vocabulary",
      ggufBytes(withEntry(tinyModel(), "tokenizer.ggml.eos_token_id", u32(6))),
      /the vocabulary has 6 tokens/,
    ],
    ["five dimensions", ggufBytes(one(0, [1, 1, 1, 1, 1])), /5 dimensions/],
    ["a dimension of 0", ggufBytes(one(0, [32, 0])), /dimension of 0/],
    ["a product beyond 2^64", ggufBytes(one(0, [2n ** 40n, 2n ** 40n])), /larger than the file/],
    ["an unknown tensor type", ggufBytes(one(99, [32])), /unknown type 99/],
    ["a removed tensor type", ggufBytes(one(4, [32])), /unknown type 4/],
    ["half a block", ggufBytes(one(3, [16])), /multiple of 32/],
    ["an offset past the end", ggufBytes(one(0, [32], 2n ** 40n)), /starts at 1099511627776/],
    [
      "overlapping tensors",
      ggufBytes(
        tinyModel({
          tensors: [
            { name: "a", shape: [32] },
            { name: "b", shape: [32], offset: 64n },
          ],
        }),
      ),
      /starts at 64/,
    ],
    [
      "a repeated tensor",
      ggufBytes(
        tinyModel({
          tensors: [
            { name: "a", shape: [32] },
            { name: "a", shape: [32] },
          ],
        }),
      ),
      /occurs twice/,
    ],
    ["truncated data", ggufBytes(tinyModel()).subarray(0, -64), /the file has/],
  ])("%s", async (_, bytes, rule) => {
    expect(await ruleBrokenBy(bytes)).toMatch(rule);
  });
});
