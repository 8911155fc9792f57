import { counted } from "../../wire/counted.ts";
import { LocallmError } from "../../wire/errors.ts";
import type { GgufHeader } from "./header.ts";

/** The file's index in a split model, counted from 0, and the number of files; `{0, 1}` if it is not split. Throws `invalid_gguf`. */
export function splitPlace(header: GgufHeader): { index: number; count: number } {
  const index = header.metadata.get("split.no") ?? 0;
  const count = header.metadata.get("split.count") ?? 0;
  const isPlace =
    typeof index === "number" &&
    typeof count === "number" &&
    Number.isInteger(count) &&
    Number.isInteger(index) &&
    index >= 0 &&
    index < Math.max(count, 1);
  if (!isPlace) throw broken("split.no and split.count are inconsistent");
  return { index, count: Math.max(count, 1) };
}

/**
 * Returns one header for a split model: the first file's header with the tensors of all files. The files must
 * be complete and in order. Throws `invalid_gguf`, which names what is missing.
 */
export function joinHeaders(headers: readonly GgufHeader[]): GgufHeader {
  const first = requireWhole(headers);
  if (headers.length === 1) return first;
  const sum = (value: (header: GgufHeader) => number) =>
    headers.reduce((total, header) => total + value(header), 0);
  return {
    ...first,
    tensors: headers.flatMap(({ tensors }) => tensors),
    parameterCount: sum((header) => header.parameterCount),
    sizeBytes: sum((header) => header.sizeBytes),
  };
}

function requireWhole(headers: readonly GgufHeader[]): GgufHeader {
  const [first] = headers;
  if (first === undefined) throw broken("no files were given");
  const { count } = splitPlace(first);
  if (count !== headers.length) {
    throw broken(`expected ${counted(count, "split file")}, got ${headers.length}`);
  }
  for (const [expected, header] of headers.entries()) {
    const place = splitPlace(header);
    if (place.index !== expected || place.count !== count) {
      throw broken(`file ${expected + 1} of ${count} is marked as ${place.index + 1} of ${place.count}`);
    }
  }
  const tensors = headers.flatMap((header) => header.tensors.map(({ name }) => name));
  if (new Set(tensors).size !== tensors.length) throw broken("a tensor occurs in two of its files");
  const announced = first.metadata.get("split.tensors.count");
  if (count > 1 && announced !== undefined && announced !== tensors.length) {
    throw broken(`its files contain ${counted(tensors.length, "tensor")} instead of ${announced}`);
  }
  return first;
}

function broken(rule: string): LocallmError {
  return new LocallmError("invalid_gguf", { rule });
}
