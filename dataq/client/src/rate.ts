/**
 * Milliseconds until the server accepts another request, according to the rate headers of its last answer.
 * Returns 0 if the headers are missing or the server accepts a request now. Reads `RateLimit:
 * "account";r=0;t=3` (any of its policies may be exhausted), or else the older `X-RateLimit-Remaining` and
 * `X-RateLimit-Reset`.
 */
export function pauseMs(headers: Headers, now: number): number {
  const current = headers.get("ratelimit");
  if (current !== null) {
    const waits = current
      .split(",")
      .filter((policy) => parameter(policy, "r") === 0)
      .map((policy) => parameter(policy, "t") ?? 0);
    return Math.max(0, ...waits) * 1_000;
  }
  if (headers.get("x-ratelimit-remaining")?.trim() !== "0") return 0;
  const reset = Number(headers.get("x-ratelimit-reset") ?? Number.NaN);
  if (!(reset >= 0)) return 0;
  // Some servers send seconds from now; others send a Unix time.
  return reset > 1_000_000_000 ? Math.max(0, reset * 1_000 - now) : reset * 1_000;
}

function parameter(policy: string, name: string): number | undefined {
  const found = new RegExp(`;\\s*${name}=(\\d{1,9})\\s*(?:;|$)`).exec(policy);
  return found === null ? undefined : Number(found[1]);
}
