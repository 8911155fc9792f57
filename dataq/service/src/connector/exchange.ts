import type { VendorAnswer, VendorRequest } from "./adapter.ts";

const largestAnswerBytes = 8 << 20;

/** Sends one request. The answer is bounded, whatever its status; redirects are errors. */
export async function exchange(
  { url, method, headers, body }: VendorRequest,
  signal: AbortSignal,
): Promise<VendorAnswer> {
  const response = await fetch(url, {
    method,
    headers,
    redirect: "error",
    signal,
    ...(body !== undefined && { body }),
  });
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    text: await bounded(response),
  };
}

/** `fetch` puts the actual reason into the cause of its error. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  return cause instanceof Error && cause.message !== ""
    ? `${error.message}: ${cause.message}`
    : error.message;
}

async function bounded(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > largestAnswerBytes) throw new Error(`the answer is larger than ${largestAnswerBytes} bytes`);
    chunks.push(chunk);
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}
