import { type GgufSpec, ggufBytes, u16 } from "./tiny-gguf.ts";

/**
 * Splits a model into files like llama.cpp's tool. The first file contains the metadata, and each file
 * contains some tensors.
 */
export function splitGguf(spec: GgufSpec, count: number): Buffer[] {
  const each = Math.ceil(spec.tensors.length / count);
  return Array.from({ length: count }, (_, index) =>
    ggufBytes({
      metadata: [
        ...(index === 0 ? spec.metadata : []),
        ["split.no", u16(index)],
        ["split.count", u16(count)],
        ["split.tensors.count", { kind: "i32", value: spec.tensors.length }],
      ],
      tensors: spec.tensors.slice(index * each, (index + 1) * each),
    }),
  );
}
