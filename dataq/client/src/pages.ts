import { call, type Steps } from "./call.ts";
import type { Clock } from "./clock.ts";
import { BudgetExceededError, isDataQueryError } from "./errors.ts";
import type { OperationName, Usage } from "./operations.ts";
import { pauseMs } from "./rate.ts";
import { type QueryOptions, queryRequest } from "./request.ts";
import { type ParamsOf, type RecordOf, type Result, readResult } from "./result.ts";
import { numberFrom, readRetry, type Settings, wholeFrom, wrong } from "./settings.ts";

export interface PageOptions extends Omit<QueryOptions, "idempotencyKey" | "requestId"> {
  /** First page to fetch. Default 1. */
  readonly startPage?: number;
  /** Maximum number of pages to fetch. */
  readonly maxPages?: number;
  /** Maximum number of records from `items()`. No unneeded page is fetched. */
  readonly maxItems?: number;
  /** Token budget for all pages together. A page that would exceed it is rejected, free of charge. */
  readonly maxTokens?: number;
  /** The `state()` of an earlier run. It can be stored as JSON. */
  readonly resume?: PageState;
}

/** A position between two records of a search, as plain data. */
export interface PageState {
  readonly operation: string;
  readonly params: object;
  /** The page to fetch next. */
  readonly page: number;
  /** How many records of that page were already returned. */
  readonly offset: number;
  /** The snapshot of the index that all pages come from. */
  readonly snapshot?: string;
  readonly done: boolean;
}

/** The position in the pages of a search. Both clients run the steps that it returns. */
export class PageCursor<Name extends OperationName> {
  readonly #settings: Settings;
  readonly #clock: Clock;
  readonly #operation: Name;
  readonly #params: ParamsOf<Name>;
  readonly #options: PageOptions;
  readonly #call: QueryOptions;
  #state: PageState;
  /** The page whose records are being returned. */
  #current: Result<Name> | undefined;
  #pauseUntil = 0;
  #pages = 0;
  #items = 0;
  #spent = 0;

  constructor(
    settings: Settings,
    clock: Clock,
    operation: Name,
    params: ParamsOf<Name>,
    options: PageOptions,
  ) {
    const { startPage, maxPages, maxItems, maxTokens, resume, snapshot, ...rest } = options;
    numberFrom(maxTokens, "maxTokens", 0, 0, Number.MAX_SAFE_INTEGER);
    wholeFrom(maxPages, "maxPages", 1, 1, Number.MAX_SAFE_INTEGER);
    wholeFrom(maxItems, "maxItems", 1, 1, Number.MAX_SAFE_INTEGER);
    if ("idempotencyKey" in rest)
      throw wrong("idempotencyKey", "cannot be set for paginate; each page has its own");
    // Reports invalid options now, not at the first page.
    queryRequest(settings, operation, params, rest);
    readRetry(rest, settings.retry);
    this.#settings = settings;
    this.#clock = clock;
    this.#operation = operation;
    this.#params = params;
    this.#options = options;
    this.#call = rest;
    this.#state =
      resume === undefined
        ? firstState(operation, params, startPage, snapshot)
        : checkedState(resume, operation, params);
  }

  state(): PageState {
    return this.#state;
  }

  /** The next page, or undefined after the last. */
  *nextPage(): Steps<Result<Name> | undefined> {
    const page = this.#current ?? (yield* this.#fetch());
    if (page !== undefined) this.#turn(page);
    return page;
  }

  /** The records of the next page that were not returned yet, or undefined after the last. */
  *nextItems(): Steps<RecordOf<Name>[] | undefined> {
    const { maxItems = Number.POSITIVE_INFINITY } = this.#options;
    if (this.#items >= maxItems) return undefined;
    const page = this.#current ?? (yield* this.#fetch());
    if (page === undefined) return undefined;
    this.#current = page;
    const { offset } = this.#state;
    const items = recordsOf(page);
    if (items.length <= offset) this.#turn(page);
    return items.slice(offset, offset + maxItems - this.#items);
  }

  /** Moves the position past one more record. */
  gaveItem(): void {
    this.#items++;
    const offset = this.#state.offset + 1;
    this.#state = { ...this.#state, offset };
    if (this.#current !== undefined && offset >= recordsOf(this.#current).length) this.#turn(this.#current);
  }

  *#fetch(): Steps<Result<Name> | undefined> {
    const { maxPages = Number.POSITIVE_INFINITY, maxTokens } = this.#options;
    if (this.#state.done || this.#pages >= maxPages) return undefined;
    const left = maxTokens === undefined ? undefined : maxTokens - this.#spent;
    if (left !== undefined && left <= 0) throw new BudgetExceededError(this.#spent, maxTokens ?? 0);
    const retry = readRetry(this.#call, this.#settings.retry);
    const pause = this.#pauseUntil - this.#clock.now();
    // If the wait is longer, the request is sent now and the server's error is thrown.
    if (pause > 0 && pause <= retry.maxRetryWaitS * 1_000) yield { kind: "wait", delayMs: pause };

    const options = { ...this.#call, snapshot: this.#state.snapshot, maxTokens: left };
    const params = { ...this.#params, page: this.#state.page };
    try {
      const request = queryRequest(this.#settings, this.#operation, params, options);
      const response = yield* call(this.#settings, retry, this.#clock, request);
      const page = readResult<Name>(response);
      const now = this.#clock.now();
      this.#pauseUntil = now + pauseMs(response.headers, now);
      this.#pages++;
      this.#spent += costOf(page);
      const snapshot = this.#state.snapshot ?? page.index?.snapshot;
      if (snapshot !== undefined) this.#state = { ...this.#state, snapshot };
      return page;
    } catch (error) {
      if (left !== undefined && isDataQueryError(error) && error.code === "price_above_max") {
        throw new BudgetExceededError(this.#spent, maxTokens ?? 0, error);
      }
      throw error;
    }
  }

  /** Moves the position past a page. Uses the latest page count, because the index can shrink. */
  #turn(page: Result<Name>): void {
    const isEmpty = recordsOf(page).length === 0;
    const isLast = !(page.total_pages > this.#state.page);
    this.#state = { ...this.#state, page: this.#state.page + 1, offset: 0, done: isEmpty || isLast };
    this.#current = undefined;
  }
}

/** A replayed answer is free, but the page was charged when the first answer was sent and lost. */
function costOf({ usage }: { readonly usage?: Usage }): number {
  return (usage?.reason === "replayed" ? usage.list_tokens : usage?.tokens) ?? 0;
}

function recordsOf<Name extends OperationName>(page: Result<Name>): RecordOf<Name>[] {
  return (Array.isArray(page.data) ? page.data : [page.data]) as RecordOf<Name>[];
}

function firstState(operation: string, params: object, startPage: unknown, snapshot?: string): PageState {
  const given = startPage ?? (params as { page?: unknown }).page;
  const page = wholeFrom(given, "startPage", 1, 1, Number.MAX_SAFE_INTEGER);
  return { operation, params, page, offset: 0, ...(snapshot === undefined ? {} : { snapshot }), done: false };
}

function checkedState(state: PageState, operation: string, params: object): PageState {
  if (typeof state !== "object" || state === null) throw wrong("resume", "must be a result of state()");
  if (state.operation !== operation || JSON.stringify(state.params) !== JSON.stringify(params)) {
    throw wrong("resume", "is the state of another search; pass the same operation and params");
  }
  wholeFrom(state.page, "resume.page", 1, 1, Number.MAX_SAFE_INTEGER);
  wholeFrom(state.offset, "resume.offset", 0, 0, Number.MAX_SAFE_INTEGER);
  return state;
}

/** Reads the `limit` of `toArray`. Every page costs tokens, so there is no default. */
export function readLimit(options: { readonly limit: number }): number {
  const { limit } = (options ?? {}) as { readonly limit?: unknown };
  if (limit === undefined) throw wrong("limit", "is missing; call toArray({ limit: 100 })");
  if (limit === Number.POSITIVE_INFINITY) return limit;
  return wholeFrom(limit, "limit", 0, 0, Number.MAX_SAFE_INTEGER);
}
