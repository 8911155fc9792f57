import type { Logger } from "pino";
import type { SchemaThreads } from "../dialogue/grammar/schema-threads.ts";
import type { Templates } from "../dialogue/template-work.ts";
import type { Store } from "../library/store.ts";
import type { Scheduler } from "../scheduler/lease.ts";
import type { Pulls } from "../sources/pulls.ts";
import type { BodyLimits } from "./body.ts";
import type { DefenceSettings } from "./defences.ts";
import type { Dialogues } from "./dialogues.ts";
import type { Metrics } from "./metrics.ts";

/** What every route works with, joined once in `server.ts`. */
export interface Parts {
  readonly version: string;
  readonly store: Store;
  readonly dialogues: Dialogues;
  readonly templates: Templates;
  readonly schemas: SchemaThreads;
  readonly scheduler: Scheduler;
  readonly pulls: Pulls;
  readonly settings: HttpSettings;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly now: () => Date;
}

interface HttpSettings {
  readonly defences: DefenceSettings;
  readonly bodyLimits: BodyLimits;
  /** How long a model stays loaded where its request does not say. */
  readonly keepAliveMs: number;
  /** `num_ctx` where neither request nor model says. */
  readonly contextLength: number;
  /** What `/api/generate` does with a plain prompt. */
  readonly generate: "raw" | "template";
  /** Where the names of control tokens are read as these tokens: in templates, or in texts of clients, too. */
  readonly specialTokens: "template" | "everywhere";
  /** What `/` adds to its line: why there is no model yet. Null: nothing. */
  readonly notice: () => string | null;
}
