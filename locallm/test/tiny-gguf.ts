/** Builds small GGUF files for tests, also broken ones: every number of the layout can be set. */

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
  /** ggml's number; 0 is F32. */
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

export const u32 = (value: number): Entry => ({ kind: "u32", value });
export const f32 = (value: number): Entry => ({ kind: "f32", value });
export const text = (value: string): Entry => ({ kind: "string", value });

/** A file that passes every rule: two tensors, the keys that a llama model has, a vocabulary of four. */
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
