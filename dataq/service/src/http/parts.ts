import type { Logger } from "pino";
import type { Keys } from "../accounts/key.ts";
import type { Database } from "../database/database.ts";
import type { Limiter } from "../limits/limiter.ts";
import type { Maintenance } from "../maintenance/maintenance.ts";
import type { People } from "../people/people.ts";
import type { TermsGate } from "../people/terms.ts";
import type { PipelineParts } from "../query/parts.ts";
import type { RequestLog } from "../query/request-log.ts";
import type { Exports } from "./exports.ts";
import type { Metrics } from "./metrics.ts";

/** What the routes work with. Each route takes what it needs. */
export interface HttpParts {
  readonly database: Database;
  readonly keys: Keys;
  readonly people: People;
  readonly pipeline: PipelineParts;
  readonly requestLog: RequestLog;
  readonly limiter: Limiter;
  readonly maintenance: Maintenance;
  readonly terms: TermsGate;
  readonly exports: Exports;
  /** DATAQ_FOUR_EYES: larger sums need a second person; any sum passes if undefined. */
  readonly fourEyesFen: number | undefined;
  readonly metrics: Metrics;
  readonly clock: () => Date;
  readonly logger: Logger;
}
