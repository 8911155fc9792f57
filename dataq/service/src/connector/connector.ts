import { Failure, type Params } from "@dataq/contract";
import { Breaker } from "./breaker.ts";
import type { Found, Vendor } from "./vendor.ts";

export interface ConnectorOptions {
  readonly timeLimitMs?: number;
  /** Calls to the vendor at once; more are refused with 503. */
  readonly mostAtOnce?: number;
  readonly now?: () => number;
}

/** Calls a vendor with a time limit, a cap and a breaker. Its failures are 502, 503 and 504, never ours. */
export class Connector {
  readonly vendor: Vendor;
  readonly #options: Required<ConnectorOptions>;
  readonly #breaker: Breaker;
  #running = 0;
  #calls = 0;

  constructor(vendor: Vendor, options: ConnectorOptions = {}) {
    this.vendor = vendor;
    this.#options = { timeLimitMs: 8_000, mostAtOnce: 8, now: Date.now, ...options };
    this.#breaker = new Breaker({ failures: 5, coolDownMs: 30_000, now: this.#options.now });
  }

  /** Calls made and what they cost the operator since the start. */
  get spent(): { readonly calls: number; readonly fen: number } {
    return { calls: this.#calls, fen: this.#calls * this.vendor.costFen };
  }

  async ask(params: Params, signal: AbortSignal): Promise<Found> {
    const { operation } = this.vendor;
    if (this.#running >= this.#options.mostAtOnce)
      throw new Failure("unavailable", { operation, retry_after: 1 });
    const entered = this.#breaker.enter();
    if (entered.isOpen) throw new Failure("unavailable", { operation, retry_after: entered.retryAfterS });
    this.#running++;
    this.#calls++;
    try {
      const found = await this.#call(params, signal);
      if (found.outcome === "wrong") throw new Failure("upstream_error", { operation }, new Error(found.why));
      if (found.outcome === "unavailable") {
        throw new Failure("unavailable", { operation, retry_after: 30 }, new Error(found.why));
      }
      this.#breaker.succeed();
      return found;
    } catch (error) {
      if (signal.aborted) this.#breaker.leave();
      else this.#breaker.fail();
      throw error;
    } finally {
      this.#running--;
    }
  }

  async #call(params: Params, signal: AbortSignal): Promise<Found> {
    const { operation } = this.vendor;
    const limit = AbortSignal.timeout(this.#options.timeLimitMs);
    const { url, ...request } = this.vendor.request(params);
    try {
      const response = await fetch(url, {
        ...request,
        redirect: "error",
        signal: AbortSignal.any([signal, limit]),
      });
      const text = await bounded(response);
      if (!response.ok) return { outcome: "wrong", why: `status ${response.status}` };
      return this.vendor.read(parse(text), params);
    } catch (error) {
      if (limit.aborted && !signal.aborted) throw new Failure("upstream_timeout", { operation }, error);
      throw new Failure("upstream_error", { operation }, error);
    }
  }
}

const largestAnswerBytes = 8 << 20;

async function bounded(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > largestAnswerBytes) throw new Error(`The answer is larger than ${largestAnswerBytes} bytes.`);
    chunks.push(chunk);
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error("The answer is not JSON.", { cause: error });
  }
}
