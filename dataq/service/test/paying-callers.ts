import { setTimeout as sleep } from "node:timers/promises";

/** What callers got. */
export interface PaidCalls {
  /** The request IDs of the calls that were answered. */
  readonly answered: readonly string[];
  /** Attempts that were not answered with 200. */
  readonly refused: number;
  readonly longestGapMs: number;
}

/**
 * Callers that pay, one call after the other. Each repeats a call under its Idempotency-Key until it is answered, on
 * whichever service its proxy chooses.
 */
export class PayingCallers {
  readonly #services: () => readonly string[];
  readonly #key: string;
  readonly #running: readonly Promise<void>[];
  readonly #answered: string[] = [];
  #refused = 0;
  #longestGapMs = 0;
  #lastAnswer = performance.now();
  #isOver = false;

  /** `services` returns the addresses that serve now. */
  constructor(services: () => readonly string[], key: string, callers: number) {
    this.#services = services;
    this.#key = key;
    this.#running = Array.from({ length: callers }, (_, number) => this.#call(number));
  }

  get answered(): number {
    return this.#answered.length;
  }

  /** Waits for the calls under way. */
  async stop(): Promise<PaidCalls> {
    this.#isOver = true;
    await Promise.all(this.#running);
    return { answered: this.#answered, refused: this.#refused, longestGapMs: this.#longestGapMs };
  }

  async #call(number: number): Promise<void> {
    for (let n = 0; !this.#isOver; n++) {
      for (let attempt = 0; ; attempt++) {
        const services = this.#services();
        const requestId = await this.#ask(services[(n + attempt) % services.length]!, `call-${number}-${n}`);
        if (requestId !== undefined) {
          const now = performance.now();
          this.#longestGapMs = Math.max(this.#longestGapMs, now - this.#lastAnswer);
          this.#lastAnswer = now;
          this.#answered.push(requestId);
          break;
        }
        this.#refused += 1;
        await sleep(200);
      }
    }
  }

  async #ask(url: string, name: string): Promise<string | undefined> {
    try {
      const answer = await fetch(`${url}/v1/data/query`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${this.#key}`,
          "content-type": "application/json",
          "idempotency-key": name,
        },
        body: JSON.stringify({ operation: "enterprise_shixin_check", params: { company_name: name } }),
      });
      const body = (await answer.json()) as { readonly request_id: string };
      return answer.status === 200 ? body.request_id : undefined;
    } catch {
      return undefined;
    }
  }
}
