import { LocallmError } from "../../wire/errors.ts";
import type { GgufHeader } from "./header.ts";

/** Which of how many files this one is, counted from 0; `{0, 1}` for a file that is whole. Throws `invalid_gguf`. */
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
  if (!isPlace) throw broken("split.no and split.count do not fit together");
  return { index, count: Math.max(count, 1) };
}

/**
 * One header for the whole model: the first file's with the tensors of all, which must be all there are, in order.
 * Throws `invalid_gguf` with what is missing.
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
  if (first === undefined) throw broken("there is no file");
  const { count } = splitPlace(first);
  if (count !== headers.length) {
    throw broken(`it is split into ${count} files, and ${headers.length} came`);
  }
  for (const [expected, header] of headers.entries()) {
    const place = splitPlace(header);
    if (place.index !== expected || place.count !== count) {
      throw broken(`file ${expected + 1} of ${count} says that it is ${place.index + 1} of ${place.count}`);
    }
  }
  const tensors = headers.flatMap((header) => header.tensors.map(({ name }) => name));
  if (new Set(tensors).size !== tensors.length) throw broken("a tensor stands in two of its files");
  const announced = first.metadata.get("split.tensors.count");
  if (count > 1 && announced !== undefined && announced !== tensors.length) {
    throw broken(`its files hold ${tensors.length} tensors, and ${announced} were announced`);
  }
  return first;
}

function broken(rule: string): LocallmError {
  return new LocallmError("invalid_gguf", { rule });
}
