import type { Logger } from "pino";
import type { ConversationsView } from "../conversations/conversations.ts";
import type { SchemaThreads } from "../dialogue/grammar/schema-threads.ts";
import type { Templates } from "../dialogue/template-work.ts";
import type { Keys } from "../keys/keys.ts";
import type { DerivedWeights } from "../library/derived.ts";
import type { Store } from "../library/store.ts";
import type { RemoteAccess } from "../remotes/remote-access.ts";
import type { Remotes } from "../remotes/remotes.ts";
import type { Scheduler } from "../scheduler/lease.ts";
import type { Pulls } from "../sources/pulls.ts";
import type { RemoteHosts } from "../sources/remote-hosts.ts";
import type { WebPictures } from "../sources/web-pictures.ts";
import type { Vision } from "../vision/vision.ts";
import type { Quantizer } from "../wire/inference/quantize.ts";
import type { BodyLimits } from "./body.ts";
import type { DefenceSettings } from "./defences.ts";
import type { Dialogues } from "./dialogues.ts";
import type { Metrics } from "./metrics.ts";
import type { ResponseStore } from "./openai/response-store.ts";

/** The dependencies of the routes, assembled in `server.ts`. */
export interface Parts {
  readonly version: string;
  readonly store: Store;
  readonly keys: Keys;
  readonly dialogues: Dialogues;
  readonly templates: Templates;
  readonly schemas: SchemaThreads;
  readonly scheduler: Scheduler;
  readonly conversations: { view(): ConversationsView };
  readonly quantizer: Quantizer;
  readonly derived: Pick<DerivedWeights, "pathFor">;
  readonly webPictures: Pick<WebPictures, "fetch">;
  readonly vision: Pick<Vision, "requireVision" | "encode">;
  /** The memory that new processes can take. */
  readonly availableBytes: () => number;
  readonly pulls: Pulls;
  readonly responses: ResponseStore;
  readonly remoteHosts: RemoteHosts;
  readonly remoteAccess: RemoteAccess;
  readonly remotes: Remotes;
  readonly settings: HttpSettings;
  readonly log: Logger;
  /** Logs an ended request. The fields are values of JSON: an error belongs in `log`. */
  readonly writeRequest: (fields: Readonly<Record<string, unknown>>) => void;
  readonly metrics: Metrics;
  readonly now: () => Date;
}

interface HttpSettings {
  readonly defences: DefenceSettings;
  readonly bodyLimits: BodyLimits;
  /** How long a model stays loaded if the request has no `keep_alive`. */
  readonly keepAliveMs: number;
  /**
   * The default `num_ctx` if neither the request nor the model sets it. With `auto`, the window grows with
   * the prompts.
   */
  readonly contextLength: number | "auto";
  /** The version of Ollama's API that `/api/version` tells. */
  readonly ollamaVersion: string;
  /**
   * Whether `/api/generate` uses a plain prompt as is or applies the model's template. `auto`: the template
   * for Ollama's command line, whose `run` relies on it, and for nobody else.
   */
  readonly generate: "auto" | "raw" | "template";
  /** Whether names of control tokens become tokens only in templates, or also in clients' text. */
  readonly specialTokens: "template" | "everywhere";
  /** Text that `/` appends to its status line, such as why there is no model yet. */
  readonly notice: () => string | null;
}
