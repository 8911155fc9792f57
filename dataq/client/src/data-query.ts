import type { Balance, Estimate } from "./account.ts";
import { type RawResponse, requestIdOf } from "./answer.ts";
import { redact, type Step, type Steps } from "./call.ts";
import { ClientSteps, type UsageQuery, type UsageReport } from "./client-steps.ts";
import { type Clock, systemClock } from "./clock.ts";
import { AbortError } from "./errors.ts";
import { exchange, type Outcome } from "./exchange.ts";
import { AsyncOperations } from "./methods.ts";
import type { OperationName } from "./operations.ts";
import type { AsyncOnlyOptions, ClientOptions } from "./options.ts";
import { type PageCursor, type PageOptions, type PageState, readLimit } from "./pages.ts";
import type { AsyncCallOptions, AsyncManyOptions, AsyncQueryOptions, ManyQuery } from "./request.ts";
import type { ManyResult, ParamsOf, RecordOf, Result } from "./result.ts";
import { readSettings, requireObject } from "./settings.ts";

export type DataQueryOptions = ClientOptions & AsyncOnlyOptions;

/** Time and randomness, which tests replace. */
export interface AsyncClock extends Clock {
  /** Resolves after the delay, or as soon as the signal is aborted. */
  sleep(delayMs: number, signal: AbortSignal | undefined): Promise<void>;
}

/** The asynchronous client. Every operation is a method of the same name. */
export class DataQuery extends AsyncOperations {
  readonly #steps: ClientSteps;
  readonly #own: AsyncOnlyOptions;
  readonly #clock: AsyncClock;

  constructor(options: DataQueryOptions = {}, clock: Partial<AsyncClock> = {}) {
    super();
    requireObject(options);
    const { fetch, fetchOptions, onRequest, onResponse, onRetry, ...rest } = options;
    this.#own = { fetch, fetchOptions, onRequest, onResponse, onRetry };
    this.#clock = { ...systemClock, sleep, ...clock };
    this.#steps = new ClientSteps(readSettings(rest), this.#clock);
  }

  /** Calls an operation by its name. */
  query<Name extends OperationName>(
    operation: Name,
    params: ParamsOf<Name>,
    { signal, ...options }: AsyncQueryOptions = {},
  ): Promise<Result<Name>> {
    return this.#run(this.#steps.query(operation, params, options), signal);
  }

  /** Like `query`, but returns the raw response: status, headers and body text. Errors are still thrown. */
  queryRaw<Name extends OperationName>(
    operation: Name,
    params: ParamsOf<Name>,
    { signal, ...options }: AsyncQueryOptions = {},
  ): Promise<RawResponse> {
    return this.#run(this.#steps.queryRaw(operation, params, options), signal);
  }

  /**
   * Up to 20 queries in one call. A query that fails costs nothing and does not affect the others: its place in
   * `results` has the error.
   */
  queryMany<const Queries extends readonly ManyQuery[]>(
    queries: Queries,
    { signal, ...options }: AsyncManyOptions = {},
  ): Promise<ManyResult<Queries>> {
    return this.#run(this.#steps.many(queries, options), signal);
  }

  /** The pages of a search. Each page is requested when you reach it. */
  paginate<Name extends OperationName>(
    operation: Name,
    params: ParamsOf<Name>,
    { signal, ...options }: PageOptions & AsyncCallOptions = {},
  ): AsyncPages<Name> {
    const cursor = this.#steps.pages(operation, params, options);
    return new AsyncPages(cursor, (steps) => this.#run(steps, signal));
  }

  /** The price of a query now. Free. */
  estimate<Name extends OperationName>(
    operation: Name,
    params: ParamsOf<Name>,
    { signal, ...options }: AsyncQueryOptions = {},
  ): Promise<Estimate> {
    return this.#run(this.#steps.estimate(operation, params, options), signal);
  }

  /** The account's balance. Free. */
  balance({ signal, ...options }: AsyncCallOptions = {}): Promise<Balance> {
    return this.#run(this.#steps.balance(options), signal);
  }

  /** Calls and tokens by day, operation and key. Free. */
  usage(query: UsageQuery = {}, { signal, ...options }: AsyncCallOptions = {}): Promise<UsageReport> {
    return this.#run(this.#steps.usage(query, options), signal);
  }

  async #run<Value>(steps: Steps<Value>, signal: AbortSignal | undefined): Promise<Value> {
    let step = steps.next();
    while (!step.done) step = steps.next(await this.#perform(step.value, signal));
    return step.value;
  }

  async #perform(step: Step, signal: AbortSignal | undefined): Promise<Outcome | undefined> {
    const { fetch = globalThis.fetch, fetchOptions, onRequest, onResponse, onRetry } = this.#own;
    if (step.kind === "wait") {
      const { delayMs, retry } = step;
      if (retry !== undefined) onRetry?.({ ...retry, delayMs });
      await this.#clock.sleep(delayMs, signal);
      if (signal?.aborted)
        throw new AbortError("The call was aborted.", { code: "aborted", cause: signal.reason });
      return undefined;
    }
    const { request, attempt, timeoutMs } = step;
    const { apiKey, maxBytes } = this.#steps.settings;
    const { authorization: _key, ...headers } = request.headers;
    onRequest?.({ ...request, headers, attempt });
    const outcome = await exchange(fetch, request, { timeoutMs, maxBytes, signal, init: fetchOptions });
    if (outcome.kind === "reply" && onResponse !== undefined) {
      const seen = new Headers(outcome.headers.map(([name, value]) => [name, redact(value, apiKey)]));
      onResponse({
        attempt,
        url: request.url,
        status: outcome.status,
        headers: seen,
        requestId: requestIdOf(seen),
      });
    }
    return outcome;
  }
}

type Run = <Value>(steps: Steps<Value>) => Promise<Value>;

/** The pages of a search. After leaving a loop you can continue, here or with `state()` in another process. */
export class AsyncPages<Name extends OperationName> implements AsyncIterable<Result<Name>> {
  readonly #cursor: PageCursor<Name>;
  readonly #run: Run;

  constructor(cursor: PageCursor<Name>, run: Run) {
    this.#cursor = cursor;
    this.#run = run;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Result<Name>, void, undefined> {
    for (;;) {
      const page = await this.#run(this.#cursor.nextPage());
      if (page === undefined) return;
      yield page;
    }
  }

  /** The records of all pages, one by one. */
  async *items(): AsyncGenerator<RecordOf<Name>, void, undefined> {
    for (;;) {
      const items = await this.#run(this.#cursor.nextItems());
      if (items === undefined) return;
      for (const item of items) {
        this.#cursor.gaveItem();
        yield item;
      }
    }
  }

  /** The next records, at most `limit`. */
  async toArray(options: { readonly limit: number }): Promise<RecordOf<Name>[]> {
    const limit = readLimit(options);
    const taken: RecordOf<Name>[] = [];
    if (limit === 0) return taken;
    for await (const item of this.items()) if (taken.push(item) >= limit) break;
    return taken;
  }

  /** The current position, as plain data for `resume`. */
  state(): PageState {
    return this.#cursor.state();
  }
}

function sleep(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, delayMs);
    signal?.addEventListener("abort", end, { once: true });
    if (signal?.aborted) end();
  });
}
