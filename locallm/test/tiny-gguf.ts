/** Builds small GGUF files for tests, including broken ones. Tests can set every number of the layout. */

type Kind = "u8" | "i8" | "u16" | "i16" | "u32" | "i32" | "f32" | "bool" | "string" | "u64" | "i64" | "f64";
const kinds: readonly (Kind | "array")[] = [
  "u8",
  "i8",
  "u16",
  "i16",
  "u32",
  "i32",
  "f32",
  "bool",
  "string",
  "array",
  "u64",
  "i64",
  "f64",
];

export type Entry =
  | { kind: Kind; value: number | bigint | boolean | string }
  | { kind: "array"; of: Kind; items: (number | bigint | boolean | string)[]; announced?: bigint }
  | { kind: "bytes"; bytes: Buffer };

export interface TensorSpec {
  name: string;
  shape: (number | bigint)[];
  /** ggml's number for the type; 0 is F32. */
  type?: number;
  data?: Buffer;
  offset?: bigint;
}

export interface GgufSpec {
  magic?: string;
  version?: number;
  tensorCount?: bigint;
  entryCount?: bigint;
  metadata: [string, Entry][];
  tensors: TensorSpec[];
}

export const u16 = (value: number): Entry => ({ kind: "u16", value });
export const u32 = (value: number): Entry => ({ kind: "u32", value });
export const f32 = (value: number): Entry => ({ kind: "f32", value });
export const text = (value: string): Entry => ({ kind: "string", value });

/**
 * A file that satisfies every rule, with two tensors, the keys of a llama model and a vocabulary of four
 * tokens.
 */
export function tinyModel(changes: Partial<GgufSpec> = {}): GgufSpec {
  return {
    metadata: [
      ["general.architecture", text("llama")],
      ["general.file_type", u32(0)],
      ["llama.block_count", u32(1)],
      ["llama.context_length", u32(64)],
      ["llama.embedding_length", u32(32)],
      ["llama.attention.head_count", u32(2)],
      ["llama.attention.layer_norm_rms_epsilon", f32(1e-5)],
      ["tokenizer.ggml.model", text("gpt2")],
      ["tokenizer.ggml.tokens", { kind: "array", of: "string", items: ["<s>", "</s>", "a", "b", "é", "f"] }],
      ["tokenizer.ggml.token_type", { kind: "array", of: "i32", items: [3, 3, 1, 1, 1, 1] }],
      ["tokenizer.ggml.bos_token_id", u32(0)],
      ["tokenizer.ggml.eos_token_id", u32(1)],
      ["tokenizer.chat_template", text("{% for m in messages %}{{ m.content }}{% endfor %}")],
    ],
    tensors: [
      { name: "token_embd.weight", shape: [32, 6] },
      { name: "output_norm.weight", shape: [32] },
    ],
    ...changes,
  };
}

export function withEntry(spec: GgufSpec, key: string, entry: Entry): GgufSpec {
  const metadata = spec.metadata.filter(([name]) => name !== key);
  return { ...spec, metadata: [...metadata, [key, entry]] };
}

export function ggufBytes(spec: GgufSpec): Buffer {
  const alignment = 32;
  const head: Buffer[] = [
    Buffer.from(spec.magic ?? "GGUF", "latin1"),
    u32Bytes(spec.version ?? 3),
    u64Bytes(spec.tensorCount ?? BigInt(spec.tensors.length)),
    u64Bytes(spec.entryCount ?? BigInt(spec.metadata.length)),
  ];
  for (const [key, entry] of spec.metadata) head.push(stringBytes(key), entryBytes(entry));
  const data: Buffer[] = [];
  let offset = 0;
  for (const tensor of spec.tensors) {
    const elements = tensor.shape.reduce<number>((product, length) => product * Number(length), 1);
    const bytes =
      tensor.data ?? Buffer.alloc(Number.isSafeInteger(elements) && elements < 1e6 ? elements * 4 : 0);
    head.push(
      stringBytes(tensor.name),
      u32Bytes(tensor.shape.length),
      ...tensor.shape.map((length) => u64Bytes(BigInt(length))),
      u32Bytes(tensor.type ?? 0),
      u64Bytes(tensor.offset ?? BigInt(offset)),
    );
    const padding = (alignment - (bytes.length % alignment)) % alignment;
    data.push(bytes, Buffer.alloc(padding));
    offset += bytes.length + padding;
  }
  const header = Buffer.concat(head);
  const padding = Buffer.alloc((alignment - (header.length % alignment)) % alignment);
  return Buffer.concat([header, padding, ...data]);
}

function entryBytes(entry: Entry): Buffer {
  if (entry.kind === "bytes") return entry.bytes;
  const kind = u32Bytes(kinds.indexOf(entry.kind));
  if (entry.kind !== "array") return Buffer.concat([kind, scalarBytes(entry.kind, entry.value)]);
  return Buffer.concat([
    kind,
    u32Bytes(kinds.indexOf(entry.of)),
    u64Bytes(entry.announced ?? BigInt(entry.items.length)),
    ...entry.items.map((item) => scalarBytes(entry.of, item)),
  ]);
}

function scalarBytes(kind: Kind, value: number | bigint | boolean | string): Buffer {
  if (kind === "string") return stringBytes(String(value));
  const bytes = Buffer.alloc(
    { u8: 1, i8: 1, bool: 1, u16: 2, i16: 2, u64: 8, i64: 8, f64: 8 }[kind as "u8"] ?? 4,
  );
  if (kind === "f32") bytes.writeFloatLE(Number(value));
  else if (kind === "f64") bytes.writeDoubleLE(Number(value));
  else if (kind === "u64" || kind === "i64") bytes.writeBigInt64LE(BigInt.asIntN(64, BigInt(value)));
  else bytes.writeIntLE(signed(value, bytes.length), 0, bytes.length);
  return bytes;
}

function signed(value: number | bigint | boolean | string, bytes: number): number {
  return Number(BigInt.asIntN(bytes * 8, BigInt(Number(value))));
}

function stringBytes(value: string): Buffer {
  const bytes = Buffer.from(value, "utf8");
  return Buffer.concat([u64Bytes(BigInt(bytes.length)), bytes]);
}

function u32Bytes(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function u64Bytes(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt.asUintN(64, value));
  return bytes;
}

/**
 * A llama model with one layer and 300 tokens that the engine can load and run. Its weights are random. It
 * takes about 130 KB.
 */
export function loadableModel(): GgufSpec {
  const width = 32;
  const hidden = 64;
  // GPT-2's tokenizer uses 256 printable characters, one for each byte.
  const characters = Array.from({ length: 256 }, (_, byte) => String.fromCodePoint(printableByte(byte)));
  const extra = Array.from({ length: 42 }, (_, index) => `Ġw${index}`);
  const tokens = [...characters, ...extra, "<s>", "</s>"];
  let state = 7;
  const noise = (length: number) => {
    const bytes = Buffer.alloc(length * 4);
    for (let at = 0; at < length; at++) {
      state = (state * 48_271) % 0x7fffffff;
      bytes.writeFloatLE((state / 0x7fffffff - 0.5) * 0.5, at * 4);
    }
    return bytes;
  };
  const tensor = (name: string, ...shape: number[]): TensorSpec => ({
    name,
    shape,
    data: noise(shape.reduce((product, length) => product * length, 1)),
  });
  return {
    metadata: [
      ["general.architecture", text("llama")],
      ["general.file_type", u32(0)],
      ["llama.block_count", u32(1)],
      ["llama.context_length", u32(512)],
      ["llama.embedding_length", u32(width)],
      ["llama.feed_forward_length", u32(hidden)],
      ["llama.attention.head_count", u32(2)],
      ["llama.attention.head_count_kv", u32(2)],
      ["llama.attention.layer_norm_rms_epsilon", f32(1e-5)],
      ["llama.rope.dimension_count", u32(16)],
      ["llama.vocab_size", u32(tokens.length)],
      ["tokenizer.ggml.model", text("gpt2")],
      ["tokenizer.ggml.pre", text("default")],
      ["tokenizer.ggml.tokens", { kind: "array", of: "string", items: tokens }],
      [
        "tokenizer.ggml.token_type",
        { kind: "array", of: "i32", items: tokens.map((_, index) => (index < tokens.length - 2 ? 1 : 3)) },
      ],
      ["tokenizer.ggml.merges", { kind: "array", of: "string", items: ["Ġ w"] }],
      ["tokenizer.ggml.bos_token_id", u32(tokens.length - 2)],
      ["tokenizer.ggml.eos_token_id", u32(tokens.length - 1)],
    ],
    tensors: [
      tensor("token_embd.weight", width, tokens.length),
      tensor("output_norm.weight", width),
      tensor("output.weight", width, tokens.length),
      tensor("blk.0.attn_norm.weight", width),
      tensor("blk.0.attn_q.weight", width, width),
      tensor("blk.0.attn_k.weight", width, width),
      tensor("blk.0.attn_v.weight", width, width),
      tensor("blk.0.attn_output.weight", width, width),
      tensor("blk.0.ffn_norm.weight", width),
      tensor("blk.0.ffn_gate.weight", width, hidden),
      tensor("blk.0.ffn_up.weight", width, hidden),
      tensor("blk.0.ffn_down.weight", hidden, width),
    ],
  };
}

/** GPT-2 represents unprintable bytes by the characters from 256 on. */
function printableByte(byte: number): number {
  const prints = (code: number) => (code >= 33 && code <= 126) || (code >= 161 && code <= 172) || code >= 174;
  if (prints(byte)) return byte;
  let shifted = 256;
  for (let code = 0; code < byte; code++) if (!prints(code)) shifted++;
  return shifted;
}
