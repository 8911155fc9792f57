import type { Balance, Estimate, UsageGroup, UsageRow } from "./account.ts";
import { parseObject, type RawResponse } from "./answer.ts";
import { call, type Steps } from "./call.ts";
import type { Clock } from "./clock.ts";
import type { HttpRequest } from "./exchange.ts";
import type { OperationName } from "./operations.ts";
import { PageCursor, type PageOptions } from "./pages.ts";
import {
  type CallOptions,
  estimateRequest,
  getRequest,
  type ManyOptions,
  type ManyQuery,
  manyRequest,
  type QueryOptions,
  queryRequest,
} from "./request.ts";
import { type ManyResult, type ParamsOf, type Result, readMany, readResult } from "./result.ts";
import { readRetry, type Settings, wrong } from "./settings.ts";

/** The methods of both clients, as steps that each client runs in its own way. */
export class ClientSteps {
  readonly settings: Settings;
  readonly #clock: Clock;

  constructor(settings: Settings, clock: Clock) {
    this.settings = settings;
    this.#clock = clock;
  }

  *query<Name extends OperationName>(
    operation: Name,
    params: ParamsOf<Name>,
    options: QueryOptions,
  ): Steps<Result<Name>> {
    return readResult<Name>(yield* this.queryRaw(operation, params, options));
  }

  *queryRaw<Name extends OperationName>(
    operation: Name,
    params: ParamsOf<Name>,
    options: QueryOptions,
  ): Steps<RawResponse> {
    return yield* this.#send(queryRequest(this.settings, operation, params, options), options);
  }

  *many<const Queries extends readonly ManyQuery[]>(
    queries: Queries,
    options: ManyOptions,
  ): Steps<ManyResult<Queries>> {
    const response = yield* this.#send(manyRequest(this.settings, queries, options), options);
    return readMany<Queries>(response, this.#clock.now());
  }

  *estimate<Name extends OperationName>(
    operation: Name,
    params: ParamsOf<Name>,
    options: QueryOptions,
  ): Steps<Estimate> {
    const request = estimateRequest(this.settings, operation, params, options);
    return parseObject(yield* this.#send(request, options)) as unknown as Estimate;
  }

  *balance(options: CallOptions): Steps<Balance> {
    const request = getRequest(this.settings, "/v1/balance", {}, options);
    return parseObject(yield* this.#send(request, options)) as unknown as Balance;
  }

  *usage(query: UsageQuery, options: CallOptions): Steps<UsageReport> {
    const { from, to, group_by } = query;
    const unknown = Object.keys(query).find((name) => !["from", "to", "group_by"].includes(name));
    if (unknown !== undefined) throw wrong(unknown, "is not an option of usage; use from, to or group_by");
    const search = { from, to, group_by: group_by === undefined ? undefined : String(group_by) };
    const request = getRequest(this.settings, "/v1/usage", search, options);
    return parseObject(yield* this.#send(request, options)) as unknown as UsageReport;
  }

  pages<Name extends OperationName>(
    operation: Name,
    params: ParamsOf<Name>,
    options: PageOptions,
  ): PageCursor<Name> {
    return new PageCursor(this.settings, this.#clock, operation, params, options);
  }

  #send(request: HttpRequest, options: CallOptions): Steps<RawResponse> {
    return call(this.settings, readRetry(options, this.settings.retry), this.#clock, request);
  }
}

export interface UsageQuery {
  /** First day, YYYY-MM-DD, China time. */
  readonly from?: string;
  /** Last day, YYYY-MM-DD, China time. */
  readonly to?: string;
  readonly group_by?: readonly UsageGroup[];
}

export interface UsageReport {
  readonly data: readonly UsageRow[];
}
