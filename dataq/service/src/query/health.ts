import type { HealthState } from "@dataq/contract/wire";
import type { Queries } from "../database/database.ts";
import { makeIdentifier } from "../database/identifier.ts";

/** How the calls of an operation fared. */
export interface Health {
  readonly state: HealthState;
  /** Percent of the calls of the last 24 hours that did not fail on our side or a source's; null below 20 calls. */
  readonly answered: number | null;
}

const FRESH_MS = 30_000;
const HOUR_MS = 3_600_000;
/** Lines of the log that a look reads at most: a page that everybody can ask for must stay cheap. */
const MOST_LINES = 200_000;
/** Fewer calls say nothing in percent. */
const FEWEST_CALLS = 20;

const quiet: Health = { state: "quiet", answered: null };

/** How calls of live keys fare, by operation, at most half a minute old. */
export class CallHealth {
  readonly #reads: Queries;
  readonly #clock: () => Date;
  #found: Promise<ReadonlyMap<string, Health>> | undefined;
  #askedAtMs = Number.NEGATIVE_INFINITY;

  constructor(reads: Queries, clock: () => Date) {
    this.#reads = reads;
    this.#clock = clock;
  }

  async of(operation: string): Promise<Health> {
    const now = this.#clock();
    if (this.#found === undefined || Math.abs(now.getTime() - this.#askedAtMs) > FRESH_MS) {
      this.#askedAtMs = now.getTime();
      this.#found = this.#read(now);
      this.#found.catch(() => {
        this.#found = undefined;
      });
    }
    return (await this.#found).get(operation) ?? quiet;
  }

  async #read(now: Date): Promise<ReadonlyMap<string, Health>> {
    // IDs sort by time, so the lines of a day are a range of the primary key.
    const since = (ms: number) => makeIdentifier("req", new Date(now.getTime() - ms));
    const found = await this.#reads.query<Counts>(
      `select operation, count(*)::int as calls, count(*) filter (where failed)::int as failed,
              count(*) filter (where id >= $2)::int as lately, count(*) filter (where failed and id >= $2)::int as failed_lately
       from (select id, operation, status >= 500 and status <> 501 as failed from request
             where id >= $1 and id like 'req\\_%' and mode = 'live' and operation is not null
               and (code is null or code not in ('maintenance', 'preparing'))
             order by id desc limit ${MOST_LINES}) line
       group by operation`,
      [since(24 * HOUR_MS), since(HOUR_MS)],
    );
    return new Map(found.rows.map((row) => [row.operation, healthOf(row)]));
  }
}

interface Counts {
  readonly operation: string;
  readonly calls: number;
  readonly failed: number;
  readonly lately: number;
  readonly failed_lately: number;
}

function healthOf({ calls, failed, lately, failed_lately }: Counts): Health {
  const answered = calls < FEWEST_CALLS ? null : Math.floor((1000 * (calls - failed)) / calls) / 10;
  return { state: stateOf(lately, failed_lately), answered };
}

/** A single failure is no disturbance, unless it is all there was. */
function stateOf(calls: number, failed: number): HealthState {
  if (calls === 0) return "quiet";
  if (failed * 2 > calls) return failed > 1 ? "down" : "disturbed";
  return failed > 1 && failed * 20 > calls ? "disturbed" : "working";
}
