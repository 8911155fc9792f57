import type { Database } from "../database/database.ts";
import type { RunStatement } from "../ledger/gather.ts";
import type { Instance } from "../ledger/instance.ts";
import type { PriceList } from "../ledger/price.ts";
import type { Terms } from "../ledger/terms.ts";
import type { Sources } from "../sources/source.ts";
import type { AnswerCache } from "./answer-cache.ts";
import type { Failpoint } from "./failpoint.ts";
import type { Flights } from "./flights.ts";

/** What the pipeline needs to answer a call. */
export interface PipelineParts {
  readonly database: Database;
  readonly sources: Sources;
  readonly prices: PriceList;
  /** What each account pays. */
  readonly terms: Terms;
  readonly cache: AnswerCache;
  readonly flights: Flights;
  readonly instance: Instance;
  /** Runs the ledger's statements, and combines those that wait. */
  readonly run: RunStatement;
  /** DATAQ_CHARGE_EMPTY */
  readonly chargeEmpty: boolean;
  /** Time limit of a source. */
  readonly sourceLimitMs: number;
  readonly clock: () => Date;
  /** Called if the cache could not be written. The call is still answered. */
  readonly onUnkept: (error: Error) => void;
  /** For crash tests: stops the process here; see config.ts. */
  readonly failpoint: (name: Failpoint) => void;
}
