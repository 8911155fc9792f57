import { f32, type GgufSpec, ggufBytes, type TensorSpec, text, u32 } from "./tiny-gguf.ts";

const embedding = 64;
const heads = 2;
const headsKv = 1;
const feedForward = 128;
const layers = 2;
const contextLength = 4096;

/**
 * A whole llama of 100 thousand random weights: the engine loads it in a few milliseconds and decodes thousands
 * of tokens a second. It speaks printable ASCII and never ends by itself; another seed is another model.
 */
export function smallLlama(seed: number): Buffer {
  const random = gaussian(seed);
  const tensor = (name: string, shape: number[], scale = 0.3): TensorSpec => ({
    name,
    shape,
    data: floats(
      shape.reduce((product, length) => product * length, 1),
      () => random() * scale,
    ),
  });
  const ones = (name: string): TensorSpec => ({ name, shape: [embedding], data: floats(embedding, () => 1) });
  const headLength = embedding / heads;
  const vocabulary = tokens();
  const spec: GgufSpec = {
    metadata: [
      ["general.architecture", text("llama")],
      ["general.name", text(`small llama ${seed}`)],
      ["general.file_type", u32(0)],
      ["llama.block_count", u32(layers)],
      ["llama.context_length", u32(contextLength)],
      ["llama.embedding_length", u32(embedding)],
      ["llama.feed_forward_length", u32(feedForward)],
      ["llama.attention.head_count", u32(heads)],
      ["llama.attention.head_count_kv", u32(headsKv)],
      ["llama.attention.layer_norm_rms_epsilon", f32(1e-5)],
      ["llama.rope.dimension_count", u32(headLength)],
      ["llama.rope.freq_base", f32(10_000)],
      ["llama.vocab_size", u32(vocabulary.length)],
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
        // What has no weight has logit 0 and never wins: control tokens, and bytes that are no text alone.
        data: Buffer.concat(vocabulary.map(({ isText }) => floats(embedding, () => (isText ? random() : 0)))),
      },
      ones("output_norm.weight"),
      ...Array.from({ length: layers }, (_, layer) => [
        ones(`blk.${layer}.attn_norm.weight`),
        tensor(`blk.${layer}.attn_q.weight`, [embedding, embedding]),
        tensor(`blk.${layer}.attn_k.weight`, [embedding, headsKv * headLength]),
        tensor(`blk.${layer}.attn_v.weight`, [embedding, headsKv * headLength]),
        tensor(`blk.${layer}.attn_output.weight`, [embedding, embedding]),
        ones(`blk.${layer}.ffn_norm.weight`),
        tensor(`blk.${layer}.ffn_gate.weight`, [embedding, feedForward]),
        tensor(`blk.${layer}.ffn_up.weight`, [embedding, feedForward]),
        tensor(`blk.${layer}.ffn_down.weight`, [feedForward, embedding]),
      ]).flat(),
    ],
  };
  return ggufBytes(spec);
}

const chatMl =
  "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}<|im_start|>{{ 'assistant\n' }}";

interface Token {
  readonly piece: string;
  /** ggml's number: 1 is normal, 3 control. */
  readonly type: number;
  readonly isText: boolean;
}

/** Four control tokens, every byte in GPT-2's spelling, and one merge. */
function tokens(): Token[] {
  const control = ["<s>", "</s>", "<|im_start|>", "<|im_end|>"];
  return [
    ...control.map((piece) => ({ piece, type: 3, isText: false })),
    ...byteSpellings().map((piece, byte) => ({ piece, type: 1, isText: byte >= 0x20 && byte < 0x7f })),
    { piece: "th", type: 1, isText: true },
  ];
}

/** Printable Latin-1 stands for itself, every other byte for a letter from U+0100 on, in order. */
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

/** Numbers around 0 with spread 1, the same for the same seed. */
function gaussian(seed: number): () => number {
  let state = (seed * 2_654_435_761) >>> 0 || 1;
  const uniform = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return ((state >>> 0) + 1) / (2 ** 32 + 1);
  };
  return () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
}
