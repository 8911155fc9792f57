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

/** Whether a request that failed may have reached the vendor. */
export function wasSent(error: unknown): boolean {
  const { cause } = error as { readonly cause?: { readonly code?: string } };
  return !unsent.has(cause?.code ?? "");
}

/** What fails before there is a connection, or its certificate was checked. */
const unsent: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
  "CERT_HAS_EXPIRED",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "ERR_TLS_CERT_ALTNAME_INVALID",
]);

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
