import { type Entry, f32, type GgufSpec, ggufBytes, type TensorSpec, text, u32 } from "./tiny-gguf.ts";

export const embedding = 64;
const heads = 2;
const headsKv = 1;
const feedForward = 128;
const layers = 2;
const contextLength = 4096;

/**
 * A complete llama model with 100,000 random weights. The engine loads it in a few milliseconds and decodes
 * thousands of tokens per second. It generates printable ASCII and never ends an answer by itself. Each seed
 * gives a different model.
 */
export function smallLlama(seed: number, trainedOn?: number): Buffer {
  return smallModel("llama", seed, trainedOn);
}

export type SmallArchitecture = "llama" | "qwen3" | "gemma3" | "mamba" | "jamba" | "qwen2vl";

/**
 * Like `smallLlama`, with other kinds of memory. In gemma3, five of six layers see only the last 64 tokens.
 * mamba has a state instead of a cache; the state cannot be truncated. jamba has both. qwen2vl has M-RoPE. `marks` are
 * further control tokens.
 */
export function smallModel(
  architecture: SmallArchitecture,
  seed: number,
  trainedOn?: number,
  marks?: readonly string[],
): Buffer {
  return ggufBytes(smallSpec(architecture, seed, trainedOn, marks));
}

/** What the first layer gets for each token, for rows of pictures that are like tokens. */
export function smallInputs(architecture: SmallArchitecture, seed: number): readonly Float32Array[] {
  const { data } = smallSpec(architecture, seed).tensors[0]!;
  const all = new Float32Array(new Uint8Array(data!).buffer);
  // The engine multiplies gemma3's embeddings of tokens by the root of their length, but no rows.
  const scale = architecture === "gemma3" ? Math.sqrt(embedding) : 1;
  return Array.from({ length: all.length / embedding }, (_, token) =>
    all.subarray(token * embedding, (token + 1) * embedding).map((number) => number * scale),
  );
}

/** The parts of `smallModel`, for files that add to it. */
export function smallSpec(
  architecture: SmallArchitecture,
  seed: number,
  trainedOn = contextLength,
  marks: readonly string[] = [],
): GgufSpec {
  const random = gaussian(seed);
  const tensor: MakeTensor = (name, shape, scale = 0.3) => randomTensor(name, shape, () => random() * scale);
  const vocabulary = tokens(marks);
  const { metadata, layer, count, embeddingScale: scale = 1 } = architectures[architecture];
  return {
    metadata: [
      ["general.architecture", text(architecture)],
      ["general.name", text(`small ${architecture} ${seed}`)],
      ["general.file_type", u32(0)],
      [`${architecture}.block_count`, u32(count)],
      [`${architecture}.context_length`, u32(trainedOn)],
      [`${architecture}.embedding_length`, u32(embedding)],
      [`${architecture}.attention.layer_norm_rms_epsilon`, f32(1e-5)],
      [`${architecture}.vocab_size`, u32(vocabulary.length)],
      ...metadata.map(([key, entry]): [string, Entry] => [`${architecture}.${key}`, entry]),
      ["tokenizer.ggml.model", text("gpt2")],
      ["tokenizer.ggml.pre", text("gpt-2")],
      ["tokenizer.ggml.tokens", { kind: "array", of: "string", items: vocabulary.map(({ piece }) => piece) }],
      ["tokenizer.ggml.token_type", { kind: "array", of: "i32", items: vocabulary.map(({ type }) => type) }],
      ["tokenizer.ggml.merges", { kind: "array", of: "string", items: ["t h"] }],
      ["tokenizer.ggml.bos_token_id", u32(0)],
      ["tokenizer.ggml.eos_token_id", u32(1)],
      ["tokenizer.ggml.add_bos_token", { kind: "bool", value: false }],
      ["tokenizer.chat_template", text(chatMl)],
    ],
    tensors: [
      {
        name: "token_embd.weight",
        shape: [embedding, vocabulary.length],
        // Tokens without weights have logit 0 and are never chosen: control tokens, and bytes that are not text on
        // their own.
        data: Buffer.concat(
          vocabulary.map(({ isText }) => floats(embedding, () => (isText ? random() * scale : 0))),
        ),
      },
      ones("output_norm.weight", embedding),
      ...Array.from({ length: count }, (_, index) => layer(`blk.${index}`, tensor, index)).flat(),
    ],
  };
}

/** A LoRA adapter for `smallLlama`, large enough to change what it says. */
export function smallAdapter(seed: number): Buffer {
  const random = gaussian(seed);
  const tensor = (name: string, shape: number[]) => randomTensor(name, shape, random);
  return ggufBytes({
    metadata: [
      ["general.architecture", text("llama")],
      ["general.type", text("adapter")],
      ["adapter.type", text("lora")],
      ["adapter.lora.alpha", f32(2)],
    ],
    tensors: [
      tensor("blk.0.attn_output.weight.lora_a", [embedding, 2]),
      tensor("blk.0.attn_output.weight.lora_b", [2, embedding]),
    ],
  });
}

/**
 * An encoder with random weights that reads texts in both directions, and has a token for each printable ASCII
 * character.
 */
export function smallEncoder(seed: number): GgufSpec {
  const random = gaussian(seed);
  const tensor = (name: string, shape: number[]) => randomTensor(name, shape, () => random() * 0.3);
  const pair = (name: string, from: number, to: number) => [
    tensor(`${name}.weight`, [from, to]),
    tensor(`${name}.bias`, [to]),
  ];
  const norm = (name: string): TensorSpec[] => [
    ones(`${name}.weight`, embedding),
    tensor(`${name}.bias`, [embedding]),
  ];
  const control = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"];
  const characters = Array.from({ length: 94 }, (_, index) => String.fromCharCode(33 + index));
  // U+2581 begins a word; the converter writes the rest of a word without a mark.
  const pieces = [...control, ...characters.map((each) => `\u2581${each}`), ...characters];
  const key = (name: string, entry: Entry): [string, Entry] => [`bert.${name}`, entry];
  const token = (name: string, id: number): [string, Entry] => [`tokenizer.ggml.${name}_token_id`, u32(id)];
  return {
    metadata: [
      ["general.architecture", text("bert")],
      ["general.name", text(`small encoder ${seed}`)],
      ["general.file_type", u32(0)],
      key("block_count", u32(layers)),
      key("context_length", u32(512)),
      key("embedding_length", u32(embedding)),
      key("feed_forward_length", u32(feedForward)),
      key("attention.head_count", u32(heads)),
      key("attention.layer_norm_epsilon", f32(1e-12)),
      key("attention.causal", { kind: "bool", value: false }),
      key("pooling_type", u32(1)),
      ["tokenizer.ggml.model", text("bert")],
      ["tokenizer.ggml.token_type_count", u32(2)],
      ["tokenizer.ggml.tokens", { kind: "array", of: "string", items: pieces }],
      [
        "tokenizer.ggml.token_type",
        { kind: "array", of: "i32", items: pieces.map((_, index) => (index < control.length ? 3 : 1)) },
      ],
      ...[token("padding", 0), token("unknown", 1), token("bos", 2), token("cls", 2), token("seperator", 3)],
      ...[token("eos", 3), token("mask", 4)],
    ],
    tensors: [
      tensor("token_embd.weight", [embedding, pieces.length]),
      tensor("position_embd.weight", [embedding, 512]),
      tensor("token_types.weight", [embedding, 2]),
      ...norm("token_embd_norm"),
      ...Array.from({ length: layers }, (_, index) => [
        ...["q", "k", "v", "output"].flatMap((each) =>
          pair(`blk.${index}.attn_${each}`, embedding, embedding),
        ),
        ...norm(`blk.${index}.attn_output_norm`),
        ...pair(`blk.${index}.ffn_up`, embedding, feedForward),
        ...pair(`blk.${index}.ffn_down`, feedForward, embedding),
        ...norm(`blk.${index}.layer_output_norm`),
      ]).flat(),
    ],
  };
}

/** A tensor of random numbers that a test adds. */
export function smallTensor(name: string, shape: number[], seed: number): TensorSpec {
  const random = gaussian(seed);
  return randomTensor(name, shape, () => random() * 0.3);
}

export function randomTensor(name: string, shape: number[], value: () => number): TensorSpec {
  const count = shape.reduce((product, length) => product * length, 1);
  return { name, shape, data: floats(count, value) };
}

/** A tensor of one dimension whose numbers are all 1, such as a norm's. */
export function ones(name: string, length: number): TensorSpec {
  return { name, shape: [length], data: floats(length, () => 1) };
}

type MakeTensor = (name: string, shape: number[], scale?: number) => TensorSpec;

const headLength = embedding / heads;
const keysLength = headsKv * headLength;
const attention: [string, Entry][] = [
  ["feed_forward_length", u32(feedForward)],
  ["attention.head_count", u32(heads)],
  ["attention.head_count_kv", u32(headsKv)],
  ["rope.dimension_count", u32(headLength)],
  ["rope.freq_base", f32(10_000)],
];

function attentionLayer(layer: string, tensor: MakeTensor): TensorSpec[] {
  return [
    ones(`${layer}.attn_norm.weight`, embedding),
    tensor(`${layer}.attn_q.weight`, [embedding, embedding]),
    tensor(`${layer}.attn_k.weight`, [embedding, keysLength]),
    tensor(`${layer}.attn_v.weight`, [embedding, keysLength]),
    tensor(`${layer}.attn_output.weight`, [embedding, embedding]),
    ...feedForwardPart(layer, tensor),
  ];
}

function feedForwardPart(layer: string, tensor: MakeTensor): TensorSpec[] {
  return [
    ones(`${layer}.ffn_norm.weight`, embedding),
    tensor(`${layer}.ffn_gate.weight`, [embedding, feedForward]),
    tensor(`${layer}.ffn_up.weight`, [embedding, feedForward]),
    tensor(`${layer}.ffn_down.weight`, [feedForward, embedding]),
  ];
}

const inner = 2 * embedding;
const state = 16;
const rank = 4;

function stateLayer(name: string, tensor: MakeTensor): TensorSpec[] {
  return [
    ones(`${name}.attn_norm.weight`, embedding),
    tensor(`${name}.ssm_in.weight`, [embedding, 2 * inner]),
    tensor(`${name}.ssm_conv1d.weight`, [4, inner]),
    tensor(`${name}.ssm_conv1d.bias`, [inner]),
    tensor(`${name}.ssm_x.weight`, [inner, rank + 2 * state]),
    tensor(`${name}.ssm_dt.weight`, [rank, inner]),
    tensor(`${name}.ssm_dt.bias`, [inner]),
    // The values are negative so that the state decays.
    { name: `${name}.ssm_a`, shape: [state, inner], data: floats(state * inner, () => -0.1) },
    ones(`${name}.ssm_d`, inner),
    tensor(`${name}.ssm_out.weight`, [inner, embedding]),
  ];
}

const stateLengths: [string, Entry][] = [
  ["ssm.conv_kernel", u32(4)],
  ["ssm.inner_size", u32(inner)],
  ["ssm.state_size", u32(state)],
  ["ssm.time_step_rank", u32(rank)],
];

interface Architecture {
  readonly count: number;
  readonly embeddingScale?: number;
  readonly metadata: readonly [string, Entry][];
  layer(name: string, tensor: MakeTensor, index: number): TensorSpec[];
}

const architectures: Record<SmallArchitecture, Architecture> = {
  llama: { count: layers, metadata: attention, layer: attentionLayer },
  qwen3: {
    count: layers,
    metadata: attention,
    layer: (name, tensor) => [
      ...attentionLayer(name, tensor),
      ones(`${name}.attn_q_norm.weight`, headLength),
      ones(`${name}.attn_k_norm.weight`, headLength),
    ],
  },
  gemma3: {
    count: 6,
    // The engine multiplies the embeddings by 8. If they were larger, the answer would depend on the last token alone.
    embeddingScale: 0.2,
    metadata: [
      ...attention,
      ["attention.sliding_window", u32(64)],
      ["attention.key_length", u32(headLength)],
      ["attention.value_length", u32(headLength)],
    ],
    layer: (name, tensor) => [
      ...attentionLayer(name, tensor),
      ones(`${name}.post_attention_norm.weight`, embedding),
      ones(`${name}.attn_q_norm.weight`, headLength),
      ones(`${name}.attn_k_norm.weight`, headLength),
      ones(`${name}.post_ffw_norm.weight`, embedding),
    ],
  },
  qwen2vl: {
    count: layers,
    metadata: [
      ...attention,
      // Time, row, column: together half of a head's length.
      ["rope.dimension_sections", { kind: "array", of: "u32", items: [4, 6, 6, 0] }],
    ],
    layer: attentionLayer,
  },
  mamba: {
    count: layers,
    metadata: [["attention.head_count", u32(0)], ["feed_forward_length", u32(0)], ...stateLengths],
    layer: stateLayer,
  },
  jamba: {
    count: 2,
    metadata: [
      ...attention.filter(([key]) => key !== "attention.head_count_kv"),
      // No heads means a layer with a state.
      ["attention.head_count_kv", { kind: "array", of: "u32", items: [0, headsKv] }],
      ...stateLengths,
    ],
    layer: (name, tensor, index) =>
      index === 1
        ? attentionLayer(name, tensor)
        : [
            ...stateLayer(name, tensor),
            ones(`${name}.ssm_dt_norm.weight`, rank),
            ones(`${name}.ssm_b_norm.weight`, state),
            ones(`${name}.ssm_c_norm.weight`, state),
            ...feedForwardPart(name, tensor),
          ],
  },
};

const chatMl =
  "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}<|im_start|>{{ 'assistant\n' }}";

interface Token {
  readonly piece: string;
  /** ggml's token type: 1 is normal, 3 is control. */
  readonly type: number;
  readonly isText: boolean;
}

/** Four control tokens, every byte in GPT-2's spelling, one merge, and the marks. */
function tokens(marks: readonly string[]): Token[] {
  const control = ["<s>", "</s>", "<|im_start|>", "<|im_end|>"];
  return [
    ...control.map((piece) => ({ piece, type: 3, isText: false })),
    ...byteSpellings().map((piece, byte) => ({ piece, type: 1, isText: byte >= 0x20 && byte < 0x7f })),
    { piece: "th", type: 1, isText: true },
    // Marks in GPT-2's spelling are texts: a control token would be spelled that way to users.
    ...marks.map((piece) => ({ piece, type: piece.startsWith("\u010a") ? 1 : 3, isText: false })),
  ];
}

/**
 * Printable Latin-1 characters represent themselves. All other bytes are represented by the characters from
 * U+0100 on, in order.
 */
function byteSpellings(): string[] {
  let next = 0x100;
  return Array.from({ length: 256 }, (_, byte) => {
    const own = (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
    return String.fromCodePoint(own ? byte : next++);
  });
}

function floats(count: number, value: () => number): Buffer {
  const numbers = Float32Array.from({ length: count }, value);
  return Buffer.from(numbers.buffer, numbers.byteOffset, numbers.byteLength);
}

/** Random numbers with mean 0 and deviation 1, the same for the same seed. */
export function gaussian(seed: number): () => number {
  let state = (seed * 2_654_435_761) >>> 0 || 1;
  const uniform = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return ((state >>> 0) + 1) / (2 ** 32 + 1);
  };
  return () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
}
