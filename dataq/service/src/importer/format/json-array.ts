import { ImportError } from "../import-error.ts";
import { say } from "../message.ts";
import type { Row } from "./row.ts";

/** Maximum size of a file. An array is parsed as a whole and takes several times its size in memory. */
const longestBytes = 64 << 20;

/**
 * A file that is one JSON array of objects. `line` is the position in the array. `name` is the name of the file
 * without its ending.
 */
export async function* readJsonArray(chunks: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<Row> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > longestBytes)
      throw new ImportError("array_too_large", { megabytes: longestBytes >> 20, name });
    // Copied, because a stream may reuse its buffer.
    parts.push(Uint8Array.from(chunk));
  }
  for (const [place, value] of arrayIn(Buffer.concat(parts)).entries()) {
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    yield isObject
      ? { line: place + 1, fields: value as Record<string, unknown> }
      : { line: place + 1, problem: say("row_not_object") };
  }
}

function arrayIn(bytes: Uint8Array): unknown[] {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) as unknown[];
  } catch (error) {
    throw new ImportError("not_one_array", { reason: (error as Error).message }, error);
  }
}
