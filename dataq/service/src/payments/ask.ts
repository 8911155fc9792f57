/** A request to a provider. */
export interface Asked {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

const LIMIT_MS = 10_000;
const LIMIT_BYTES = 1_000_000;

/** Sends a request to a provider. No redirect is followed, because the request holds credentials. */
export async function send({ url, ...request }: Asked): Promise<Answered> {
  const response = await fetch(url, {
    ...request,
    redirect: "error",
    signal: AbortSignal.timeout(LIMIT_MS),
  });
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > LIMIT_BYTES) throw new Error("the provider's answer is too long");
    chunks.push(chunk);
  }
  return { status: response.status, headers: response.headers, text: Buffer.concat(chunks).toString() };
}
