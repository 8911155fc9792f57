import type { Database } from "../database/database.ts";
import type { RunStatement } from "../ledger/gather.ts";
import type { Instance } from "../ledger/instance.ts";
import type { PriceList } from "../ledger/price.ts";
import type { Sources } from "../sources/source.ts";
import type { AnswerCache } from "./answer-cache.ts";
import type { Failpoint } from "./failpoint.ts";
import type { Flights } from "./flights.ts";

/** What a call is answered with. */
export interface PipelineParts {
  readonly database: Database;
  readonly sources: Sources;
  readonly prices: PriceList;
  readonly cache: AnswerCache;
  readonly flights: Flights;
  readonly instance: Instance;
  /** Sends the ledger's statements, together where several wait. */
  readonly run: RunStatement;
  /** DATAQ_CHARGE_EMPTY */
  readonly chargeEmpty: boolean;
  /** A source gets this long. */
  readonly sourceLimitMs: number;
  readonly clock: () => Date;
  /** Told when the cache could not be written: the call is answered all the same. */
  readonly onUnkept: (error: Error) => void;
  /** Tests stop the process here; see config.ts. */
  readonly failpoint: (name: Failpoint) => void;
}
