/** Names and block sizes of ggml's tensor types, from ggml.h of the llama.cpp release that we use. */
interface TensorType {
  name: string;
  /** Elements per block. */
  blockLength: number;
  blockBytes: number;
}

const tensorTypes = new Map<number, TensorType>(
  (
    [
      [0, "F32", 1, 4],
      [1, "F16", 1, 2],
      [2, "Q4_0", 32, 18],
      [3, "Q4_1", 32, 20],
      [6, "Q5_0", 32, 22],
      [7, "Q5_1", 32, 24],
      [8, "Q8_0", 32, 34],
      [9, "Q8_1", 32, 36],
      [10, "Q2_K", 256, 84],
      [11, "Q3_K", 256, 110],
      [12, "Q4_K", 256, 144],
      [13, "Q5_K", 256, 176],
      [14, "Q6_K", 256, 210],
      [15, "Q8_K", 256, 292],
      [16, "IQ2_XXS", 256, 66],
      [17, "IQ2_XS", 256, 74],
      [18, "IQ3_XXS", 256, 98],
      [19, "IQ1_S", 256, 50],
      [20, "IQ4_NL", 32, 18],
      [21, "IQ3_S", 256, 110],
      [22, "IQ2_S", 256, 82],
      [23, "IQ4_XS", 256, 136],
      [24, "I8", 1, 1],
      [25, "I16", 1, 2],
      [26, "I32", 1, 4],
      [27, "I64", 1, 8],
      [28, "F64", 1, 8],
      [29, "IQ1_M", 256, 56],
      [30, "BF16", 1, 2],
      [34, "TQ1_0", 256, 54],
      [35, "TQ2_0", 256, 66],
      [39, "MXFP4", 32, 17],
      [40, "NVFP4", 64, 36],
      [41, "Q1_0", 128, 18],
      [42, "Q2_0", 64, 18],
    ] as const
  ).map(([id, name, blockLength, blockBytes]) => [id, { name, blockLength, blockBytes }]),
);

export function tensorType(id: number): TensorType | undefined {
  return tensorTypes.get(id);
}

/** `general.file_type` → name of the quantisation, from llama.cpp's `llama_ftype`. */
const fileTypes: Readonly<Record<number, string>> = {
  0: "F32",
  1: "F16",
  2: "Q4_0",
  3: "Q4_1",
  7: "Q8_0",
  8: "Q5_0",
  9: "Q5_1",
  10: "Q2_K",
  11: "Q3_K_S",
  12: "Q3_K_M",
  13: "Q3_K_L",
  14: "Q4_K_S",
  15: "Q4_K_M",
  16: "Q5_K_S",
  17: "Q5_K_M",
  18: "Q6_K",
  19: "IQ2_XXS",
  20: "IQ2_XS",
  21: "Q2_K_S",
  22: "IQ3_XS",
  23: "IQ3_XXS",
  24: "IQ1_S",
  25: "IQ4_NL",
  26: "IQ3_S",
  27: "IQ3_M",
  28: "IQ2_S",
  29: "IQ2_M",
  30: "IQ4_XS",
  31: "IQ1_M",
  32: "BF16",
  36: "TQ1_0",
  37: "TQ2_0",
  38: "MXFP4",
  39: "NVFP4",
  40: "Q1_0",
  41: "Q2_0",
};

export function fileTypeName(fileType: number): string {
  return fileTypes[fileType] ?? "unknown";
}

/** Other names that llama.cpp's `llama-quantize` takes for a type. */
const aliases: Readonly<Record<string, string>> = {
  Q3_K: "Q3_K_M",
  Q4_K: "Q4_K_M",
  Q5_K: "Q5_K_M",
  MXFP4_MOE: "MXFP4",
};

/** The types that the engine can write. It reads NVFP4, but does not write it. */
const writable = Object.entries(fileTypes)
  .map(([id, name]) => ({ id: Number(id), name }))
  .filter(({ name }) => name !== "NVFP4");

export const writableTypes: readonly string[] = writable.map(({ name }) => name.toLowerCase());

/** The type that `quantize` asks for, in upper or lower case, or null. */
export function writableType(asked: string): { id: number; name: string } | null {
  const upper = asked.toUpperCase();
  return writable.find(({ name }) => name === (aliases[upper] ?? upper)) ?? null;
}

const bytesByName = new Map([...tensorTypes.values()].map((type) => [type.name, type]));

/** The size of a tensor of this type and shape. */
export function tensorBytes(typeName: string, shape: readonly number[]): number {
  const type = bytesByName.get(typeName);
  const elements = shape.reduce((product, length) => product * length, 1);
  return type === undefined ? elements * 4 : (elements / type.blockLength) * type.blockBytes;
}
