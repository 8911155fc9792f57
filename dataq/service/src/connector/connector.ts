import { Failure, type Params } from "@dataq/contract";
import { Breaker } from "./breaker.ts";
import { masked } from "./masking.ts";
import type { Found, Vendor, VendorRequest } from "./vendor.ts";

export interface ConnectorOptions {
  readonly timeLimitMs?: number;
  /** Concurrent calls to the vendor. Further calls are refused with 503. */
  readonly mostAtOnce?: number;
  readonly now?: () => number;
}

/** Calls a vendor with a time limit, a limit of concurrent calls and a circuit breaker. */
export class Connector {
  readonly vendor: Vendor;
  readonly #options: Required<ConnectorOptions>;
  readonly #breaker: Breaker;
  #running = 0;
  #calls = 0;
  #lastFailure: string | undefined;

  constructor(vendor: Vendor, options: ConnectorOptions = {}) {
    this.vendor = vendor;
    this.#options = { timeLimitMs: 8_000, mostAtOnce: 8, now: Date.now, ...options };
    this.#breaker = new Breaker({ failures: 5, coolDownMs: 30_000, now: this.#options.now });
  }

  /** Calls made and what they cost the operator since the start. */
  get spent(): { readonly calls: number; readonly fen: number } {
    return { calls: this.#calls, fen: this.#calls * this.vendor.costFen };
  }

  /** Why the last call failed; undefined when it did not. */
  get lastFailure(): string | undefined {
    return this.#lastFailure;
  }

  async ask(params: Params, signal: AbortSignal): Promise<Found> {
    const { operation } = this.vendor;
    if (this.#running >= this.#options.mostAtOnce)
      throw new Failure("unavailable", { operation, retry_after: 1 }, new Error("too many calls at once"));
    const entered = this.#breaker.enter();
    if (entered.isOpen) {
      const why = `paused after repeated failures; the last one: ${this.#lastFailure ?? "unknown"}`;
      throw new Failure("unavailable", { operation, retry_after: entered.retryAfterS }, new Error(why));
    }
    this.#running++;
    this.#calls++;
    try {
      const found = await this.#call(params, signal);
      if (found.outcome === "wrong") throw this.#failure("upstream_error", found.why.en);
      if (found.outcome === "unavailable") throw this.#failure("unavailable", found.why.en);
      this.#breaker.succeed();
      this.#lastFailure = undefined;
      return found;
    } catch (error) {
      if (signal.aborted) this.#breaker.leave();
      else {
        this.#breaker.fail();
        this.#lastFailure = (error as Error & { cause?: Error }).cause?.message;
      }
      throw error;
    } finally {
      this.#running--;
    }
  }

  async #call(params: Params, signal: AbortSignal): Promise<Found> {
    const limit = AbortSignal.timeout(this.#options.timeLimitMs);
    try {
      const { status, text } = await exchange(this.vendor.request(params), AbortSignal.any([signal, limit]));
      if (status < 200 || status > 299) throw new Error(`status ${status}`);
      return this.vendor.read(parse(text), params);
    } catch (error) {
      const isLate = limit.aborted && !signal.aborted;
      throw isLate
        ? this.#failure("upstream_timeout", `no answer in ${this.#options.timeLimitMs} ms`)
        : this.#failure("upstream_error", reasonOf(error));
    }
  }

  /** The cause goes into the operator's log only. */
  #failure(code: "upstream_error" | "upstream_timeout" | "unavailable", why: string): Failure {
    const { operation, secrets } = this.vendor;
    const details = { operation, ...(code === "unavailable" && { retry_after: 30 }) };
    return new Failure(code, details, new Error(masked(why, secrets)));
  }
}

/** One request and its bounded answer, whatever its status. */
export async function exchange(
  { url, ...request }: VendorRequest,
  signal: AbortSignal,
): Promise<{ readonly status: number; readonly text: string }> {
  const response = await fetch(url, { ...request, redirect: "error", signal });
  return { status: response.status, text: await bounded(response) };
}

/** `fetch` puts the actual reason into the cause of its error. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  return cause instanceof Error && cause.message !== ""
    ? `${error.message}: ${cause.message}`
    : error.message;
}

const largestAnswerBytes = 8 << 20;

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

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error("the answer is not JSON");
  }
}
