import { describe, expect, it } from "vitest";
import type { LocallmError } from "../../wire/errors.ts";
import type { GgufArray, GgufHeader, GgufItemType, GgufScalar } from "./header.ts";
import { checkModelRules, checkProjectorRules, ggufKind } from "./rules.ts";
import { joinHeaders, splitPlace } from "./split.ts";

type Metadata = Record<string, GgufScalar | GgufArray>;

function header(metadata: Metadata, changes: Partial<GgufHeader> = {}): GgufHeader {
  return {
    ...{ version: 3, metadata: new Map(Object.entries(metadata)), scalarTypes: new Map(), picked: new Map() },
    ...{ alike: [], tensors: [tensor("t")], parameterCount: 8, dataOffset: 64, sizeBytes: 100 },
    ...changes,
  };
}

function tensor(name: string): GgufHeader["tensors"][number] {
  return { name, type: "F32", shape: [8], offsetBytes: 64, sizeBytes: 32 };
}

function array(itemType: GgufItemType, length: number): GgufArray {
  return { itemType, length, items: null };
}

/** The rule that a header breaks, or null. */
function broken(work: () => unknown): string | null {
  try {
    work();
    return null;
  } catch (error) {
    return String((error as LocallmError).details["rule"]);
  }
}
const ruleOf = (metadata: Metadata) =>
  broken(() => checkModelRules(header({ "general.architecture": "llama", ...metadata })));

it("a projector has at most 16,384 blocks of each kind", () => {
  for (const key of ["clip.vision.block_count", "clip.audio.block_count", "clip.audio.local_block_count"]) {
    const rule = `${key} must be a whole number from 0 to 16384`;
    const ruled = (value: GgufScalar) => broken(() => checkProjectorRules(header({ [key]: value })));
    for (const value of [-1, 16_385, 2 ** 31 - 1, 1.5, "1"]) expect(ruled(value)).toBe(rule);
    for (const value of [0, 27, 16_384]) expect(ruled(value)).toBeNull();
  }
});

describe("whole numbers of a model", () => {
  it.each([
    ["block_count", 1, 16_384],
    ["embedding_length", 1, 1_048_576],
    ["context_length", 1, 2 ** 31],
    ["attention.head_count", 1, 65_536],
    ["attention.head_count_kv", 1, 65_536],
    ["attention.key_length", 0, 65_536],
    ["attention.value_length", 0, 65_536],
    ["rope.dimension_count", 0, 65_536],
    ["expert_count", 0, 2 ** 31],
    ["expert_used_count", 0, 2 ** 31],
    ["feed_forward_length", 0, 2 ** 31],
    ["vocab_size", 0, 2 ** 31],
  ])("%s is from %d to %d", (name, least, most) => {
    const key = `llama.${name}`;
    const rule = `${key} must be a whole number from ${least} to ${most}`;
    for (const value of [least - 1, most + 1, least + 0.5, true, "1"])
      expect(ruleOf({ [key]: value })).toBe(rule);
    for (const value of [least, most]) expect(ruleOf({ [key]: value })).toBeNull();
    // Those of another architecture are not read.
    expect(ruleOf({ [`gemma.${name}`]: -1 })).toBeNull();
  });

  it("may be an array with one for each layer", () => {
    const key = "llama.attention.head_count";
    for (const type of ["u32", "i32", "u8", "u64"] as const)
      expect(ruleOf({ [key]: array(type, 4) })).toBeNull();
    for (const type of ["string", "f32", "f64"] as const)
      expect(ruleOf({ [key]: array(type, 4) })).toBe(`${key} must contain whole numbers`);
    expect(ruleOf({ [key]: array("u32", 0) })).toBe(`${key} must contain whole numbers`);
  });

  it("may be 0 heads if the model has another kind of state", () => {
    const heads = { "llama.attention.head_count": 0 };
    expect(ruleOf(heads)).toMatch(/from 1/);
    for (const key of ["llama.ssm.state_size", "rwkv.wkv.head_size"])
      expect(ruleOf({ ...heads, [key]: 1 })).toBeNull();
    expect(ruleOf({ ...heads, "llama.ssm.state_size": 1, "llama.block_count": 0 })).toMatch(/block_count/);
  });
});

it("an architecture is a short name", () => {
  const rule = "general.architecture must be a short name";
  for (const name of ["llama", "a", "x".repeat(64), "Qwen2.5-vl_x"])
    expect(broken(() => checkModelRules(header({ "general.architecture": name })))).toBeNull();
  for (const name of ["", "x".repeat(65), ".a", "a b", "é", 1, true])
    expect(broken(() => checkModelRules(header({ "general.architecture": name })))).toBe(rule);
  expect(broken(() => checkModelRules(header({})))).toBe(rule);
});

it("the floats of the model are finite, and those that are divided by or multiplied are not negative", () => {
  const names = ["a_epsilon", "rope.freq_base", "rope.scaling.factor", "other"];
  for (const name of names) {
    const key = `llama.${name}`;
    expect(ruleOf({ [key]: 0 })).toBeNull();
    expect(ruleOf({ [key]: Number.POSITIVE_INFINITY })).toBe(`${key} must be a finite number`);
    expect(ruleOf({ [key]: -0.5 })).toBe(name === "other" ? null : `${key} must not be negative`);
  }
  expect(ruleOf({ "llama.a_epsilon": "-1", "gemma.a_epsilon": -1, "gemma.b": Number.NaN })).toBeNull();
});

describe("a vocabulary", () => {
  const tokens = { "tokenizer.ggml.tokens": array("string", 6) };
  const key = (name: string) => `tokenizer.ggml.${name}`;

  it("has a score and a type for each token, and any number of merges", () => {
    for (const [name, type] of [
      ["scores", "f32"],
      ["token_type", "i32"],
      ["token_type", "u32"],
    ] as const) {
      expect(ruleOf({ ...tokens, [key(name)]: array(type, 6) })).toBeNull();
      for (const length of [5, 7])
        expect(ruleOf({ ...tokens, [key(name)]: array(type, length) })).toBe(
          `${key(name)} has ${length} items, but tokenizer.ggml.tokens has another length`,
        );
      expect(ruleOf({ [key(name)]: array(type, 6) })).toMatch(/another length/);
    }
    expect(ruleOf({ ...tokens, [key("merges")]: array("string", 9) })).toBeNull();
    expect(ruleOf({ [key("merges")]: array("string", 9) })).toBeNull();
  });

  it("consists of arrays of their types", () => {
    for (const [name, type] of [
      ["tokens", "string"],
      ["scores", "f32"],
      ["token_type", "i32"],
      ["merges", "string"],
    ] as const)
      for (const wrong of [array("u8", 6), "text", 6])
        expect(ruleOf({ ...tokens, [key(name)]: wrong })).toBe(`${key(name)} must be an array of ${type}`);
  });

  it("has the tokens that are named, and −1 and 2³² − 1 name none", () => {
    const id = key("eos_token_id");
    for (const value of [0, 5, -1, 0xffffffff]) expect(ruleOf({ ...tokens, [id]: value })).toBeNull();
    for (const value of [-2, 0.5, "1", true, array("u32", 1)])
      expect(ruleOf({ ...tokens, [id]: value })).toBe(`${id} must be a token id`);
    for (const value of [6, 0xfffffffe])
      expect(ruleOf({ ...tokens, [id]: value })).toBe(`${id} is ${value}, but the vocabulary has 6 tokens`);
    expect(ruleOf({ [id]: -2 })).toBeNull();
    expect(ruleOf({ ...tokens, [key("other")]: -2 })).toBeNull();
  });
});

it("what a file is for follows from its type, its architecture and its tensors", () => {
  const kind = (metadata: Metadata, tensors = [tensor("t")]) => ggufKind(header(metadata, { tensors }));
  expect(kind({ "general.architecture": "llama" })).toBe("model");
  expect(kind({ "general.type": "adapter", "general.architecture": "clip" })).toBe("adapter");
  for (const type of ["mmproj", "projector"]) expect(kind({ "general.type": type })).toBe("projector");
  expect(kind({ "general.architecture": "clip" })).toBe("projector");
  expect(kind({}, [])).toBe("vocabulary");
  expect(kind({ "split.count": 2 }, [])).toBe("model");
});

describe("a split model", () => {
  const place = (no: unknown, count: unknown) => {
    const given = Object.entries({ "split.no": no, "split.count": count }).filter(
      ([, value]) => value !== undefined,
    );
    return splitPlace(header(Object.fromEntries(given) as Metadata));
  };
  const part = (no: number, count: number, tensors: readonly string[], more: Metadata = {}) =>
    header({ "split.no": no, "split.count": count, ...more }, { tensors: tensors.map(tensor) });

  it("has files that say which they are", () => {
    expect(place(undefined, undefined)).toEqual({ index: 0, count: 1 });
    expect(place(0, 0)).toEqual({ index: 0, count: 1 });
    expect(place(0, 1)).toEqual({ index: 0, count: 1 });
    expect(place(2, 3)).toEqual({ index: 2, count: 3 });
    for (const [no, count] of [
      [3, 3],
      [-1, 3],
      [1, 0],
      [0.5, 3],
      [1, 2.5],
      ["1", 3],
      [1, "3"],
      [true, 3],
    ])
      expect(broken(() => place(no, count))).toBe("split.no and split.count are inconsistent");
  });

  it("is joined from all its files in their order", () => {
    const files = [part(0, 2, ["a", "b"], { "split.tensors.count": 3, x: 1 }), part(1, 2, ["c"], { x: 2 })];
    const joined = joinHeaders(files);
    expect(joined.tensors.map(({ name }) => name)).toEqual(["a", "b", "c"]);
    expect(joined).toMatchObject({ parameterCount: 16, sizeBytes: 200, metadata: files[0]!.metadata });
    const single = part(0, 1, ["a"], { "split.tensors.count": 5 });
    expect(joinHeaders([single])).toBe(single);
  });

  it("is refused if a file is missing, is another one, or has other tensors", () => {
    const rule = (...files: readonly GgufHeader[]) => broken(() => joinHeaders(files));
    const [first, second] = [part(0, 2, ["a"]), part(1, 2, ["b"])];
    expect(rule()).toBe("no files were given");
    expect(rule(first)).toBe("expected 2 split files, got 1");
    expect(rule(first, second, second)).toBe("expected 2 split files, got 3");
    expect(rule(first, first)).toBe("file 2 of 2 is marked as 1 of 2");
    expect(rule(second, first)).toBe("file 1 of 2 is marked as 2 of 2");
    expect(rule(first, part(1, 3, ["b"]))).toBe("file 2 of 2 is marked as 2 of 3");
    expect(rule(first, part(1, 2, ["a"]))).toBe("a tensor occurs in two of its files");
    expect(rule(part(0, 2, ["a"], { "split.tensors.count": 3 }), second)).toBe(
      "its files contain 2 tensors instead of 3",
    );
    expect(rule(first, second)).toBeNull();
  });
});
