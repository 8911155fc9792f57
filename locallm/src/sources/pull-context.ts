import type { Store } from "../library/store.ts";
import type { ProgressLine } from "../wire/api/library.ts";
import type { Credentials } from "./credentials.ts";
import type { Network } from "./network.ts";
import type { Transfers } from "./transfers.ts";

/** What every source needs for a pull. */
export interface PullContext {
  store: Store;
  network: Network;
  transfers: Transfers;
  /** Allow unencrypted HTTP to any host. */
  insecure: boolean;
  /** Null means anonymous. Throws `credentials_unusable`. */
  credentialsOf(url: URL): Promise<Credentials | null>;
  /** Throws `registry_not_allowed`. */
  requireAllowed(host: string): void;
  /** Throws `remote_not_allowed` if a remote model may not name the host of this URL. */
  requireRemote(url: string): Promise<void>;
  /** Uses Ollama's status texts where they exist: `pulling manifest`, `pulling 941f309b54ca`, …, `success`. */
  onProgress(line: ProgressLine): void;
  signal: AbortSignal;
}
