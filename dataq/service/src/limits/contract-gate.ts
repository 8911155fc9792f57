import type { Entered, Gate, GateRequest, Verdict } from "../connector/gate.ts";
import type { Database } from "../database/database.ts";

/** What every service knows about a contract. */
export interface ContractState {
  /** Requests that were sent, and what they cost, in fen. */
  readonly requests: number;
  readonly costFen: number;
  /** Why the last request failed; null if it did not. */
  readonly lastFailure: string | null;
  /** Until when nothing is sent, and why; null if requests are sent. */
  readonly paused: {
    readonly until: Date;
    readonly why: string | null;
    /** The vendor said that the balance is used up. */
    readonly isOutOfMoney: boolean;
  } | null;
  /** What the vendor itself said is left, and when; null if it never did. */
  readonly stated: { readonly amount: number; readonly at: Date } | null;
}

/** Number of consecutive failures that stop requests, and for how long. */
const FAILURES = 5;
const COOL_DOWN_MS = 30_000;

const CHINA_MS = 8 * 3_600_000;
const DAY_MS = 86_400_000;

/**
 * Keeps the limits of a contract: requests at once, a second and a day, pauses that the vendor asks for, and a circuit
 * breaker: after several consecutive failures nothing is sent, and after a pause one request finds out whether the vendor
 * works again. The state is in the database, so it is exact over all services; it costs one short statement before and
 * one after a request to another company.
 */
export class ContractGate implements Gate {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** A request that may be sent must end with `leave`, or it counts as open for `leaseMs`. */
  async enter(request: GateRequest): Promise<Entered> {
    const { contract, operation, id, requestId, nowMs, terms, leaseMs, patienceMs, costFen } = request;
    const day = Math.floor((nowMs + CHINA_MS) / DAY_MS);
    const found = await this.#database.query<{
      refused: Exclude<Entered["refused"], null> | null;
      wait_ms: number | null;
      why: string | null;
    }>({
      name: "contract-enter",
      text: "select * from enter_contract($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)",
      values: [
        contract,
        operation,
        id,
        requestId,
        nowMs,
        terms.mostAtOnce,
        terms.everyMs,
        terms.mostPerDay,
        new Date(day * DAY_MS).toISOString().slice(0, 10),
        (day + 1) * DAY_MS - CHINA_MS,
        leaseMs,
        COOL_DOWN_MS,
        patienceMs,
        costFen,
      ],
    });
    const { refused, wait_ms, why } = found.rows[0]!;
    const waitMs = wait_ms ?? 0;
    return refused === null ? { refused, waitMs } : { refused, waitMs, why };
  }

  async leave(id: string, contract: string, nowMs: number, verdict: Verdict): Promise<void> {
    const { outcome, failure, pause, isStep, isUnanswered, status = null, ms = null } = verdict;
    await this.#database.query({
      name: "contract-leave",
      text: "select leave_contract($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
      values: [
        contract,
        id,
        nowMs,
        isUnanswered === true ? `${outcome}_unanswered` : outcome,
        storable(failure),
        isStep === true ? null : FAILURES,
        pause?.ms ?? null,
        storable(pause && `${pause.isOutOfMoney === true ? outOfMoney : ""}${pause.why}`),
        status,
        ms === null ? null : Math.round(ms),
      ],
    });
  }

  async noteBalance(contract: string, amount: number, nowMs: number): Promise<void> {
    await this.#database.query(
      `insert into contract_state (contract, stated, stated_at) values ($1, $2, $3)
         on conflict (contract) do update set stated = excluded.stated, stated_at = excluded.stated_at`,
      [contract, amount, nowMs],
    );
  }

  /** Forgets failures and pauses, after somebody has seen that the vendor answers. */
  async clear(contract: string): Promise<void> {
    await this.#database.query(
      `update contract_state set failures = 0, opened_at = null, trial = null, trial_until = null, last_failure = null,
              paused_until = null, paused_why = null
        where contract = $1`,
      [contract],
    );
  }

  /** What is left of what was paid in, in fen; null if the operator has not said. It may be less than nothing. */
  async leftOf(
    contract: string,
    balance: { readonly fen: number; readonly since: Date } | undefined,
  ): Promise<number | null> {
    if (balance === undefined) return null;
    const { rows } = await this.#database.query<{ fen: number }>(
      "select coalesce(sum(cost_fen), 0)::float8 as fen from vendor_request where contract = $1 and sent_at >= $2",
      [contract, balance.since],
    );
    return Math.round((balance.fen - rows[0]!.fen) * 10_000) / 10_000;
  }

  async states(now: Date): Promise<ReadonlyMap<string, ContractState>> {
    const found = await this.#database.query<{
      contract: string;
      requests: number;
      cost_fen: number;
      last_failure: string | null;
      until: Date | null;
      paused_why: string | null;
      stated: number | null;
      stated_at: number | null;
    }>(
      `select contract, coalesce(sent.requests, 0)::int as requests, coalesce(sent.cost_fen, 0)::float8 as cost_fen,
              last_failure, case when paused_until > $1 then to_timestamp(paused_until / 1000) end as until, paused_why,
              stated, stated_at
         from contract_state full join
              (select contract, count(*) as requests, sum(cost_fen) as cost_fen from vendor_request group by contract) sent
              using (contract)`,
      [now.getTime()],
    );
    return new Map(
      found.rows.map((row) => [
        row.contract,
        {
          requests: row.requests,
          costFen: row.cost_fen,
          lastFailure: row.last_failure,
          stated:
            row.stated === null || row.stated_at === null
              ? null
              : { amount: row.stated, at: new Date(row.stated_at) },
          paused: row.until === null ? null : { until: row.until, ...pauseOf(row.paused_why) },
        },
      ]),
    );
  }
}

/** How a pause says that it is for money; the rest of the text is the vendor's. */
const outOfMoney = "out of money: ";

function pauseOf(why: string | null): { readonly why: string | null; readonly isOutOfMoney: boolean } {
  const isOutOfMoney = why?.startsWith(outOfMoney) === true;
  return { why: isOutOfMoney ? why.slice(outOfMoney.length) : why, isOutOfMoney };
}

/** PostgreSQL stores no lone surrogates and no NUL. */
function storable(text: string | undefined): string | null {
  return text?.toWellFormed().replaceAll("\0", "").slice(0, 500) ?? null;
}
