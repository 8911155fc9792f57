import { mkdtemp, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { measureLoad } from "../src/runner/measure.ts";
import { onlyProcessor } from "../src/wire/inference/load.ts";
import { type Entry, f32, ggufBytes, type TensorSpec, text, u32 } from "../test/tiny-gguf.ts";

export const title = "Memory of well-known models, by the dry load that locallm makes before it loads one";

/** The published shape of a model. Lengths count numbers, and `window` counts tokens. */
interface Shape {
  readonly name: string;
  readonly architecture: "qwen3" | "qwen3moe" | "llama" | "gemma3";
  readonly width: number;
  readonly layers: number;
  readonly heads: number;
  readonly headsKv: number;
  readonly headLength: number;
  readonly hidden: number;
  readonly vocabulary: number;
  /** Whether the output uses the weights of the embedding. */
  readonly tied: boolean;
  readonly window: number;
  readonly experts?: { readonly count: number; readonly used: number };
  readonly slidingWindow?: number;
}

const qwen = { headsKv: 8, headLength: 128, vocabulary: 151_936, window: 40_960 } as const;
const gemma = {
  architecture: "gemma3",
  headLength: 256,
  vocabulary: 262_144,
  tied: true,
  window: 131_072,
  slidingWindow: 1024,
} as const;
const llama = { architecture: "llama", headsKv: 8, headLength: 128, window: 131_072 } as const;

const shapes: readonly Shape[] = [
  {
    name: "Qwen3 0.6B",
    architecture: "qwen3",
    width: 1024,
    layers: 28,
    heads: 16,
    hidden: 3072,
    tied: true,
    ...qwen,
  },
  {
    name: "Qwen3 1.7B",
    architecture: "qwen3",
    width: 2048,
    layers: 28,
    heads: 16,
    hidden: 6144,
    tied: true,
    ...qwen,
  },
  {
    name: "Llama 3.2 3B",
    width: 3072,
    layers: 28,
    heads: 24,
    hidden: 8192,
    vocabulary: 128_256,
    tied: true,
    ...llama,
  },
  {
    name: "Qwen3 4B",
    architecture: "qwen3",
    width: 2560,
    layers: 36,
    heads: 32,
    hidden: 9728,
    tied: true,
    ...qwen,
  },
  { name: "Gemma 3 4B", width: 2560, layers: 34, heads: 8, headsKv: 4, hidden: 10_240, ...gemma },
  {
    name: "Qwen3 8B",
    architecture: "qwen3",
    width: 4096,
    layers: 36,
    heads: 32,
    hidden: 12_288,
    tied: false,
    ...qwen,
  },
  {
    name: "Llama 3.1 8B",
    width: 4096,
    layers: 32,
    heads: 32,
    hidden: 14_336,
    vocabulary: 128_256,
    tied: false,
    ...llama,
  },
  { name: "Gemma 3 12B", width: 3840, layers: 48, heads: 16, headsKv: 8, hidden: 15_360, ...gemma },
  {
    name: "Qwen3 14B",
    architecture: "qwen3",
    width: 5120,
    layers: 40,
    heads: 40,
    hidden: 17_408,
    tied: false,
    ...qwen,
  },
  {
    name: "Mistral Small 24B",
    width: 5120,
    layers: 40,
    heads: 32,
    hidden: 32_768,
    vocabulary: 131_072,
    tied: false,
    ...llama,
  },
  {
    name: "Gemma 3 27B",
    width: 5376,
    layers: 62,
    heads: 32,
    headsKv: 16,
    hidden: 21_504,
    ...gemma,
    headLength: 128,
  },
  {
    name: "Qwen3 30B-A3B",
    architecture: "qwen3moe",
    width: 2048,
    layers: 48,
    heads: 32,
    hidden: 768,
    experts: { count: 128, used: 8 },
    tied: false,
    ...qwen,
    headsKv: 4,
  },
  {
    name: "Qwen3 32B",
    architecture: "qwen3",
    width: 5120,
    layers: 64,
    heads: 64,
    hidden: 25_600,
    tied: false,
    ...qwen,
  },
  {
    name: "Llama 3.3 70B",
    width: 8192,
    layers: 80,
    heads: 64,
    hidden: 28_672,
    vocabulary: 128_256,
    tied: false,
    ...llama,
  },
];

const windows = [4096, 32_768] as const;
/** Common sizes of a machine's memory, in GiB. The system and other programs keep 2 GiB of it. */
const machinesGib = [8, 16, 24, 48, 64] as const;
const keptGib = 2;

/**
 * Each model is made from its published shape with the types of a Q4_K_M file: a real header and a sparse file
 * of the right size. The dry load reads only the header, so no weights are needed.
 */
export async function run(print: (line: string) => void): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "locallm-memory-"));
  try {
    print(
      "| model, Q4_K_M | file, GB | window 4,096, GiB | window 32,768, GiB | the same, q8_0 cache, GiB | fits from |",
    );
    print("|---|---:|---:|---:|---:|---:|");
    for (const shape of shapes) {
      const path = join(folder, "model.gguf");
      const fileBytes = await writeModel(path, shape);
      const small = await gibOf(path, windows[0], "f16");
      const large = await gibOf(path, windows[1], "f16");
      const packed = await gibOf(path, windows[1], "q8_0");
      const machine = machinesGib.find((gib) => small <= gib - keptGib);
      const shown = [small, large, packed].map((gib) => gib.toFixed(1)).join(" | ");
      print(`| ${shape.name} | ${(fileBytes / 1e9).toFixed(1)} | ${shown} | ${machine} GB |`);
      await rm(path);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function gibOf(modelPath: string, numCtx: number, kvCacheType: "f16" | "q8_0"): Promise<number> {
  const sizes = await measureLoad({
    modelPath,
    adapters: [],
    numCtx,
    slots: 1,
    numBatch: null,
    numThread: 1,
    placement: onlyProcessor,
    useMmap: null,
    flashAttention: "auto",
    kvCacheType,
  });
  if (sizes === null) throw new Error("the dry load gave no answer");
  return (sizes.weights + sizes.context + sizes.compute + sizes.checkpoints) / 2 ** 30;
}

/** ggml's number of each type, and the bytes of one block that holds `numbers` numbers. */
const kinds = {
  f32: { type: 0, bytes: 4, numbers: 1 },
  q4: { type: 12, bytes: 144, numbers: 256 },
  q6: { type: 14, bytes: 210, numbers: 256 },
} as const;

/** Writes the header and a hole in place of the weights. Returns the size of the file in bytes. */
async function writeModel(path: string, shape: Shape): Promise<number> {
  const { architecture, width, layers, heads, headsKv, headLength, hidden, vocabulary } = shape;
  const tensors: TensorSpec[] = [];
  let offset = 0;
  const add = (name: string, lengths: number[], kind: keyof typeof kinds) => {
    const { type, bytes, numbers } = kinds[kind];
    tensors.push({
      name: `${name}.weight`,
      shape: lengths,
      type,
      data: Buffer.alloc(0),
      offset: BigInt(offset),
    });
    const size = (lengths.reduce((product, length) => product * length, 1) / numbers) * bytes;
    offset += Math.ceil(size / 32) * 32;
  };
  add("token_embd", [width, vocabulary], shape.tied ? "q6" : "q4");
  add("output_norm", [width], "f32");
  if (!shape.tied) add("output", [width, vocabulary], "q6");
  for (let index = 0; index < layers; index += 1) {
    const layer = `blk.${index}`;
    // llama.cpp gives the first and last eighth of the layers, and every third between them, more bits.
    const isFiner =
      index < layers / 8 || index >= (7 * layers) / 8 || (index - Math.floor(layers / 8)) % 3 === 2;
    const finer = isFiner ? "q6" : "q4";
    add(`${layer}.attn_norm`, [width], "f32");
    add(`${layer}.attn_q`, [width, heads * headLength], "q4");
    add(`${layer}.attn_k`, [width, headsKv * headLength], "q4");
    add(`${layer}.attn_v`, [width, headsKv * headLength], finer);
    add(`${layer}.attn_output`, [heads * headLength, width], "q4");
    if (architecture !== "llama")
      for (const name of ["attn_q_norm", "attn_k_norm"]) add(`${layer}.${name}`, [headLength], "f32");
    if (architecture === "gemma3")
      for (const name of ["post_attention_norm", "post_ffw_norm"]) add(`${layer}.${name}`, [width], "f32");
    add(`${layer}.ffn_norm`, [width], "f32");
    const many = shape.experts === undefined ? [] : [shape.experts.count];
    if (shape.experts !== undefined) add(`${layer}.ffn_gate_inp`, [width, shape.experts.count], "f32");
    const suffix = shape.experts === undefined ? "" : "_exps";
    add(`${layer}.ffn_gate${suffix}`, [width, hidden, ...many], "q4");
    add(`${layer}.ffn_up${suffix}`, [width, hidden, ...many], "q4");
    add(`${layer}.ffn_down${suffix}`, [hidden, width, ...many], finer);
  }
  const keys: [string, Entry][] = [
    ["block_count", u32(layers)],
    ["context_length", u32(shape.window)],
    ["embedding_length", u32(width)],
    ["feed_forward_length", u32(hidden)],
    ["attention.head_count", u32(heads)],
    ["attention.head_count_kv", u32(headsKv)],
    ["attention.key_length", u32(headLength)],
    ["attention.value_length", u32(headLength)],
    ["attention.layer_norm_rms_epsilon", f32(1e-6)],
    ["rope.freq_base", f32(1_000_000)],
    ["vocab_size", u32(vocabulary)],
    ...(shape.experts === undefined
      ? []
      : ([
          ["expert_count", u32(shape.experts.count)],
          ["expert_used_count", u32(shape.experts.used)],
          ["expert_feed_forward_length", u32(hidden)],
        ] satisfies [string, Entry][])),
    ...(shape.slidingWindow === undefined
      ? []
      : ([["attention.sliding_window", u32(shape.slidingWindow)]] satisfies [string, Entry][])),
  ];
  const tokens = Array.from({ length: vocabulary }, (_, index) => `t${index}`);
  const header = ggufBytes({
    metadata: [
      ["general.architecture", text(architecture)],
      ["general.file_type", u32(15)],
      ...keys.map(([key, entry]): [string, Entry] => [`${architecture}.${key}`, entry]),
      ["tokenizer.ggml.model", text("gpt2")],
      ["tokenizer.ggml.pre", text("default")],
      ["tokenizer.ggml.tokens", { kind: "array", of: "string", items: tokens }],
      ["tokenizer.ggml.token_type", { kind: "array", of: "i32", items: tokens.map(() => 1) }],
      ["tokenizer.ggml.merges", { kind: "array", of: "string", items: ["t 1"] }],
      ["tokenizer.ggml.bos_token_id", u32(0)],
      ["tokenizer.ggml.eos_token_id", u32(1)],
    ],
    tensors,
  });
  await writeFile(path, header);
  await truncate(path, header.length + offset);
  return header.length + offset;
}
