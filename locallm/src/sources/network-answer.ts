import { LocallmError } from "../wire/errors.ts";
import type { NetworkResponse } from "./network.ts";
import { networkReason } from "./network-reason.ts";

/** Reads a small answer. Throws `source_failed` if it exceeds the limit, so that no answer can exhaust memory. */
export async function readBody(response: NetworkResponse, limitBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  const { host } = response.url;
  try {
    for await (const chunk of response.body as AsyncIterable<Buffer>) {
      sizeBytes += chunk.length;
      if (sizeBytes > limitBytes) {
        const reason = `its answer is larger than ${limitBytes} bytes`;
        throw new LocallmError("source_failed", { host, reason });
      }
      chunks.push(chunk);
    }
  } catch (error) {
    const isOurs = error instanceof LocallmError || (error as Error).name === "AbortError";
    if (isOurs) throw error;
    throw new LocallmError("source_unreachable", { host, reason: networkReason(error) }, { cause: error });
  } finally {
    response.body.destroy();
  }
  return Buffer.concat(chunks);
}

/**
 * `it answered 413: blob too large`: the error status, and the reason if the body has the usual shape. The model hub
 * lists available quantisations in such errors.
 */
export async function readRefusal(response: NetworkResponse): Promise<string> {
  const words = response.status < 500 ? await readWords(response) : null;
  response.body.destroy();
  return `it answered ${response.status}${words === null ? "" : `: ${words}`}`;
}

async function readWords(response: NetworkResponse): Promise<string | null> {
  try {
    const body: unknown = JSON.parse((await readBody(response, 64 * 1024)).toString());
    const { error, errors } = body as { error?: unknown; errors?: { message?: unknown }[] };
    const words = error ?? errors?.[0]?.message;
    if (typeof words !== "string") return null;
    // URLs may contain secrets.
    return words
      .replace(/\w+:\/\/\S+/g, "…")
      .replace(/\s+/g, " ")
      .slice(0, 200);
  } catch {
    return null;
  }
}

/** Whether a retry may succeed: the server failed, is busy or timed out. */
export function mayPass(status: number): boolean {
  return status >= 500 || status === 408 || status === 425 || status === 429;
}
