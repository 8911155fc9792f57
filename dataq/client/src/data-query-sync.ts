/// <reference lib="esnext.disposable" preserve="true" />
import type { Balance, Estimate } from "./account.ts";
import type { RawResponse } from "./answer.ts";
import type { Step, Steps } from "./call.ts";
import { ClientSteps, type UsageQuery, type UsageReport } from "./client-steps.ts";
import { type Clock, systemClock } from "./clock.ts";
import type { HttpRequest, Limits, Outcome } from "./exchange.ts";
import { SyncOperations } from "./methods.ts";
import type { OperationName } from "./operations.ts";
import type { ClientOptions } from "./options.ts";
import { type PageCursor, type PageOptions, type PageState, readLimit } from "./pages.ts";
import type { CallOptions, ManyOptions, ManyQuery, QueryOptions } from "./request.ts";
import type { ManyResult, ParamsOf, RecordOf, Result } from "./result.ts";
import { readSettings, requireObject, wrong } from "./settings.ts";
import { Channel, sleep, threads } from "./sync/channel.ts";

/** Time and randomness, which tests replace. */
export interface SyncClock extends Clock {
  sleep(delayMs: number): void;
}

export interface SyncParts extends SyncClock {
  /** Sends a request and waits for its answer. Several clients can share one. */
  readonly channel: {
    exchange(request: HttpRequest, limits: Limits): Outcome;
    close(): void;
  };
}

/**
 * The synchronous client. It has the same methods, which return their answers directly. The calling thread
 * sleeps during a call, so a server in the same thread could never answer.
 */
export class DataQuerySync extends SyncOperations {
  readonly #steps: ClientSteps;
  readonly #clock: SyncClock;
  readonly #channel: SyncParts["channel"];

  constructor(options: ClientOptions = {}, parts: Partial<SyncParts> = {}) {
    super();
    requireObject(options);
    threads();
    refuseFunctions(options);
    const { channel = new Channel(), ...clock } = { ...systemClock, sleep, ...parts };
    this.#channel = channel;
    this.#clock = clock;
    this.#steps = new ClientSteps(readSettings(options), clock);
    // Ends the thread of a client that was garbage-collected.
    forgotten.register(this, this.#channel, this);
  }

  /** Calls an operation by its name. */
  query<Name extends OperationName>(
    operation: Name,
    params: ParamsOf<Name>,
    options: QueryOptions = {},
  ): Result<Name> {
    return this.#run(this.#steps.query(operation, params, refuseSignal(options)));
  }

  /** Like `query`, but returns the raw response: status, headers and body text. Errors are still thrown. */
  queryRaw<Name extends OperationName>(
    operation: Name,
    params: ParamsOf<Name>,
    options: QueryOptions = {},
  ): RawResponse {
    return this.#run(this.#steps.queryRaw(operation, params, refuseSignal(options)));
  }

  /**
   * Up to 20 queries in one call. A query that fails costs nothing and does not affect the others: its place in
   * `results` has the error.
   */
  queryMany<const Queries extends readonly ManyQuery[]>(
    queries: Queries,
    options: ManyOptions = {},
  ): ManyResult<Queries> {
    return this.#run(this.#steps.many(queries, refuseSignal(options)));
  }

  /** The pages of a search. Each page is requested when you reach it. */
  paginate<Name extends OperationName>(
    operation: Name,
    params: ParamsOf<Name>,
    options: PageOptions = {},
  ): SyncPages<Name> {
    const cursor = this.#steps.pages(operation, params, refuseSignal(options));
    return new SyncPages(cursor, (steps) => this.#run(steps));
  }

  /** The price of a query now. Free. */
  estimate<Name extends OperationName>(
    operation: Name,
    params: ParamsOf<Name>,
    options: QueryOptions = {},
  ): Estimate {
    return this.#run(this.#steps.estimate(operation, params, refuseSignal(options)));
  }

  /** The account's balance. Free. */
  balance(options: CallOptions = {}): Balance {
    return this.#run(this.#steps.balance(refuseSignal(options)));
  }

  /** Calls and tokens by day, operation and key. Free. */
  usage(query: UsageQuery = {}, options: CallOptions = {}): UsageReport {
    return this.#run(this.#steps.usage(query, refuseSignal(options)));
  }

  /** Ends the client's thread. Optional: the thread does not keep the process alive. */
  close(): void {
    forgotten.unregister(this);
    this.#channel.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #run<Value>(steps: Steps<Value>): Value {
    let step = steps.next();
    while (!step.done) step = steps.next(this.#perform(step.value));
    return step.value;
  }

  #perform(step: Step): Outcome | undefined {
    if (step.kind === "send") {
      const { maxBytes } = this.#steps.settings;
      return this.#channel.exchange(step.request, { timeoutMs: step.timeoutMs, maxBytes });
    }
    this.#clock.sleep(step.delayMs);
    return undefined;
  }
}

const forgotten = new FinalizationRegistry<SyncParts["channel"]>((channel) => channel.close());

type Run = <Value>(steps: Steps<Value>) => Value;

/** The pages of a search. After leaving a loop you can continue, here or with `state()` in another process. */
export class SyncPages<Name extends OperationName> implements Iterable<Result<Name>> {
  readonly #cursor: PageCursor<Name>;
  readonly #run: Run;

  constructor(cursor: PageCursor<Name>, run: Run) {
    this.#cursor = cursor;
    this.#run = run;
  }

  *[Symbol.iterator](): Generator<Result<Name>, void, undefined> {
    for (;;) {
      const page = this.#run(this.#cursor.nextPage());
      if (page === undefined) return;
      yield page;
    }
  }

  /** The records of all pages, one by one. */
  *items(): Generator<RecordOf<Name>, void, undefined> {
    for (;;) {
      const items = this.#run(this.#cursor.nextItems());
      if (items === undefined) return;
      for (const item of items) {
        this.#cursor.gaveItem();
        yield item;
      }
    }
  }

  /** The next records, at most `limit`. */
  toArray(options: { readonly limit: number }): RecordOf<Name>[] {
    const limit = readLimit(options);
    const taken: RecordOf<Name>[] = [];
    if (limit === 0) return taken;
    for (const item of this.items()) if (taken.push(item) >= limit) break;
    return taken;
  }

  /** The current position, as plain data for `resume`. */
  state(): PageState {
    return this.#cursor.state();
  }
}

function refuseFunctions(options: object): void {
  const names = ["fetch", "fetchOptions", "onRequest", "onResponse", "onRetry", "signal"];
  const found = names.find((name) => Object(options)[name] !== undefined);
  if (found !== undefined) throw wrong(found, "works only with the asynchronous client, DataQuery");
}

function refuseSignal<Options extends object>(options: Options): Options {
  if ((options as { signal?: unknown }).signal === undefined) return options;
  throw wrong("signal", "works only with the asynchronous client, DataQuery; use timeout or totalTimeout");
}
