import type { Store } from "../library/store.ts";
import type { ProgressLine } from "../wire/api/library.ts";
import type { Credentials } from "./credentials.ts";
import type { Network } from "./network.ts";
import type { Transfers } from "./transfers.ts";

/** What every source works with. */
export interface PullContext {
  store: Store;
  network: Network;
  transfers: Transfers;
  /** Plain http to any host. */
  insecure: boolean;
  /** Who asks there; null: anybody. Throws `credentials_unusable`. */
  credentialsOf(url: URL): Promise<Credentials | null>;
  /** Throws `registry_not_allowed`. */
  requireAllowed(host: string): void;
  /** Ollama's words where it has some: `pulling manifest`, `pulling 941f309b54ca`, …, `success`. */
  onProgress(line: ProgressLine): void;
  signal: AbortSignal;
}
