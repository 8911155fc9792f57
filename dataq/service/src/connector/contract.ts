import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { Failure, type Params } from "@dataq/contract";
import type { Adapter, Found, Send, StatedBalance, VendorAnswer, VendorRequest } from "./adapter.ts";
import { exchange, reasonOf, wasSent } from "./exchange.ts";
import type { Gate, Terms, Verdict } from "./gate.ts";
import { masked } from "./masking.ts";

export const usualTerms: Terms = {
  timeLimitMs: 8_000,
  mostAtOnce: 8,
  everyMs: 0,
  mostPerDay: null,
  costFen: 0,
};

export interface ContractParts {
  /** Key of the contract in connectors.json and in the database. */
  readonly name: string;
  /** Publisher, for every record's source. */
  readonly publisher: string;
  readonly kind: "official" | "licensed" | "third_party";
  readonly licence: string | null;
  readonly adapters: readonly Adapter[];
  /** Credentials, which must not appear in logs or pages. */
  readonly secrets: readonly string[];
  readonly terms?: Partial<Terms>;
  /** When it was connected, if that is known. */
  readonly since?: Date;
  /** What was paid in, and when, as the operator says. */
  readonly balance?: { readonly fen: number; readonly since: Date };
  /** How the vendor itself says what is left; absent if it does not. */
  readonly stated?: StatedBalance;
  /** Asked also for what it knows of records that another source found. */
  readonly joins?: boolean;
}

/** What the caller makes of an answer. Throws a `Failure` where it does not fit. */
type Read<T> = (found: Found) => T;

/** Who asks, and how long the answer is waited for. */
export interface Asking {
  readonly signal: AbortSignal;
  /** How long a request may wait for its turn. */
  readonly patienceMs: number;
  readonly requestId?: string | undefined;
  /** Is told what each request costs, in fen, when it is sent. */
  readonly paid?: (fen: number) => void;
}

/** After its time limit, a request whose process was killed still counts as open for this long. */
const LEASE_BEYOND_LIMIT_MS = 5_000;

/** How often a call looks for a free place while all are taken. */
const FULL_WAIT_MS = 200;

/** How long nobody is asked if the balance is used up. */
const OUT_OF_MONEY_MS = 600_000;

const answered: Found = { outcome: "not_found" };

/** A contract with a vendor: every request of every operation goes through its gate. */
export class Contract {
  readonly parts: ContractParts;
  readonly name: string;
  readonly terms: Terms;
  readonly #adapters: ReadonlyMap<string, Adapter>;
  readonly #gate: Gate;
  readonly #now: () => number;

  constructor(parts: ContractParts, gate: Gate, now: () => number = Date.now) {
    this.parts = parts;
    this.name = parts.name;
    this.terms = { ...usualTerms, ...parts.terms };
    this.#adapters = new Map(parts.adapters.map((adapter) => [adapter.operation, adapter]));
    this.#gate = gate;
    this.#now = now;
  }

  /** Some publishers say in each answer how often they may be asked. */
  #toldEveryMs = 0;

  /** The terms, and what the publisher said since. */
  get termsNow(): Terms {
    return { ...this.terms, everyMs: Math.max(this.terms.everyMs, this.#toldEveryMs) };
  }

  note({ headers }: VendorAnswer): void {
    const most = Number(headers["x-rate-limit-limit"]);
    const [, count = "", unit = ""] = /^(\d+)\s*(s|m|h)$/.exec(headers["x-rate-limit-interval"] ?? "") ?? [];
    const intervalMs = Number(count) * ({ s: 1_000, m: 60_000, h: 3_600_000 }[unit] ?? Number.NaN);
    if (most > 0 && intervalMs > 0) this.#toldEveryMs = Math.min(intervalMs / most, 60_000);
  }

  #toldBalance: number | undefined;

  /** Remembers for all services what the vendor says is left. */
  async noteBalance(amount: number | undefined): Promise<void> {
    if (amount === undefined || amount === this.#toldBalance) return;
    this.#toldBalance = amount;
    await this.#gate.noteBalance(this.name, amount, this.#now());
  }

  /** Asks the vendor what is left, under the contract's limits. Whatever goes wrong leaves what was known. */
  async askBalance(asking: Asking): Promise<void> {
    const ask = this.parts.stated?.ask;
    if (ask === undefined) return;
    const talk = new Conversation(this, this.#gate, "balance", asking, this.#now);
    try {
      const amount = await ask((request) => talk.send(request));
      await talk.end(amount === undefined ? undefined : answered);
      this.#toldBalance = undefined;
      await this.noteBalance(amount);
    } catch {
      await talk.end(undefined);
    }
  }

  get operations(): readonly string[] {
    return [...this.#adapters.keys()];
  }

  adapter(operation: string): Adapter | undefined {
    return this.#adapters.get(operation);
  }

  /** What a request for the operation costs the operator, in fen. */
  costFen(operation: string): number {
    return this.adapter(operation)?.costFen ?? this.terms.costFen;
  }

  /** Throws a `Failure` if there is no answer that can be used. */
  ask<T = Found>(operation: string, params: Params, asking: Asking, read?: Read<T>): Promise<T> {
    return this.#talk(operation, asking, (adapter, send) => adapter.ask(params, send), read);
  }

  /** What the vendor knows of things with these numbers. Throws a `Failure` like `ask`. */
  find<T = Found>(
    operation: string,
    identities: readonly string[],
    asking: Asking,
    read?: Read<T>,
  ): Promise<T> {
    const say = async ({ byNumber }: Adapter, send: Send): Promise<Found> => {
      const numbers = byNumber === undefined ? [] : numbersOf(byNumber.kind, identities);
      if (byNumber === undefined || numbers.length === 0) return { outcome: "records", list: [], total: 0 };
      return byNumber.find(numbers, send);
    };
    return this.#talk(operation, asking, say, read);
  }

  async #talk<T>(
    operation: string,
    asking: Asking,
    say: (adapter: Adapter, send: Send) => Promise<Found>,
    read: Read<T> = (found) => found as T,
  ): Promise<T> {
    const adapter = this.adapter(operation);
    if (adapter === undefined) throw new Error(`${this.name} has no adapter for ${operation}`);
    const talk = new Conversation(this, this.#gate, operation, asking, this.#now);
    try {
      const found = await say(adapter, (request) => talk.send(request));
      const isAnswer = found.outcome !== "wrong" && found.outcome !== "unavailable";
      // Records that do not fit are a failure of the vendor like any other.
      const answer = isAnswer ? read(found) : undefined;
      await talk.end(found);
      if (found.outcome === "wrong") throw this.#failure(operation, "upstream_error", found.why.en, talk);
      if (found.outcome === "unavailable")
        throw this.#failure(operation, "unavailable", found.why.en, talk, found.retryAfterS);
      return answer as T;
    } catch (error) {
      if (error instanceof Failure) {
        // Any other failure is about the question: the vendor has answered.
        await (error.code.startsWith("upstream_") ? talk.end(undefined, error) : talk.end(answered));
        throw error;
      }
      const isLate = talk.isLate && !asking.signal.aborted;
      const failure = isLate
        ? this.#failure(operation, "upstream_timeout", `no answer in ${this.terms.timeLimitMs} ms`, talk)
        : this.#failure(operation, "upstream_error", reasonOf(error), talk);
      await talk.end(undefined, asking.signal.aborted ? undefined : failure);
      throw failure;
    }
  }

  /** The cause goes into the operator's log only. */
  #failure(
    operation: string,
    code: "upstream_error" | "upstream_timeout" | "unavailable",
    why: string,
    talk: Conversation,
    retryAfterS = 30,
  ): Failure {
    const details = { operation, ...(code === "unavailable" && { retry_after: retryAfterS }) };
    return new Failure(code, details, new Error(masked(why, [...this.parts.secrets, ...talk.secrets])));
  }
}

/** The requests for one answer. Each enters the gate; the last one leaves with the verdict on what was read. */
class Conversation {
  readonly secrets: string[] = [];
  isLate = false;
  readonly #contract: Contract;
  readonly #gate: Gate;
  readonly #operation: string;
  readonly #asking: Asking;
  readonly #now: () => number;
  #open:
    | {
        readonly id: string;
        readonly startedMs: number;
        status: number | null;
        isFree: boolean;
        isUnanswered: boolean;
      }
    | undefined;

  constructor(contract: Contract, gate: Gate, operation: string, asking: Asking, now: () => number) {
    this.#contract = contract;
    this.#gate = gate;
    this.#operation = operation;
    this.#asking = asking;
    this.#now = now;
  }

  async send(request: VendorRequest): Promise<VendorAnswer> {
    await this.#leave({ outcome: "answered", isStep: true });
    this.secrets.push(...(request.secrets ?? []));
    const { timeLimitMs } = this.#contract.terms;
    const { signal } = this.#asking;
    const id = await this.#enter(request);
    this.#open = {
      ...{ id, startedMs: this.#now(), status: null },
      ...{ isFree: request.isFree === true, isUnanswered: false },
    };
    const limit = AbortSignal.timeout(timeLimitMs);
    try {
      const answer = await exchange(request, AbortSignal.any([signal, limit]));
      this.#open.status = answer.status;
      this.#contract.note(answer);
      const { stated } = this.#contract.parts;
      if (stated !== undefined && stated.ask === undefined)
        await this.#contract.noteBalance(stated.read(answer)).catch(() => {});
      return answer;
    } catch (error) {
      this.isLate = limit.aborted;
      this.#open.isUnanswered = wasSent(error);
      throw error;
    }
  }

  /** Ends the request that is still open. Only a failure of the vendor counts against it. */
  async end(found: Found | undefined, failure?: Failure): Promise<void> {
    await this.#leave(this.#verdict(found, failure));
  }

  #verdict(found: Found | undefined, failure: Failure | undefined): Verdict {
    if (found === undefined) {
      if (failure === undefined) return { outcome: "left" };
      const why = (failure.cause as Error | undefined)?.message ?? "unknown";
      return { outcome: "failed", failure: this.#hide(why) };
    }
    if (found.outcome === "wrong" && found.isBlameless === true) return { outcome: "answered" };
    if (found.outcome === "wrong") return { outcome: "failed", failure: this.#hide(found.why.en) };
    if (found.outcome !== "unavailable") return { outcome: "answered" };
    if (found.reason === "not_yet") return { outcome: "answered" };
    const why = this.#hide(found.why.en);
    const pauseMs = (found.retryAfterS ?? 0) * 1000;
    if (found.reason === "limited") return { outcome: "left", pause: { ms: Math.max(pauseMs, 1000), why } };
    if (found.reason === "out_of_money")
      return {
        outcome: "failed",
        failure: why,
        pause: { ms: Math.max(pauseMs, OUT_OF_MONEY_MS), why, isOutOfMoney: true },
      };
    return { outcome: "failed", failure: why, ...(pauseMs > 0 && { pause: { ms: pauseMs, why } }) };
  }

  #hide(text: string): string {
    return masked(text, [...this.#contract.parts.secrets, ...this.secrets]);
  }

  /** Waits for the turn of the request, within the patience of the caller. Gives the ID of the request. */
  async #enter(request: VendorRequest): Promise<string> {
    const { name, termsNow: terms } = this.#contract;
    const { signal, patienceMs, requestId = null, paid } = this.#asking;
    const operation = this.#operation;
    const id = randomUUID();
    const costFen = request.isFree === true ? 0 : this.#contract.costFen(operation);
    const leaseMs = terms.timeLimitMs + LEASE_BEYOND_LIMIT_MS;
    const call = { id, contract: name, operation, requestId, terms, leaseMs, costFen };
    const until = performance.now() + patienceMs;
    const enter = () => {
      const leftMs = Math.max(0, until - performance.now());
      return this.#gate.enter({ ...call, nowMs: this.#now(), patienceMs: leftMs });
    };
    let entered = await enter();
    // A place becomes free when another request ends, which nobody can tell before.
    while (entered.refused === "full" && performance.now() + FULL_WAIT_MS < until) {
      await sleep(FULL_WAIT_MS, undefined, { signal });
      entered = await enter();
    }
    if (entered.refused !== null) throw this.#refusal(entered);
    try {
      if (entered.waitMs > 0) await sleep(entered.waitMs, undefined, { signal });
      paid?.(costFen);
      return id;
    } catch (error) {
      await this.#gate.leave(id, name, this.#now(), { outcome: "left" }).catch(() => {});
      throw error;
    }
  }

  #refusal({ refused, waitMs, why }: { refused: string; waitMs: number; why: string | null }): Failure {
    const causes: Readonly<Record<string, string>> = {
      full: "too many calls at once",
      rate: "too many calls",
      day: "the calls of this day are used up",
      paused: `paused by the vendor: ${why ?? "unknown"}`,
      open: `paused after repeated failures; the last one: ${why ?? "unknown"}`,
    };
    const retry_after = Math.max(1, Math.ceil(waitMs / 1000));
    return new Failure(
      "unavailable",
      { operation: this.#operation, retry_after },
      new Error(causes[refused]),
    );
  }

  async #leave(verdict: Verdict): Promise<void> {
    const open = this.#open;
    if (open === undefined) return;
    this.#open = undefined;
    const now = this.#now();
    const { status, isUnanswered } = open;
    const answered = { status, isUnanswered, ms: now - open.startedMs };
    // If it cannot be written, the lease ends the request.
    await this.#gate.leave(open.id, this.#contract.name, now, { ...answered, ...verdict }).catch(() => {});
  }
}

/** The numbers of a kind among terms. A text that could end a filter is left out. */
function numbersOf(kind: string, identities: readonly string[]): string[] {
  return identities
    .filter((each) => each.startsWith(kind))
    .map((each) => each.slice(kind.length))
    .filter((number) => /^[^\s,|"()]{1,200}$/.test(number))
    .slice(0, MOST_AT_ONCE);
}

/** No publisher is asked about more things in one request. */
const MOST_AT_ONCE = 50;
