import { randomUUID } from "node:crypto";
import { Failure, type Params } from "@dataq/contract";
import { masked } from "./masking.ts";
import type { Found, Vendor, VendorRequest } from "./vendor.ts";

export interface ConnectorOptions {
  readonly timeLimitMs?: number;
  /** Concurrent calls to the vendor. Further calls are refused with 503. */
  readonly mostAtOnce?: number;
  readonly now?: () => number;
}

/** Knows which calls may be sent to a vendor; see limits/vendor-gate.ts. */
export interface Gate {
  enter(call: {
    readonly id: string;
    readonly operation: string;
    readonly mostAtOnce: number;
    readonly leaseMs: number;
    readonly nowMs: number;
  }): Promise<
    | { readonly refused: "full" }
    | { readonly refused: "open"; readonly retryAfterS: number; readonly lastFailure: string | null }
    | undefined
  >;
  leave(id: string, operation: string, nowMs: number, failure: string | null | undefined): Promise<void>;
}

/** After its time limit, a call whose process was killed still counts as open for this long. */
const LEASE_BEYOND_LIMIT_MS = 5_000;

/** Calls a vendor with a time limit, and only if the gate lets the call pass. */
export class Connector {
  readonly vendor: Vendor;
  readonly #gate: Gate;
  readonly #options: Required<ConnectorOptions>;

  constructor(vendor: Vendor, gate: Gate, options: ConnectorOptions = {}) {
    this.vendor = vendor;
    this.#gate = gate;
    this.#options = { timeLimitMs: 8_000, mostAtOnce: 8, now: Date.now, ...options };
  }

  async ask(params: Params, signal: AbortSignal): Promise<Found> {
    const { operation } = this.vendor;
    const { timeLimitMs, mostAtOnce, now } = this.#options;
    const id = randomUUID();
    const leaseMs = timeLimitMs + LEASE_BEYOND_LIMIT_MS;
    const refusal = await this.#gate.enter({ id, operation, mostAtOnce, leaseMs, nowMs: now() });
    if (refusal?.refused === "full")
      throw new Failure("unavailable", { operation, retry_after: 1 }, new Error("too many calls at once"));
    if (refusal?.refused === "open") {
      const why = `paused after repeated failures; the last one: ${refusal.lastFailure ?? "unknown"}`;
      throw new Failure("unavailable", { operation, retry_after: refusal.retryAfterS }, new Error(why));
    }
    let failure: string | null | undefined;
    try {
      const found = await this.#call(params, signal);
      if (found.outcome === "wrong") throw this.#failure("upstream_error", found.why.en);
      if (found.outcome === "unavailable") throw this.#failure("unavailable", found.why.en);
      failure = null;
      return found;
    } catch (error) {
      if (!signal.aborted) failure = (error as Error & { cause?: Error }).cause?.message ?? "unknown";
      throw error;
    } finally {
      // If it cannot be written, the lease ends the call.
      await this.#gate
        .leave(id, operation, now(), failure?.toWellFormed().replaceAll("\0", ""))
        .catch(() => {});
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
