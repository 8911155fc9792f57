import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Entry, f32, ggufBytes, text, tinyModel, u32, withEntry } from "../../../test/tiny-gguf.ts";
import { LocallmError } from "../../wire/errors.ts";
import { readGguf } from "./header.ts";
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
